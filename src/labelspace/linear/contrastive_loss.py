"""Contrast in a batch: each anchor should be nearer to its partner than to anybody else's.

AnnexML's softmax on γ·cos, with the other partners of the batch as negatives instead of rows drawn
for every pair, so that a batch of n anchors costs 2n embeddings and gives n² comparisons:

    S = γ · A·Bᵀ        A, B: unit vectors of anchors and partners
    loss = Σ_i −log( e^{S_ii} / Σ_j e^{S_ij} )
         + Σ_j −log( e^{S_jj} / Σ_i e^{S_ij} )        the same seen from the partners

Pairs (i, j) that are about as alike as a row and its own partner are no negatives: leave them out
of the sums with ``ignored``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

# Keeps a sum of vanishing terms from becoming a division by zero.
_TINY = 1e-30


def contrast(
    anchors: Floats,
    partners: Floats,
    gamma: float,
    *,
    ignored: NDArray[np.bool_] | None = None,
    symmetric: bool = True,
) -> tuple[float, Floats, Floats]:
    """Return the loss and its gradients at ``anchors`` and ``partners`` (unit vectors, n × dim).

    Parameters
    ----------
    anchors, partners : ndarray of shape (n, dim)
        Row i of one belongs to row i of the other.
    gamma : float
        Sharpness of the softmax; at most 40 or so, for e^{γ(cos − 1)} to stay a float.
    ignored : ndarray of bool (n, n), optional
        Pairs that are no negatives; the diagonal must be False.
    symmetric : bool
        Whether partners also choose among anchors.

    Examples
    --------
    >>> import numpy as np
    >>> loss, *_ = contrast(np.eye(2, dtype=np.float32), np.eye(2, dtype=np.float32), gamma=10.0)
    >>> loss < 0.001
    True
    """
    cosines: Floats = anchors @ partners.T
    right = np.diagonal(cosines).copy()
    # e^{γ(cos − 1)}, in place: the matrix is the largest thing here.
    similar = cosines
    similar -= 1.0
    similar *= gamma
    np.exp(similar, out=similar)
    if ignored is not None:
        similar[ignored] = 0.0
    by_anchor = similar.sum(axis=1, keepdims=True) + _TINY
    loss = np.log(by_anchor).sum() - gamma * (right - 1.0).sum()
    share: Floats = 1.0 / by_anchor
    if symmetric:
        by_partner = similar.sum(axis=0, keepdims=True) + _TINY
        loss += np.log(by_partner).sum() - gamma * (right - 1.0).sum()
        share = share + 1.0 / by_partner
    # dL/dS = softmax − 1 on the diagonal, once for each side.
    slope: Floats = similar
    slope *= share
    slope.flat[:: slope.shape[0] + 1] -= 2.0 if symmetric else 1.0
    slope *= gamma
    return float(loss), slope @ partners, slope.T @ anchors
