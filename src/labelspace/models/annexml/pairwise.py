"""Learn a map as the original program does: row by row, and a step for every pair.

For each row the k neighbours P of the label graph stand against k rows Q that are drawn from the
part, the same for all neighbours,

    ℓ_i = Σ_{p ∈ P} −log e^{γ cos(z_i,z_p)} / ( e^{γ cos(z_i,z_p)} + Σ_{n ∈ Q} e^{γ cos(z_i,z_n)} )

and each of the 2k pairs takes a step of AdaGrad by itself, on the features of both its rows.
Nothing is masked and steps do not get smaller. ``linear.contrastive`` is what is learned by
default: one of the neighbours a pass, the batch's other rows to stand against it, one step for the
whole batch.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.graph.label_knn import LabelGraph
from labelspace.models.annexml import _pair_kernels as kernels
from labelspace.models.annexml.settings import AnnexMLSettings
from labelspace.progress import task
from labelspace.selection import usable_rows

_LANES = 16


def train_pairs(
    X: csr_matrix, Y: csr_matrix, graph: LabelGraph, settings: AnnexMLSettings, seed: int
) -> NDArray[np.float32]:
    """Return the weights (n_features, dim) for rows ``X`` of unit length and their label graph.

    Rows to stand against neighbours are drawn from all that have features and labels, also from
    those that have no neighbours. Features that no row has get zero weights: at prediction they
    would be noise.
    """
    rng = np.random.default_rng(seed)
    bound = max(X.nnz / max(X.shape[0], 1), 1.0) ** -0.5
    # Loops over whole vector registers are three times as quick: dimensions of zeros stay zeros.
    V = np.zeros((X.shape[1], -(-settings.dim // _LANES) * _LANES), dtype=np.float32)
    V[:, : settings.dim] = rng.uniform(-bound, bound, size=(X.shape[1], settings.dim))
    V[np.bincount(X.indices, minlength=X.shape[1]) == 0] = 0.0
    squares = np.ones_like(V)
    drawn_from = usable_rows(X, Y)
    usable = np.flatnonzero((graph.n_neighbors > 0) & (np.diff(X.indptr) > 0))
    shape = usable.size, graph.neighbors.shape[1]
    with task("learning a map", settings.n_epochs) as advance:
        for _ in range(settings.n_epochs if usable.size else 0):
            kernels.pair_epoch(
                X.indptr,
                X.indices,
                X.data,
                graph.neighbors,
                rng.permutation(usable),
                drawn_from[rng.integers(drawn_from.size, size=shape)],
                np.float32(settings.gamma),
                np.float32(settings.learning_rate),
                V,
                squares,
            )
            advance(1)
    return np.ascontiguousarray(V[:, : settings.dim])
