"""SMCE on label embeddings: another label graph and another partition for AnnexML.

Rows of a corpus lie where their labels put them: each label set is a point, the leading singular
vectors of the label matrix are the axes, and rows with the same labels coincide. On a sample of
these points SMCE chooses neighbours (``smce_graph``) or finds clusters (``smce_partition``).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, diags
from sklearn.utils.extmath import randomized_svd

from labelspace.encoders.partition import Partition
from labelspace.graph.label_knn import LabelGraph
from labelspace.manifold.self_expression import SelfExpression, express
from labelspace.manifold.smce import SMCE, distinct_rows

DIM = 50
SAMPLE = 20_000


def label_vectors(Y: csr_matrix, dim: int = DIM, seed: int = 0) -> NDArray[np.float64]:
    """Return a unit vector for each row's labels, zero for a row that has none.

    Labels count by the inverse of the square root of their frequency, so that rare ones are heard.
    """
    counts = np.maximum(np.bincount(Y.indices, minlength=Y.shape[1]), 1)
    weighted = csr_matrix(csr_matrix(Y, dtype=np.float64) @ diags(1 / np.sqrt(counts)))
    dim = min(dim, min(Y.shape))
    _, _, axes = randomized_svd(weighted, dim, n_iter=3, random_state=seed)
    Z = np.asarray(weighted @ axes.T)
    lengths = np.linalg.norm(Z, axis=1, keepdims=True)
    Z = np.divide(Z, lengths, out=np.zeros_like(Z), where=lengths > 1e-9)
    # The same labels give the same vector up to rounding; rounded, they coincide.
    return np.round(Z, 9)


def smce_graph(
    Y: csr_matrix,
    n_neighbors: int = 10,
    *,
    n_candidates: int = 50,
    penalty: float = 10.0,
    sample: int = SAMPLE,
    seed: int = 0,
    n_threads: int | None = None,
) -> LabelGraph:
    """Return the label graph of SMCE's choice: rows with the same labels, then those it chose.

    Examples
    --------
    >>> Y = csr_matrix([[1, 1, 0], [1, 1, 0], [1, 0, 0], [0, 0, 1], [0, 1, 1]])
    >>> smce_graph(Y, n_neighbors=1).neighbors[:2].tolist()
    [[1], [0]]
    """
    n = Y.shape[0]
    Z = label_vectors(Y, seed=seed)
    labelled = np.flatnonzero(Z.any(axis=1))
    chosen = _sampled(labelled, sample, seed)
    neighbors = np.full((n, n_neighbors), -1, dtype=np.int32)
    similarities = np.zeros((n, n_neighbors), dtype=np.float32)
    firsts, group = distinct_rows(Z[chosen])
    points = Z[chosen[firsts]]
    if len(points) > 1:
        solved = express(
            points, n_candidates=n_candidates, penalty=penalty, tol=1e-6, n_threads=n_threads
        )
        groups = _Groups(chosen, group, len(points), n_neighbors)
        _fill(neighbors, similarities, chosen, *groups.of_members(solved))
        others = np.setdiff1d(labelled, chosen)
        if others.size:
            placed = express(
                points, Z[others], n_candidates=n_candidates, penalty=penalty, n_threads=n_threads
            )
            _fill(neighbors, similarities, others, *groups.of_strangers(placed, solved))
    elif chosen.size > 1:
        turns = 1 + np.arange(min(n_neighbors, chosen.size - 1))
        at = (np.arange(chosen.size)[:, None] + turns) % chosen.size
        _fill(neighbors, similarities, chosen, chosen[at], np.ones(at.shape))
    return LabelGraph(neighbors, similarities)


def smce_partition(
    X: csr_matrix,
    Y: csr_matrix,
    n_parts: int,
    seed: int,
    *,
    sample: int = SAMPLE,
    n_threads: int | None = None,
) -> Partition:
    """Return the partition whose scorers are the feature centroids of SMCE's clusters of labels.

    Where the labels have fewer distinct places than parts, there are fewer parts.
    """
    Z = label_vectors(Y, seed=seed)
    chosen = _sampled(np.flatnonzero(Z.any(axis=1)), sample, seed)
    n_places = len(distinct_rows(Z[chosen])[0])
    n_parts = min(n_parts, n_places)
    if n_parts < 2:
        return Partition(csr_matrix(np.ones((X.shape[1], 1), dtype=np.float32)))
    model = SMCE(n_parts, tol=1e-6, random_state=seed, n_threads=n_threads)
    # Learners call this from threads of their own, which must not set the number of threads.
    model._fit(Z[chosen])
    members = csr_matrix(
        (np.ones(chosen.size), (chosen, model.labels_)), shape=(X.shape[0], n_parts)
    )
    sums = (X.T @ members).toarray()
    lengths = np.linalg.norm(sums, axis=0)
    return Partition(csr_matrix(sums / np.where(lengths > 0, lengths, 1.0)))


class _Groups:
    """The sampled rows, by the point at which they lie."""

    def __init__(
        self, rows: NDArray[np.int64], group: NDArray[np.int64], n_groups: int, n_neighbors: int
    ) -> None:
        order = np.argsort(group, kind="stable")
        self.sizes = np.bincount(group, minlength=n_groups)
        self.starts = np.cumsum(self.sizes) - self.sizes
        self.rows = rows[order]
        self.group = group
        self.rank = np.empty_like(order)
        self.rank[order] = np.arange(order.size) - self.starts[group[order]]
        self.n_neighbors = n_neighbors

    def of_members(self, solved: SelfExpression) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return neighbours of the sampled rows and how strong they are."""
        near, weights = self._best(solved)
        same, ones = self._same(self.group, self.rank, 0)
        other = self._members(near[self.group], self.rank[:, None])
        found = np.where(weights[self.group] > 0, other, -1)
        return np.hstack((same, found)), np.hstack((ones, weights[self.group]))

    def of_strangers(
        self, placed: SelfExpression, solved: SelfExpression
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the same for rows outside of the sample, some of which lie where a group does."""
        near, weights = self._best(placed)
        turn = np.arange(len(near))
        at_home = (placed.distances == 0).any(axis=1)
        home = placed.candidates[turn, placed.distances.argmin(axis=1)]
        group_near, group_weights = self._best(solved)
        near = np.where(at_home[:, None], group_near[home], near)
        weights = np.where(at_home[:, None], group_weights[home], weights)
        same, ones = self._same(home, turn, 1)
        same[~at_home] = -1
        found = np.where(weights > 0, self._members(near, turn[:, None]), -1)
        return np.hstack((same, found)), np.hstack((ones, weights))

    def _best(self, solved: SelfExpression) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the points with the largest weights, largest first."""
        edges = solved.edges()
        order = np.argsort(-edges, axis=1, kind="stable")[:, : self.n_neighbors]
        return (
            np.take_along_axis(solved.candidates, order, axis=1),
            np.take_along_axis(edges, order, axis=1),
        )

    def _same(
        self, group: NDArray[np.int64], rank: NDArray[np.int64], strangers: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the other rows of each row's group, in turn from its own place on."""
        turns = 1 + np.arange(self.n_neighbors)
        rows = self._members(group[:, None], rank[:, None] + turns)
        there = turns < self.sizes[group][:, None] + strangers
        return np.where(there, rows, -1), there.astype(np.float64)

    def _members(self, group: NDArray[np.int64], turn: NDArray[np.int64]) -> NDArray[np.int64]:
        return self.rows[self.starts[group] + turn % self.sizes[group]]


def _fill(
    neighbors: NDArray[np.int32],
    similarities: NDArray[np.float32],
    rows: NDArray[np.int64],
    found: NDArray[np.int64],
    weights: NDArray[np.float64],
) -> None:
    """Write what is found into the rows of a graph, without gaps."""
    order = np.argsort(found < 0, axis=1, kind="stable")[:, : neighbors.shape[1]]
    kept = np.take_along_axis(found, order, axis=1)
    neighbors[rows, : kept.shape[1]] = kept
    strength = np.take_along_axis(weights, order, axis=1)
    similarities[rows, : kept.shape[1]] = np.where(kept >= 0, strength, 0.0)


def _sampled(rows: NDArray[np.int64], n: int, seed: int) -> NDArray[np.int64]:
    if rows.size <= n:
        return rows
    return np.sort(np.random.default_rng(seed).choice(rows, n, replace=False))
