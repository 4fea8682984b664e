"""How near labels that are alike come to lie on the map: ``study label_map``.

A layout of a corpus' labels by their neighbourhoods, and one by the tree of their parents. Kept is
the share of each label's ten nearest labels, as the page lists them, that are among its ten nearest
on the map. Trustworthiness looks the other way: a label that is among the ten nearest on the map,
but not among the ten nearest, counts against it by how many others are nearer (1 is the best).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.spatial import cKDTree

from benchmarks.measure import Stopwatch
from benchmarks.studies.label_map import page
from benchmarks.studies.source import Source
from benchmarks.studies.study import Figures, Part, Study, Trial
from labelspace.data import build_demo_corpus
from labelspace.label_layout import kept_neighbours, neighbourhood_layout
from labelspace.label_map import N_NEAREST, Relations, row_profiles, tree_positions

BLOCK = 512


def layouts(trial: Trial, source: Source) -> Iterator[tuple[Trial, Figures]]:
    """Return how well each layout keeps what is near, and how long it took."""
    Y = _labels(trial.corpus, source)
    counts = np.bincount(Y.indices, minlength=Y.shape[1])
    order = np.argsort(-counts, kind="stable")
    Y = csr_matrix(Y[:, order[: np.count_nonzero(counts)]])  # by rank, and only those with rows
    with Stopwatch() as relating:
        relations = Relations(row_profiles(Y), counts[order[: Y.shape[1]]])
    with Stopwatch() as drawing_tree:
        tree = tree_positions(relations.parent, relations.rank).astype(np.float64)
    with Stopwatch() as drawing:
        places = neighbourhood_layout(relations.nearest, tree).astype(np.float64)
    for variant, shown, watch in (("tree", tree, None), ("neighbourhood", places, drawing)):
        figures: Figures = {
            "n_labels": Y.shape[1],
            "kept": kept_neighbours(relations.nearest, shown),
            "trustworthiness": trustworthiness(relations.company, shown),
            "cpu_s": relating.cpu_s + drawing_tree.cpu_s + (watch.cpu_s if watch else 0.0),
        }
        yield Trial(trial.part, trial.corpus, variant), figures


def trustworthiness(unit: csr_matrix, places: NDArray[np.float64], k: int = N_NEAREST) -> float:
    """Return 1 less what labels that only the map has near count against it.

    Of labels that are equally alike each has the mean of their ranks.

    >>> line = np.arange(30.0)
    >>> near = csr_matrix(np.eye(30) + np.eye(30, k=1) + np.eye(30, k=-1))
    >>> trustworthiness(near, np.column_stack((line, line)), k=2)
    1.0
    """
    n = len(places)
    k = min(k, (n - 1) // 2)
    found = np.asarray(cKDTree(places).query(places, k=k + 1)[1])
    others = csr_matrix(unit.T)
    against = 0.0
    for start in range(0, n, BLOCK):
        alike = (unit[start : start + BLOCK] @ others).toarray()
        for at in range(len(alike)):
            label = start + at
            alike[at, label] = -np.inf
            near = alike[at, found[label][found[label] != label][:k], np.newaxis]
            ranks = (alike[at] > near).sum(axis=1) + ((alike[at] == near).sum(axis=1) + 1) / 2
            against += float(np.maximum(ranks - k, 0).sum())
    return 1.0 - 2.0 * against / (n * k * (2 * n - 3 * k - 1))


def _labels(corpus: str, source: Source) -> csr_matrix:
    if corpus != "demo":
        return source.split(corpus).Y
    train, _ = build_demo_corpus(["json", "email"] if source.quick else None)
    return csr_matrix(train.Y)


STUDY = Study(
    "label_map",
    {"layouts": Part([Trial("layouts", one, page.VARIANTS[-1]) for one in page.CORPORA], layouts)},
    page.PAGE,
    page.tables,
)
