"""LabelSpace: neighbours propose labels, classifiers rank them, held-out rows say whom to trust.

Nearest training rows in a learned space are good at rare labels, linear classifiers at frequent
ones. A linear map is trained as in AnnexML; the neighbours of a row vote for a short list of
labels. Each label has a linear classifier, trained on its rows and on those that the neighbours
would wrongly give it (``training.sampled_hinge``). Rows that neither half has seen then teach how
votes, margins and nearness make a probability (``search.joined``):

    p(label | x) = σ( a · φ(margin, share of the votes, cosine of row and label, frequency) )

As these are probabilities, the ranking that expects the best PSP@k is by p / propensity:
``propensity=True``.
"""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from labelspace import metrics, progress
from labelspace.base import Explanation, LabelRanker
from labelspace.calibration import Calibration, Threshold
from labelspace.encoders.linear import LinearEncoder
from labelspace.encoders.unit_rows import UnitRows
from labelspace.ensemble import Learner, search_all
from labelspace.explain import FeatureContributions, Voters, half_and_half
from labelspace.graph.label_knn import label_knn
from labelspace.labels import with_rows, without_rows
from labelspace.linear.adapt import adapt_map
from labelspace.linear.contrastive import ContrastiveSettings, train_map
from labelspace.linear.incremental import learn_on
from labelspace.linear.sampled_hinge import Classifiers, train_sampled_hinge
from labelspace.models.labelspace.candidates import Candidates, LabelCentroids, gather_candidates
from labelspace.models.labelspace.choose_c import choose_C
from labelspace.models.labelspace.reservoir import refreshed, reservoir
from labelspace.models.labelspace.stacking import (
    best_candidates,
    learn_stacker,
    unseen_probabilities,
)
from labelspace.search.ivf import IVFIndex
from labelspace.search.result import SearchResult
from labelspace.search.self_join import self_join
from labelspace.search.sparse import SparseIndex
from labelspace.selection import usable_rows
from labelspace.spaces import sphere
from labelspace.threads import in_blocks, train_in_parallel
from labelspace.topk import TopK
from labelspace.voting import count_votes

# Small corpora are overfitted by a sharp contrast and large steps.
_SMALL = 20_000
# Where rows are fewer, there is time for several spaces, and for every negative.
_FEW = 8_000
_EVERY_NEGATIVE = 1e8  # products of labels and features of rows that are no effort
_MOST_NEGATIVES = 1e9  # and those that are the most effort
_MOST_HELD_OUT = 4_000
_VOTE_GAMMA = 20.0
_CONFUSING = 30  # neighbours that propose labels in training
_CONFUSED = 50  # labels a row's neighbours propose in training: its hard negatives
_LONG = 100  # features of a row from which on it can afford, and needs, more of them:
_CONFUSING_LONG, _CONFUSED_LONG = 100, 100
_VOTED = 60  # labels that come from votes to a row's short list
_BY_MARGIN = 20  # labels that its classifiers add


