"""A row is nearer to its labels than to others: the joint loss of Gerald and Baskiotis (2019).

With u_j the point of row j, v_i that of one of its labels, and k over labels that it does not have,

    L(j, i) = −log  e^{−α d(u_j, v_i)} / ( Σ_k e^{−α d(u_j, v_k)} + e^{−α d(u_j, v_i)} )

where d is the distance of the space. A row's labels do not compete with each other. The loss is the
mean over rows of the mean over their labels, or of the sum over them, as the paper has it.

The paper's future work is a term "able to bring closer examples with most similar labels and
repulse examples sharing few labels". With v over rows whose label sets have a cosine of at least
one half to that of row j, and k over the others, that is the same loss with rows u_v for labels.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.models.hyperbolic import _loss_kernels as kernels

SPACES = {
    "poincare": kernels.POINCARE,
    "sphere": kernels.SPHERE,
    "euclidean": kernels.EUCLIDEAN,
}

Floats = NDArray[np.float64]

# Label sets with at least this cosine are similar.
_SIMILAR = 0.5


def approach_labels(
    U: Floats,
    V: Floats,
    has: NDArray[np.bool_],
    alpha: float,
    space: str = "poincare",
    weights: NDArray[np.float64] | None = None,
    *,
    summed: bool = False,
) -> tuple[float, Floats, Floats]:
    """Return the loss and its gradients at rows ``U`` and at labels ``V``.

    Parameters
    ----------
    U : ndarray of shape (n, dim), float64
    V : ndarray of shape (n_labels, dim), float64
        Points of the candidate labels.
    has : ndarray of shape (n, n_labels), bool
        The labels of each row; a row that has none of them is left out.
    alpha : float
        Sharpness.
    space : {"poincare", "sphere", "euclidean"}
        Points of the ball must have a norm below one, and those of the sphere the norm one; on
        the sphere gradients are those of the space around it.
    weights : ndarray of shape (n_labels,), optional
        What a label counts among those a row does not have; one unless given.
    summed : bool
        Whether a row's loss is the sum over its labels instead of the mean.
    """
    weights = np.ones(len(V)) if weights is None else weights
    row_squares = np.einsum("ij,ij->i", U, U)
    label_squares = np.einsum("ij,ij->i", V, V)
    nearness, pull = np.empty((2, len(U), len(V)))
    stretch = np.zeros((len(U), len(V)))
    kernels.measure(SPACES[space], U @ V.T, row_squares, label_squares, nearness, pull, stretch)
    if space == "poincare":
        np.log(nearness, out=nearness)
    elif space == "sphere":
        np.arcsin(nearness, out=nearness)
    nearness *= -alpha if space == "euclidean" else -2.0 * alpha
    nearness -= nearness.max(axis=1, initial=-np.inf, keepdims=True)
    np.exp(nearness, out=nearness)
    loss = kernels.contrast(nearness, has, weights, alpha, summed, pull, stretch)
    at_rows = pull.sum(axis=1)[:, np.newaxis] * U - pull @ V
    at_labels = pull.sum(axis=0)[:, np.newaxis] * V - pull.T @ U
    if space == "poincare":
        at_rows += (2.0 * stretch.sum(axis=1) / (1.0 - row_squares))[:, np.newaxis] * U
        at_labels += (2.0 * stretch.sum(axis=0) / (1.0 - label_squares))[:, np.newaxis] * V
    return loss, at_rows, at_labels


def approach_rows(
    U: Floats, Y: csr_matrix, alpha: float, space: str = "poincare", *, summed: bool = False
) -> tuple[float, Floats]:
    """Return the loss of rows against rows by their label sets ``Y``, and its gradient at ``U``.

    Rows of the first half are compared with those of the second; a row to which none of them has
    similar labels is left out. The loss is the sum over the rows that are left; that of a row is
    the mean over the rows similar to it, or with ``summed`` the sum.
    """
    half = len(U) // 2
    sizes = np.maximum(np.diff(Y.indptr), 1)
    shared = np.asarray((Y[:half] @ Y[half:].T).todense())
    similar = np.square(shared) >= _SIMILAR**2 * sizes[:half, np.newaxis] * sizes[half:]
    loss, at_first, at_second = approach_labels(
        U[:half], U[half:], similar, alpha, space, summed=summed
    )
    n_used = int(similar.any(axis=1).sum())
    return n_used * loss, n_used * np.concatenate((at_first, at_second))
