"""Is WordNet's hierarchy in the places of its labels? ``study hyperbolic order``.

Wordnet's labels are hypernyms: do general ones lie nearer to the middle, and are the nearest labels
of a label its hypernyms?
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.stats import spearmanr

from benchmarks.studies.source import Source
from benchmarks.studies.study import Figures, Trial
from labelspace.models import make
from labelspace.models.hyperbolic.metric_index import SPACES
from labelspace.spaces import poincare

N_ROWS = 5000
SEEDS = (0, 1, 2)
DIMS = (2, 5, 10)
TRIALS = [
    Trial("order", "wordnet", parameters={"space": space, "dim": dim}, seed=seed)
    for dim in DIMS
    for space in ("poincare", "euclidean")
    for seed in SEEDS
]


def measure(trial: Trial, source: Source) -> Iterator[tuple[Trial, Figures]]:
    """Train one learner and look at where labels lie."""
    split = source.split(trial.corpus).drawn(N_ROWS)
    above, parents = hypernyms(split.Y)
    model: Any = make(
        "hyperbolic", n_learners=1, random_state=trial.seed, n_threads=1, **trial.parameters
    ).fit(split.X, split.Y)
    space, dim = trial.parameters["space"], trial.parameters["dim"]
    places = centred(model)
    norms = SPACES[space].distance(places, np.zeros(dim))
    seen = np.flatnonzero(model.label_counts_)
    figures: Figures = {
        "n_rows": split.X.shape[0],
        "n_pairs": len(above),
        "rho": float(spearmanr(model.label_counts_[seen], norms[seen])[0]),
        "ordered": float(np.mean(norms[above[:, 1]] < norms[above[:, 0]])),
        "map": edge_precision(places, parents, seen, space),
    }
    if dim == DIMS[0] and trial.seed == SEEDS[0]:
        # For the plots: each label's place and the number of its rows.
        figures["labels"] = seen.tolist()
        figures["places"] = np.round(places[seen], 4).tolist()
        figures["counts"] = model.label_counts_[seen].tolist()
    yield trial, figures


def hypernyms(Y: csr_matrix, fewest: int = 5) -> tuple[NDArray[np.int64], dict[int, list[int]]]:
    """Return pairs (label, label above it), and the labels right above each label.

    A label is above another if it is on every row that has the other, and on more. Labels of fewer
    than ``fewest`` rows are left out below, since little can be said about them.
    """
    counts = np.bincount(Y.indices, minlength=Y.shape[1])
    together = csr_matrix((Y.T @ Y).astype(np.int64))
    lower = np.repeat(np.arange(Y.shape[1]), np.diff(together.indptr))
    upper = together.indices
    kept = (together.data == counts[lower]) & (counts[upper] > counts[lower])
    kept &= counts[lower] >= fewest
    pairs = np.column_stack((lower[kept], upper[kept]))
    above: dict[int, set[int]] = {}
    for label, higher in pairs.tolist():
        above.setdefault(label, set()).add(higher)
    parents = {
        label: [one for one in highers if not any(one in above.get(c, ()) for c in highers)]
        for label, highers in above.items()
    }
    return pairs, parents


def edge_precision(
    places: NDArray[Any], parents: dict[int, list[int]], seen: NDArray[np.int64], space: str
) -> float:
    """Return the mean average precision of finding a label's parents among its nearest labels."""
    distances = SPACES[space].distance
    precisions = []
    for label in sorted(parents):
        far = distances(places[label], places[seen])
        far[seen == label] = np.inf
        ranks = np.sort([1 + int((far < far[seen == one]).sum()) for one in parents[label]])
        precisions.append(np.mean(np.arange(1, len(ranks) + 1) / ranks))
    return float(np.mean(precisions))


def norms_and_frequency(model: Any) -> float:
    """Return Spearman's correlation of a label's rows and its distance from the middle."""
    seen = np.flatnonzero(model.label_counts_)
    norms = np.linalg.norm(centred(model)[seen], axis=1)
    return float(spearmanr(model.label_counts_[seen], norms)[0])


def centred(model: Any) -> NDArray[Any]:
    """Return the labels' places, moved so that their weighted middle is that of the space."""
    places, counts = model.label_vectors_, model.label_counts_
    if model.settings_.space == "poincare":
        return poincare.mobius_add(-poincare.midpoint(places, counts), places)
    return places - np.average(places, axis=0, weights=counts)
