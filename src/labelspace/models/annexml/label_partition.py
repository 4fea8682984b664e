"""A partition of the rows by linear scores: a row belongs where its score is largest.

AnnexML divides a large corpus so that each part can have a map and an index of its own; a new row
is sent to a part by the same scores. Its objective: with c_i = argmax_c w_c·x_i the part that row i
is in now,

    max  Σ_{j ∈ neighbours of i} log σ(w_{c_i}·x_j) + Σ_{n random} log σ(−w_{c_i}·x_n) − λ‖w‖₁

so the label-graph neighbours of a row are drawn into its part, random rows are driven out of it,
and weights that matter little are exactly zero. Solved as the original program does, row by row
with FTRL-proximal. Spherical k-means on the features, ``encoders.partition``, is the plain
alternative.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.encoders.partition import Partition, random_rows
from labelspace.graph.label_knn import LabelGraph
from labelspace.models.annexml import _partition_kernels as kernels


def balanced(scores: NDArray[np.float32], slack: float = 0.1) -> NDArray[np.int64]:
    """Return a part for each row such that no part has more than its share and some slack.

    Rows that would lose most by going elsewhere choose first.

    >>> import numpy as np
    >>> balanced(np.array([[3, 0], [2, 0], [1, 0], [1, 0]], dtype=np.float32), slack=0.0)
    array([0, 0, 1, 1])
    """
    n_rows, n_parts = scores.shape
    room = np.full(n_parts, int(np.ceil((1 + slack) * n_rows / n_parts)))
    ranked = np.argsort(-scores, axis=1, kind="stable")
    in_order = np.take_along_axis(scores, ranked, axis=1)
    loss = in_order[:, 0] - in_order[:, 1] if n_parts > 1 else in_order[:, 0]
    parts = np.empty(n_rows, dtype=np.int64)
    for row in np.argsort(-loss, kind="stable"):
        part = next(part for part in ranked[row] if room[part] > 0)
        parts[row] = part
        room[part] -= 1
    return parts


def learn_partition(
    X: csr_matrix,
    graph: LabelGraph,
    n_parts: int,
    seed: int,
    *,
    n_epochs: int = 10,
    learning_rate: float = 0.1,
    l1: float = 4.0,
) -> Partition:
    """Return the partition of AnnexML's objective for rows of unit length."""
    rng = np.random.default_rng(seed)
    W = random_rows(X, n_parts, rng)
    # FTRL derives weights from sums of gradients: these are the sums of which W is the outcome.
    sums = np.where(W != 0, W / learning_rate + np.sign(W) * l1, 0.0)
    state = np.stack((W, sums, np.ones_like(W)), axis=2).astype(np.float32)
    usable = np.flatnonzero((graph.n_neighbors > 0) & (np.diff(X.indptr) > 0))
    for _ in range(n_epochs):
        kernels.partition_epoch(
            X.indptr,
            X.indices,
            X.data,
            graph.neighbors,
            rng.permutation(usable),
            rng.integers(X.shape[0], size=(usable.size, graph.neighbors.shape[1])),
            rng.random(usable.size),
            np.float32(learning_rate),
            np.float32(l1),
            state,
        )
    return Partition(csr_matrix(state[:, :, kernels.WEIGHT]))