class LabelSpace(LabelRanker):
    """Votes of neighbours and linear classifiers, joined into probabilities; the default method.

    Parameters
    ----------
    propensity : bool, default=False
        Whether rare labels count more, as PSP@k counts them. Scores are then p / propensity, as
        a share of the largest that there can be.
    C : float or "auto", default="auto"
        Weight of the classifiers' training error: larger fits closer. "auto" tries 0.2, 0.5 and
        1.0 on a hundred labels and takes the largest that ranks rows held out nearly best.
    dim : int, default=128
        Dimensions of the space in which neighbours are searched.
    n_learners : int, optional
        Spaces whose neighbours vote together: one, but six for fewer than 8,000 rows.
    n_neighbors : int, default=100
        Training rows that vote, for each learner.
    min_weight : float, default=0.05
        Classifiers' weights closer to zero are cut.
    idf : bool or "auto", default="auto"
        Whether features are weighted by inverse document frequency; "auto" does so where all are
        whole numbers: 0-1 features or counts.
    k, threshold, random_state, n_threads
        As in every estimator; see :class:`labelspace.base.LabelRanker`. Scores are probabilities.

    Attributes
    ----------
    learners_ : list of Learner
        Maps into the spaces, and the training rows there.
    C_ : float
        The C that was used.
    classifiers_ : SparseIndex
        The classifiers' weights, by feature.
    places_ : LabelCentroids
        Where labels lie in the first space.
    stacker_ : Stacker
        How votes, margins and nearness make a probability.
    calibration_ : Calibration
        What scores were worth on rows held out: error of the probabilities, operating points.
    Y_ : csr_matrix of shape (n_examples_, n_labels_)
        Labels of the training rows.
    reservoir_ : csr_matrix of shape (1000 at most, n_features_in_)
        Some of the training rows, which labels that come later are told apart from.

    Examples
    --------
    >>> from labelspace.models import LabelSpace
    >>> X = [[1.0, 0.0, 0.1], [0.9, 0.2, 0.0], [0.0, 1.0, 0.1], [0.1, 0.9, 0.3]]
    >>> model = LabelSpace(random_state=0).fit(X, [["red"], ["red"], ["round"], ["round"]])
    >>> model.classes_[model.predict_topk([[0.7, 0.1, 0.0]], k=1).labels]
    array([['red']], dtype='<U5')
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LabelRanker._parameter_constraints,
        "propensity": ["boolean"],
        "C": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "dim": [Interval(Integral, 1, None, closed="left")],
        "n_learners": [Interval(Integral, 1, None, closed="left"), None],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "min_weight": [Interval(Real, 0, None, closed="left")],
        "idf": ["boolean", StrOptions({"auto"})],
    }

    def __init__(
        self,
        *,
        propensity: bool = False,
        C: float | Literal["auto"] = "auto",
        dim: int = 128,
        n_learners: int | None = None,
        n_neighbors: int = 100,
        min_weight: float = 0.05,
        idf: bool | Literal["auto"] = "auto",
        k: int = 5,
        threshold: Threshold = None,
        random_state: Any = None,
        n_threads: int | None = None,
    ) -> None:
        super().__init__(k=k, threshold=threshold, random_state=random_state, n_threads=n_threads)
        self.propensity = propensity
        self.C = C
        self.dim = dim
        self.n_learners = n_learners
        self.n_neighbors = n_neighbors
        self.min_weight = min_weight
        self.idf = idf

    _is_calibrated = True

    @property
    def gives_probabilities(self) -> bool:
        """Whether a score is the probability that the label is right."""
        return not self.propensity

    def _fit(self, X: csr_matrix, Y: csr_matrix) -> None:
        seed = int(check_random_state(self.random_state).randint(1 << 30))
        self.rows_ = UnitRows(idf=_counts(X) if self.idf == "auto" else bool(self.idf)).learn(X)
        self.Y_ = csr_matrix(Y, dtype=np.int8)
        X = self.rows_.encode(X)
        held_out = _held_out(X, Y, seed)
        seen = without_rows(Y, np.flatnonzero(held_out))
        self._learn_spaces(X, seen, seed)
        hard, fewest = self._confused(Y, X.nnz < _LONG * X.shape[0]), _drawn(X, Y)
        self.C_ = (
            choose_C(X, Y, hard, held_out, n_threads=self.n_threads, seed=seed)
            if self.C == "auto"
            else float(self.C)
        )
        every, honest = train_sampled_hinge(
            X,
            Y,
            hard,
            held_out=held_out,
            C=self.C_,
            fewest=fewest,
            min_weight=self.min_weight,
            n_threads=self.n_threads,
            seed=seed,
        )
        self._learn_join(X, Y, seen, held_out, honest)
        self.classifiers_ = SparseIndex(every.weights, every.biases)
        self.places_ = self._places(X, Y)
        self.reservoir_ = reservoir(X, seed)

    def _learn_spaces(self, X: csr_matrix, Y: csr_matrix, seed: int) -> None:
        """Train the maps on rows that have labels in ``Y``; put all rows that have any there."""
        settings = self._map_settings(X.shape[0])
        graph = label_knn(Y, seed=seed, n_threads=self.n_threads)
        voters = usable_rows(X, self.Y_)

        def train(learner_seed: int) -> Learner:
            trained = train_map(X, Y, graph, settings, learner_seed)
            encoder = LinearEncoder(trained.weights)
            keys = sphere.keys(encoder.encode(csr_matrix(X[voters])))
            return Learner(encoder, IVFIndex(keys, voters, seed=learner_seed))

        n_learners = self.n_learners or (6 if X.shape[0] < _FEW else 1)
        seeds = [seed + number for number in range(n_learners)]
        with progress.task("learning the space"):
            self.learners_ = train_in_parallel(train, seeds, self.n_threads)

    def _map_settings(self, n_examples: int) -> ContrastiveSettings:
        few, small = n_examples < _FEW, n_examples < _SMALL
        return ContrastiveSettings(
            dim=self.dim,
            gamma=10.0 if small else 20.0,
            learning_rate=0.1 if small else 0.2,
            min_steps=80 if few else 200,
        )

    def _confused(self, Y: csr_matrix, short: bool) -> csr_matrix:
        """Return the labels that training rows' neighbours propose for them."""
        index = self.learners_[0].rows
        assert isinstance(index, IVFIndex)
        n_neighbors, k = (_CONFUSING, _CONFUSED) if short else (_CONFUSING_LONG, _CONFUSED_LONG)
        found = self_join(index, Y.shape[0], n_neighbors, self.n_threads)
        k = min(k, Y.shape[1])
        return count_votes(found.ids, _vote_weights(found), self.Y_, k).to_csr(Y.shape[1])

    def _learn_join(
        self,
        X: csr_matrix,
        Y: csr_matrix,
        seen: csr_matrix,
        held_out: NDArray[np.bool_],
        classifiers: Classifiers,
    ) -> None:
        """Learn from rows held out, which here look as new rows do."""
        rows = np.flatnonzero(held_out)
        counts = np.bincount(seen.indices, minlength=seen.shape[1])
        index, places = SparseIndex(*classifiers), self._places(X, seen)
        asked = csr_matrix(X[rows])
        evidence = self._evidence(asked, index, places, own=rows)
        self.stacker_ = learn_stacker(evidence, csr_matrix(Y[rows]), counts)
        self.calibration_ = self._measured(evidence, csr_matrix(Y[rows]), counts)

    def _measured(
        self, evidence: Candidates, Y: csr_matrix, label_counts: NDArray[np.int64]
    ) -> Calibration:
        """Measure scores on rows held out, by joins that have not learned from the same rows."""
        probabilities = unseen_probabilities(evidence, Y, label_counts)
        ranked = best_candidates(evidence.labels, probabilities, evidence.labels.shape[1])
        if not self.propensity:
            return Calibration(ranked, ranked, Y)
        gains = self._gains()[np.maximum(evidence.labels, 0)]
        scored = best_candidates(evidence.labels, probabilities * gains, ranked.k)
        return Calibration(scored, ranked, Y)

    def _partial_fit(self, X: csr_matrix, Y: csr_matrix) -> None:
        """Put the rows into the spaces, then train the classifiers of their labels on."""
        seed = int(check_random_state(self.random_state).randint(1 << 30))
        X = self.rows_.encode(X)
        n_old = self.Y_.shape[0]
        self.Y_ = with_rows(self.Y_, Y)
        self._add_to_spaces(X, Y, n_old, seed)
        self._train_on(X, Y, n_old, seed)
        self.reservoir_ = refreshed(self.reservoir_, n_old, X, seed)

    def _add_to_spaces(self, X: csr_matrix, Y: csr_matrix, n_old: int, seed: int) -> None:
        """Let the maps catch up, gently since stored rows do not move with them; add the rows."""
        graph = label_knn(
            self.Y_, queries=Y, first_query=n_old, seed=seed, n_threads=self.n_threads
        )
        gently = replace(self._map_settings(n_old), n_epochs=2, learning_rate=0.02, min_steps=16)
        voters = usable_rows(X, Y)
        for learner in self.learners_:
            stored = learner.rows.vectors
            adapt_map(learner.encoder, X, self.Y_, graph, n_old, stored, gently, seed)
            learner.rows.add(learner.encode(csr_matrix(X[voters])), n_old + voters)

    def _train_on(self, X: csr_matrix, Y: csr_matrix, n_old: int, seed: int) -> None:
        """Move the places of the labels in ``Y`` and train their classifiers on."""
        found, _ = search_all(self.learners_, X, _CONFUSING, 0)
        voices = _vote_weights(found, own=np.arange(n_old, n_old + X.shape[0]))
        hard = count_votes(found.ids, voices, self.Y_, min(_CONFUSED, Y.shape[1])).to_csr(
            Y.shape[1]
        )
        labels = np.union1d(Y.indices, np.arange(self.classifiers_.n_keys, Y.shape[1]))
        of_each = csr_matrix(Y[:, labels].T)
        before = self.label_counts_[labels] - np.diff(of_each.indptr)
        self.places_.move(labels, before, np.asarray(of_each @ self.learners_[0].encode(X)))
        learned = learn_on(
            X,
            Y,
            hard,
            labels,
            before,
            self.classifiers_,
            self.reservoir_,
            C=self.C_,
            n_examples=n_old,
            min_weight=self.min_weight,
            n_threads=self.n_threads,
            seed=seed,
        )
        self.classifiers_.put(labels, *learned)

    def _places(self, X: csr_matrix, Y: csr_matrix) -> LabelCentroids:
        """Return where labels lie in the first space: in the middle of their rows."""
        middles = Y.T @ self.learners_[0].encode(X)
        return LabelCentroids(sphere.keys(np.asarray(middles, dtype=np.float32)))

    def _evidence(
        self,
        X: csr_matrix,
        classifiers: SparseIndex,
        places: LabelCentroids,
        own: NDArray[np.int64] | None = None,
    ) -> Candidates:
        """Return the short list of each row; a row in ``own`` is no neighbour of itself."""
        found, _ = search_all(self.learners_, X, self.n_neighbors, 0)
        voices = _vote_weights(found, own)
        votes = count_votes(found.ids, voices, self.Y_, min(_VOTED, self.n_labels_))
        Z = self.learners_[0].encode(X)
        return gather_candidates(X, Z, votes, classifiers, places, _BY_MARGIN)

    def _predict_topk(self, X: csr_matrix, k: int) -> TopK:
        X = self.rows_.encode(X)
        return TopK.stack(in_blocks(lambda block: self._answer(block, k), X, self.n_threads))

    def _answer(self, X: csr_matrix, k: int) -> TopK:
        evidence = self._evidence(X, self.classifiers_, self.places_)
        scores = self.stacker_.probabilities(evidence, self.label_counts_)
        if self.propensity:
            scores *= self._gains()[np.maximum(evidence.labels, 0)]
        return self._filled(best_candidates(evidence.labels, scores, k))

    def _explain(self, X: csr_matrix, top: TopK, n_reasons: int) -> list[list[Explanation]]:
        """Half of the reasons are rows that voted, half are features that the classifier likes."""
        X = self.rows_.encode(X)
        found, _ = search_all(self.learners_, X, self.n_neighbors, 0)
        voices = _vote_weights(found)
        explained = []
        for row in range(len(top)):
            voters = Voters(found.ids[row], voices[row], self.Y_)
            speakers = FeatureContributions(X[row], self.classifiers_)
            explanations = []
            for label, score in top.given(row):
                reasons = half_and_half(
                    voters.reasons_for(label), speakers.reasons_for(label), n_reasons
                )
                explanations.append(Explanation(label, score, reasons))
            explained.append(explanations)
        return explained

    def _gains(self) -> NDArray[np.float32]:
        """Return what a label counts in PSP@k, as a share of what one without rows would."""
        gains = metrics.inverse_propensity(self.label_counts_, self.n_examples_)
        most = metrics.inverse_propensity([0], self.n_examples_)
        return (gains / most).astype(np.float32)


