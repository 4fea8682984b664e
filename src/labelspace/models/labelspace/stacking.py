"""Stacking: votes, classifier and nearness made into one probability per candidate label.

With m the margin of the label's classifier, s its share of the votes, c the cosine of row and label
and f the label's frequency, the log-odds are

    a · φ(m, log s, c, f)

where φ has the four and some of their products, and bends m and log s at a few places. What is
frequent is judged by other measures than what is rare: a classifier of two rows is hardly ever
sure, and a vote of one neighbour may be all that there is.

The weights a are learned on rows held out, by logistic regression drawn towards prior weights.
A row has many candidates that nobody would take for its labels; only its best ones, by the prior
weights, are learned from, since only they compete for the top.

Boosted trees then correct the log odds of the most probable candidates (``boosting``). They see
more: how a candidate stands among the others by margin, votes and cosine, how near its nearest
voter is and how many vote for it, how near the row's neighbours are at all, and whether labels
that it goes with are probable, too (``label_partners``). So votes are trusted where neighbours are
near, and classifiers where they are not.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack, vstack
from scipy.special import logit

from labelspace.csr import empty_csr
from labelspace.linear.logistic_regression import PSEUDO_ROWS, logistic_regression
from labelspace.models.labelspace import _stacking_kernels as kernels
from labelspace.models.labelspace import scratch
from labelspace.models.labelspace._boosting_kernels import N_FEATURES
from labelspace.models.labelspace._name_kernels import WHOLE, trust
from labelspace.models.labelspace.boosting import BoostedTrees, grow_trees
from labelspace.models.labelspace.candidates import Candidates
from labelspace.models.labelspace.vector_space import N_NAMED, NAME
from labelspace.store import Storable, schema
from labelspace.topk import TopK

# What held-out rows of corpora of many kinds agree on; the start of learning, and all that there
# is where rows are too few to hold some out.
PRIOR = {0: 1.2, 1: 2.7, 2: 0.75, 20: 2.5}
COMPETING = 40  # candidates of a row that are learned from
HIDDEN = 4  # one label in so many, of the rarest, is learned from as if it had no rows
ENOUGH = 50  # labels that have no rows but these, from which on there is no need for that
UNSEEN = (-1.0, 0.0, 0.0, 0.0, 0.0)  # margin, votes and nearness of a label without rows
SHORT = 30  # candidates of a row that trees look at
ALONE = empty_csr(0, 0)  # partners of labels where nothing is known of any


class Stacker(Storable):
    """Gives candidates their probability.

    Parameters
    ----------
    weights : ndarray of shape (N_TERMS,), optional
        The weights a; the prior ones unless given.
    trees : BoostedTrees, optional
        What corrects the log odds of the most probable candidates; nothing unless given.

    Examples
    --------
    >>> import numpy as np
    >>> margins, shares, cosines = np.float32([[[1, -1]], [[0.9, 0.1]], [[0.9, 0.2]]])
    >>> names, vectors = np.zeros((1, 2, 5), np.float32), np.zeros((1, 2, 0), np.float32)
    >>> known = cosines, shares, names, vectors, np.zeros((1, 4), np.float32)
    >>> candidates = Candidates(np.array([[3, 7]]), margins, shares, cosines, *known)
    >>> Stacker().probabilities(candidates, np.array([9] * 8)).round(2)
    array([[0.98, 0.04]], dtype=float32)
    """

    _schema: ClassVar[schema.Schema] = {
        "weights": schema.either(
            schema.array("float64", kernels.N_TERMS),
            schema.array("float64", kernels.N_TERMS + kernels.N_VECTOR_TERMS),
        ),
        "trees": schema.part("BoostedTrees"),
    }

    def __init__(
        self, weights: NDArray[np.float64] | None = None, trees: BoostedTrees | None = None
    ) -> None:
        self.weights = prior_weights() if weights is None else weights
        self.trees = BoostedTrees.none() if trees is None else trees

    def probabilities(
        self, candidates: Candidates, label_counts: NDArray[np.int64], partners: csr_matrix = ALONE
    ) -> NDArray[np.float32]:
        """Return the probability of each candidate, (n, n_candidates); 0 where there is none.

        ``partners`` says which labels go together; see ``label_partners``.
        """
        probabilities = np.zeros(candidates.labels.shape, dtype=np.float32)
        told = *candidates[:4], candidates.names, candidates.vectors
        kernels.weigh_terms(*told, label_counts, self.weights, probabilities)
        if self.trees.n_trees:
            trees = self.trees.splits, self.trees.thresholds, self.trees.values
            short = _shortlist(candidates, probabilities)
            together = _arrays(partners)
            kernels.correct(short, *candidates, label_counts, *together, *trees, probabilities)
        return probabilities


def prior_weights(n_terms: int = kernels.N_TERMS) -> NDArray[np.float64]:
    """Return the weights that suit most corpora: margins and votes, and nothing of the rest."""
    weights = np.zeros(n_terms)
    for term, weight in PRIOR.items():
        weights[term] = weight
    return weights


def n_terms(candidates: Candidates) -> int:
    """Return how many terms φ has: more where an encoder speaks, too."""
    return kernels.N_TERMS + (kernels.N_VECTOR_TERMS if candidates.vectors.shape[2] else 0)


def terms(candidates: Candidates, label_counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return φ of each candidate that there is, (n, N_TERMS), row after row."""
    there = candidates.labels >= 0
    expanded = np.empty((int(there.sum()), n_terms(candidates)))
    kernels.expand_terms(
        candidates.labels[there],
        candidates.margins[there],
        candidates.shares[there],
        candidates.cosines[there],
        candidates.names[there],
        candidates.vectors[there],
        label_counts,
        expanded,
    )
    return expanded


