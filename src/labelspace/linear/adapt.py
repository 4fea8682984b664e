"""Let a trained map catch up with new rows while the old rows stay where they are.

Vectors of old rows are stored, their features are not, so the map may only move as far as old
queries still find them. New rows are contrasted with the stored vectors of their label-graph
neighbours, which stay fixed; only features that new rows have are moved, and features never seen
before get their first weights.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.encoders.linear import LinearEncoder
from labelspace.graph.label_knn import LabelGraph
from labelspace.linear.contrastive import ContrastiveSettings, MapStep, alike, batches
from labelspace.linear.contrastive_loss import contrast
from labelspace.spaces import sphere


def adapt_map(
    encoder: LinearEncoder,
    X: csr_matrix,
    Y: csr_matrix,
    graph: LabelGraph,
    first_new: int,
    vectors: Callable[[NDArray[np.int64]], NDArray[np.float32]],
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
    vectors : callable
        Gives the stored vectors of old rows by their numbers.
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
    neighbors = graph.neighbors
    stored = np.unique(neighbors[(neighbors >= 0) & (neighbors < first_new)]).astype(np.int64)
    stored_vectors = vectors(stored)
    for anchors, partners, progress in batches(local, graph, settings, rng):
        U, norms = sphere.project(step.encode(anchors))
        fixed = np.empty_like(U)
        old = partners < first_new
        fixed[old] = stored_vectors[np.searchsorted(stored, partners[old])]
        fixed[~old] = sphere.keys(np.asarray(local[partners[~old] - first_new] @ V))
        ignored = alike(Y, anchors + first_new, partners)
        _, gradient, _ = contrast(U, fixed, settings.gamma, ignored=ignored, symmetric=False)
        pace = settings.learning_rate * (1.0 - progress)
        step.descend(sphere.pull_back(gradient, U, norms), pace)
    encoder.replace(features, V)