def _counts(X: csr_matrix) -> bool:
    """Tell whether all values are whole numbers."""
    return bool(np.all(X.data == np.rint(X.data)))


def _drawn(X: csr_matrix, Y: csr_matrix) -> int:
    """Return how many negatives a classifier draws at least: the more, the longer rows are."""
    n_features = X.nnz / max(X.shape[0], 1)
    per_negative = max(Y.shape[1] * n_features, 1.0)
    if per_negative * X.shape[0] <= _EVERY_NEGATIVE:
        return int(X.shape[0])
    return max(100, int(min(5 * n_features, _MOST_NEGATIVES / per_negative)))


def _held_out(X: csr_matrix, Y: csr_matrix, seed: int) -> NDArray[np.bool_]:
    """Choose a tenth of the rows, or some thousands, among those that have features and labels."""
    held_out = np.zeros(X.shape[0], dtype=np.bool_)
    usable = usable_rows(X, Y)
    n_held_out = min(usable.size // 10, _MOST_HELD_OUT)
    held_out[np.random.default_rng(seed).permutation(usable)[:n_held_out]] = True
    return held_out


def _vote_weights(found: SearchResult, own: NDArray[np.int64] | None = None) -> NDArray[np.float32]:
    """Return each found row's share of the vote; a row has none on itself."""
    weights = np.exp(_VOTE_GAMMA * (found.products - 1.0))
    weights[~(found.products != 0).any(axis=1)] = 0.0
    if own is not None:
        weights[found.ids == own[:, np.newaxis]] = 0.0
    sums = weights.sum(axis=1, keepdims=True)
    return np.divide(weights, sums, out=np.zeros_like(weights), where=sums > 0)