def best_candidates(labels: NDArray[np.int64], scores: NDArray[np.float32], k: int) -> TopK:
    """Return the ``k`` candidates with the largest scores; -1 is no candidate."""
    top = TopK.empty(len(labels), k)
    kernels.best_candidates(labels, scores, top.labels, top.scores)
    return top


def learn_stacker(
    candidates: Candidates,
    Y: csr_matrix,
    label_counts: NDArray[np.int64],
    partners: csr_matrix = ALONE,
    *,
    n_trees: int = 100,
) -> Stacker:
    """Return a stacker whose probabilities fit ``Y``, the true labels of the candidates' rows."""
    if candidates.names.any() and (label_counts[Y.indices] == 0).sum() < ENOUGH:
        candidates, Y, label_counts = _with_unseen_labels(candidates, Y, label_counts)
    competing, there = _competing(candidates, label_counts)
    if not there.any():
        return Stacker()
    rows = np.repeat(np.arange(len(there)), there.sum(axis=1))
    is_true = _has(Y, rows, competing.labels[there])
    phi = terms(competing, label_counts)
    start = prior_weights(phi.shape[1])
    stacker = Stacker(logistic_regression(phi, is_true, start, PSEUDO_ROWS))
    if n_trees:
        case = describe_shortlist(stacker, candidates, Y, label_counts, partners)
        stacker.trees = grow_trees(*case, n_trees=n_trees)
    return stacker


class Cases(NamedTuple):
    """What trees see of the most probable candidates of rows, one case for each.

    ``rows`` tells whose candidate it is, ``is_true`` whether it is right and ``logits`` the log
    odds to start from.
    """

    features: NDArray[np.float32]
    is_true: NDArray[np.bool_]
    logits: NDArray[np.floating]
    rows: NDArray[np.int64]


def describe_shortlist(
    stacker: Stacker,
    candidates: Candidates,
    Y: csr_matrix,
    label_counts: NDArray[np.int64],
    partners: csr_matrix,
) -> Cases:
    """Return what trees see of rows, beginning with what a stacker says without any."""
    start = Stacker(stacker.weights)
    probabilities = start.probabilities(candidates, label_counts, partners)
    short = _shortlist(candidates, probabilities)
    described = np.empty((short.size, N_FEATURES), dtype=np.float32)
    owner, place = np.empty((2, short.size), dtype=np.int64)
    together = _arrays(partners)
    told = short, *candidates, label_counts, *together, probabilities
    n = kernels.describe_all(*told, described, owner, place)
    owner, place = owner[:n], place[:n]
    is_true = _has(Y, owner, candidates.labels[owner, place])
    logits = logit(np.clip(probabilities[owner, place], 1e-6, 1.0 - 1e-6))
    return Cases(described[:n], is_true, logits, owner)


