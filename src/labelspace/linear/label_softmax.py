"""Rows near their labels: each label of a row should be nearer to it than labels that it lacks.

Labels have vectors on the sphere beside the rows'. A softmax over all labels would make the labels
of one row compete with each other; here each competes with the row's negatives only. For row i with
labels P_i and candidates N_i that it lacks, at S = γ · U·Wᵀ + b, where the bias b lets a frequent
label be likely without being near to everything,

    loss_i = 1/|P_i| Σ_{p ∈ P_i} −log( e^{S_ip} / (e^{S_ip} + Σ_{n ∈ N_i} e^{S_in}) )
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

# Keeps a sum of vanishing terms from becoming a division by zero.
_TINY = 1e-30


def label_softmax_loss(
    rows: Floats, labels: Floats, biases: Floats, has: NDArray[np.bool_], gamma: float
) -> tuple[float, Floats, Floats, Floats]:
    """Return the loss and its gradients at ``rows``, ``labels`` and ``biases``.

    Parameters
    ----------
    rows, labels : ndarray of shape (n, dim) and (m, dim)
        Unit vectors of rows and of candidate labels.
    biases : ndarray of shape (m,)
    has : ndarray of bool (n, m)
        Which row has which of the labels; a row that has none counts for nothing.
    gamma : float
        Sharpness of the softmax; at most 40 or so.

    Examples
    --------
    >>> import numpy as np
    >>> eye = np.eye(2, dtype=np.float32)
    >>> label_softmax_loss(eye, eye, np.zeros(2, dtype=np.float32), eye > 0, gamma=10.0)[0] < 0.001
    True
    """
    products: Floats = rows @ labels.T
    similar = products
    similar -= 1.0
    similar *= gamma
    similar += biases
    positive_logits = similar[has]
    np.exp(similar, out=similar)
    n_labels = has.sum(axis=1)
    share = 1.0 / np.maximum(n_labels, 1)
    row_of = np.repeat(np.arange(len(rows)), n_labels)
    positive = similar[has]
    similar[has] = 0.0
    negatives = similar.sum(axis=1) + _TINY
    totals = positive + negatives[row_of]
    loss = float((share[row_of] * (np.log(totals) - positive_logits)).sum())
    # dL/dS of a negative: its part of every softmax that it is in; of a positive: softmax − 1.
    weight = np.bincount(row_of, weights=share[row_of] / totals, minlength=len(rows))
    slope: Floats = similar
    slope *= weight[:, np.newaxis].astype(slope.dtype)
    slope[has] = (share[row_of] * (positive / totals - 1.0)).astype(slope.dtype)
    at_biases: Floats = slope.sum(axis=0)
    slope *= gamma
    return loss, slope @ labels, slope.T @ rows, at_biases
