"""The spaces of LabelSpace: how they are learned, who is near in them, and what neighbours count.

Each learner is a linear map, trained as in AnnexML so that rows with like labels lie near each
other, and an index of all rows that have labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace import engine, progress
from labelspace.encoders.linear import LinearEncoder
from labelspace.ensemble import Learner
from labelspace.graph.label_knn import LabelGraph, label_knn
from labelspace.linear.adapt import adapt_map
from labelspace.linear.contrastive import train_map
from labelspace.models.labelspace.settings import LabelSpaceSettings
from labelspace.search.ivf import IVFIndex
from labelspace.search.result import SearchResult
from labelspace.selection import hold_out, usable_rows
from labelspace.spaces import sphere
from labelspace.threads import train_in_parallel
from labelspace.voting import vote_weights

_MOST_HELD_OUT = 0.3  # of the rows, so that spaces and classifiers are about what they will be


def held_out_rows(
    X: csr_matrix,
    Y: csr_matrix,
    settings: LabelSpaceSettings,
    seed: int,
    groups: NDArray[np.int64] | None,
) -> NDArray[np.bool_]:
    """Choose a tenth of the rows, or some thousands, among those with features and labels."""
    usable = usable_rows(X, Y)
    held_out = np.zeros(X.shape[0], dtype=np.bool_)
    held_out[hold_out(usable, n_held_out(usable.size, settings), seed, groups)] = True
    return held_out


def n_held_out(n_usable: int, settings: LabelSpaceSettings) -> int:
    """Return how many rows to hold out of so many: more than the share where they are few.

    A tenth of few rows teaches the stacking too little.

    >>> [n_held_out(n, LabelSpaceSettings()) for n in (5, 100, 5_000, 20_000, 90_000)]
    [0, 30, 1000, 2000, 4000]
    """
    n_rows = int(settings.validation_fraction * n_usable)
    if not n_rows:
        return 0
    n_rows = max(n_rows, min(settings.min_held_out, int(_MOST_HELD_OUT * n_usable)))
    return min(n_rows, settings.max_held_out)


def miss_many_rows(X: csr_matrix, Y: csr_matrix, settings: LabelSpaceSettings) -> bool:
    """Return whether more than the share of the rows is held out, which spaces then lack."""
    n_usable = usable_rows(X, Y).size
    return n_held_out(n_usable, settings) > settings.validation_fraction * n_usable


def train_spaces(
    X: csr_matrix,
    seen: csr_matrix,
    Y: csr_matrix,
    settings: LabelSpaceSettings,
    *,
    seed: int,
    n_threads: int | None,
) -> list[Learner]:
    """Train maps on rows with labels in ``seen``; put all rows with any in ``Y`` there."""
    graph = label_knn(seen, seed=seed, n_threads=n_threads)
    inputs = X, seen, graph.neighbors, graph.similarities, usable_rows(X, Y), settings
    seeds = [seed + number for number in range(settings.n_learners)]
    if engine.is_active():
        return engine.run_blocks(_train_space, inputs, seeds, "learning the space")
    with progress.task("learning the space"):
        return train_in_parallel(partial(_train_space, inputs), seeds, n_threads)


def _train_space(inputs: tuple[Any, ...], seed: int) -> Learner:
    X, seen, neighbors, similarities, voters, settings = inputs
    trained = train_map(X, seen, LabelGraph(neighbors, similarities), settings.training(), seed)
    encoder = LinearEncoder(trained.weights)
    keys = sphere.keys(encoder.encode(csr_matrix(X[voters])))
    return Learner(encoder, IVFIndex(keys, voters, seed=seed))


def update_spaces(
    learners: Sequence[Learner],
    X: csr_matrix,
    Y: csr_matrix,
    settings: LabelSpaceSettings,
    *,
    seed: int,
    n_threads: int | None,
) -> None:
    """Let the maps catch up with new rows, the last of ``Y``, and put the rows there."""
    n_old = Y.shape[0] - X.shape[0]
    new = csr_matrix(Y[n_old:])
    graph = label_knn(Y, queries=new, first_query=n_old, seed=seed, n_threads=n_threads)
    for learner in learners:
        adapt_map(learner.encoder, X, Y, graph, n_old, learner.rows, settings.update(), seed)
    add_rows(learners, X, new, n_old)


def add_rows(learners: Sequence[Learner], X: csr_matrix, Y: csr_matrix, first: int) -> None:
    """Put rows, numbered from ``first`` on, into the spaces, if they have any labels in ``Y``."""
    voters = usable_rows(X, Y)
    for learner in learners:
        learner.rows.add(learner.encode(csr_matrix(X[voters])), first + voters)


def find_neighbors(
    learners: Sequence[Learner], X: csr_matrix, n_neighbors: int
) -> tuple[SearchResult, NDArray[np.float32]]:
    """Return the training rows near each row in all spaces, and its vector in all of them."""
    encoded = [learner.encode(X) for learner in learners]
    found = [
        learner.rows.search(Z, n_neighbors) for learner, Z in zip(learners, encoded, strict=True)
    ]
    return SearchResult.beside(found), _joined(encoded)


def encode(learners: Sequence[Learner], X: csr_matrix) -> NDArray[np.float32]:
    """Return rows in all spaces together, where a cosine is the mean of those in each."""
    return _joined([learner.encode(X) for learner in learners])


def _joined(encoded: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    """Return unit vectors behind each other, as one of length one."""
    return np.concatenate(encoded, axis=1) / np.float32(np.sqrt(len(encoded)))


def neighbor_weights(
    found: SearchResult,
    gamma: float,
    own: NDArray[np.int64] | None = None,
    groups: NDArray[np.int64] | None = None,
) -> NDArray[np.float32]:
    """Return each neighbour's share of the vote; none for a row's ``own`` number or its group.

    >>> found = SearchResult(np.array([[3, 7]]), np.array([[1.0, 0.9]], dtype=np.float32))
    >>> neighbor_weights(found, gamma=10.0).round(2), neighbor_weights(found, 10.0, np.array([3]))
    (array([[0.73, 0.27]], dtype=float32), array([[0., 1.]], dtype=float32))
    """
    cosines = found.products
    if own is not None:
        kin = found.ids == own[:, np.newaxis]
        if groups is not None:
            kin |= groups[found.ids] == groups[own][:, np.newaxis]
        cosines = np.where(kin, -np.inf, cosines)
    weights = vote_weights(cosines, gamma)
    # A row without known features lies nowhere: nothing is near to it.
    weights[~(found.products != 0).any(axis=1)] = 0.0
    return weights
