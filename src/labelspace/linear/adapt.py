"""Let a trained map catch up with new rows while the old rows stay where they are.

Vectors of old rows are stored, their features are not, so the map may only move as far as old
queries still find them. New rows are contrasted with the stored vectors of their label-graph
neighbours, which stay fixed; only features that new rows have are moved, and features never seen
before get their first weights.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.encoders.linear import LinearEncoder
from labelspace.graph.label_knn import LabelGraph
from labelspace.linear.contrastive import ContrastiveSettings, MapStep, alike, batches
from labelspace.linear.contrastive_loss import contrast
from labelspace.search.result import places_of
from labelspace.spaces import sphere


class StoredRows(Protocol):
    """Where old rows are kept: the numbers of those that are, and their vectors."""

    @property
    def ids(self) -> NDArray[np.integer]:
        """The numbers of the rows that are here."""

    def vectors(self, ids: NDArray[np.integer]) -> NDArray[np.float32]:
        """Return the vectors of some rows, all of which are there."""


def adapt_map(
    encoder: LinearEncoder,
    X: csr_matrix,
    Y: csr_matrix,
    graph: LabelGraph,
    first_new: int,
    stored: StoredRows,
    settings: ContrastiveSettings,
    seed: int,
) -> None:
    """Train ``encoder`` on with new rows.

    Parameters
    ----------
    X : csr_matrix
        The new rows, of unit length.
    Y : csr_matrix
        Labels of all rows; the new ones are the last, from ``first_new``.
    graph : LabelGraph
        Neighbours of the new rows among all rows.
    stored : index of the old rows
        A row that it does not have, such as one without features, lies nowhere: nothing is drawn
        to it, whatever its labels are.
    """
    rng = np.random.default_rng(seed)
    features, columns = np.unique(X.indices, return_inverse=True)
    if not features.size:
        return
    V = encoder.to_float(features)
    unknown = ~V.any(axis=1)
    V[unknown] = rng.standard_normal((int(unknown.sum()), V.shape[1])) / np.sqrt(V.shape[1])
    local = csr_matrix(
        (X.data, columns.astype(X.indices.dtype), X.indptr), shape=(X.shape[0], features.size)
    )
    step = MapStep(local, V)
    near = np.unique(graph.neighbors).astype(np.int64)
    near = near[(near >= 0) & (near < first_new)]
    placed = places_of(stored.ids, near) >= 0
    graph, near = graph.without(near[~placed]), near[placed]
    near_vectors = stored.vectors(near)
    for anchors, partners, progress in batches(local, graph, settings, rng):
        U, norms = sphere.project(step.encode(anchors))
        fixed = np.empty_like(U)
        old = partners < first_new
        fixed[old] = near_vectors[np.searchsorted(near, partners[old])]
        fixed[~old] = sphere.keys(np.asarray(local[partners[~old] - first_new] @ V))
        ignored = alike(Y, anchors + first_new, partners)
        _, gradient, _ = contrast(U, fixed, settings.gamma, ignored=ignored, symmetric=False)
        pace = settings.learning_rate * (1.0 - progress)
        step.descend(sphere.pull_back(gradient, U, norms), pace)
    encoder.replace(features, V)