def _arrays(partners: csr_matrix) -> tuple[NDArray[Any], ...]:
    """Return partners as kernels want them, and room to look labels up in."""
    n_labels = partners.shape[0]
    return partners.indptr, partners.indices, partners.data, scratch.places(n_labels)


def _with_unseen_labels(
    candidates: Candidates, Y: csr_matrix, label_counts: NDArray[np.int64]
) -> tuple[Candidates, csr_matrix, NDArray[np.int64]]:
    """Return the rows twice, the second time as if their rarest labels had no rows at all.

    So it is learned what a name is worth by itself, for labels that come without any row. The
    stand-ins of labels are numbered from where the labels end.
    """
    n_labels = len(label_counts)
    seen = np.flatnonzero(label_counts)
    by_count = seen[np.argsort(label_counts[seen], kind="stable")]
    is_hidden = np.zeros(n_labels + 1, dtype=np.bool_)
    is_hidden[by_count[: -(-seen.size // HIDDEN)]] = True
    hidden = is_hidden[candidates.labels]  # the last for those that are none, -1
    whole = (candidates.names[:, :, 0] > WHOLE) | _nearest_names(candidates.vectors)
    labels = np.where(hidden, np.where(whole, candidates.labels + n_labels, -1), candidates.labels)
    names = candidates.names.copy()
    names[hidden & whole, 3] = trust(np.expm1(names[hidden & whole, 4]), 0.0)
    parts = zip(candidates[1:6], UNSEEN, strict=True)
    told = [np.where(hidden, np.float32(nothing), part) for part, nothing in parts]
    vectors = candidates.vectors.copy()
    vectors[hidden, :NAME] = 0.0  # rows say nothing of it
    again: list[Any] = [labels, *told, names, vectors, candidates.rows]
    pairs: Iterable[Any] = zip(candidates, again, strict=True)
    both = [np.concatenate(pair) for pair in pairs]
    return (
        Candidates._make(both),
        csr_matrix(vstack([hstack([Y, empty_csr(*Y.shape)]), hstack([Y, Y])], format="csr")),
        np.concatenate((label_counts, np.zeros(n_labels, dtype=label_counts.dtype))),
    )


def _nearest_names(vectors: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Tell which candidates of each row have names as near as those that are searched for."""
    if not vectors.shape[2] or vectors.shape[1] <= N_NAMED:
        return np.zeros(vectors.shape[:2], dtype=np.bool_)
    cosines = vectors[:, :, NAME]
    least = np.partition(cosines, -N_NAMED, axis=1)[:, -N_NAMED, np.newaxis]
    return (cosines >= least) & (cosines > 0.0)


def _competing(
    candidates: Candidates, label_counts: NDArray[np.int64]
) -> tuple[Candidates, NDArray[np.bool_]]:
    """Return the best candidates of each row by the prior weights, and where there are any."""
    prior = Stacker().probabilities(candidates, label_counts)
    k = min(COMPETING, candidates.labels.shape[1])
    places = _shortlist(candidates, prior, k)
    there = places >= 0
    best = [np.take_along_axis(part, places, axis=1) for part in candidates[:6]]
    deep = places[:, :, np.newaxis]
    figures = [np.take_along_axis(part, deep, axis=1) for part in candidates[6:8]]
    competing = Candidates._make([*best, *figures, candidates.rows])
    return competing._replace(labels=np.where(there, competing.labels, -1)), there


def _shortlist(
    candidates: Candidates, probabilities: NDArray[np.float32], k: int = SHORT
) -> NDArray[np.int64]:
    """Return where each row's ``k`` most probable candidates stand; -1 where it has fewer."""
    places = np.empty((len(candidates.labels), min(k, candidates.labels.shape[1])), dtype=np.int64)
    kernels.shortlist(candidates.labels, probabilities, places)
    return places


def _has(Y: csr_matrix, rows: NDArray[np.int64], labels: NDArray[np.int64]) -> NDArray[np.bool_]:
    if not rows.size:
        return np.zeros(0, dtype=np.bool_)
    return np.asarray(Y[rows, labels]).ravel() > 0
