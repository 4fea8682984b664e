"""A straight way from rows to labels, to stand beside networks that go by hidden layers.

The map is ``label_ridge``: labels lie at random on a sphere, and rows go to the middle of their
labels by ridge regression, which trusts no feature more than its rows warrant. Networks, whose
steps are of one size for all features, learn rare ones by heart; so the two err differently.

Cosines are no logits. Two numbers, learned on rows that the map was not made from, turn them into
such: a label's score is a·cos + b.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace import metrics
from labelspace.encoders.network import NetworkEncoder
from labelspace.linear.label_ridge import label_ridge
from labelspace.linear.logistic_regression import PSEUDO_ROWS, logistic_regression
from labelspace.models.neuralxc.dense_layers import DenseLayers
from labelspace.models.neuralxc.label_network import LabelNetwork
from labelspace.search.exact import ExactIndex
from labelspace.topk import TopK

Floats = NDArray[np.float32]

# Labels nearest to a row, from which it is learned what a cosine says.
N_NEAREST = 40
MOST_HELD_OUT = 1000
SHARE_HELD_OUT = 0.05
# Where a and b are drawn to if there is little to learn them from.
PRIOR = np.array([20.0, -6.0])


def calibrated_ridge(
    X: csr_matrix,
    Y: csr_matrix,
    dim: int,
    storage: str = "int8",
    n_threads: int | None = None,
    seed: int = 0,
) -> LabelNetwork:
    """Return the linear map of rows to ``dim`` dimensions, and labels in them.

    Examples
    --------
    >>> X = csr_matrix(np.eye(2, dtype=np.float32)[np.arange(100) % 2])
    >>> labels = calibrated_ridge(X, X, dim=16)
    >>> scores = labels.last_hidden(X[:1]) @ labels.weights.T + labels.biases
    >>> bool(scores[0, 0] > 0 > scores[0, 1])
    True
    """
    order = np.random.default_rng(seed).permutation(X.shape[0])
    n_held_out = min(MOST_HELD_OUT, int(SHARE_HELD_OUT * X.shape[0]))
    held_out, kept = np.sort(order[:n_held_out]), np.sort(order[n_held_out:])
    W, mean, V = label_ridge(X[kept], Y[kept], dim, seed=seed, n_threads=n_threads)
    encoder = NetworkEncoder(W, mean, [], storage=storage)
    Z = encoder.encode(X[held_out])
    nearest = ExactIndex(V).search(Z, N_NEAREST)
    a, b = _calibrated(TopK(nearest.ids, nearest.products), Y[held_out])
    mean_hidden = encoder.encode(X[kept[:MOST_HELD_OUT]]).mean(axis=0)
    return LabelNetwork(
        encoder,
        DenseLayers([], []),
        (a * V).astype(np.float32),
        np.full(Y.shape[1], b, dtype=np.float32),
        mean_hidden,
        own_score=_mean_own_cosine(Z, V, Y[held_out]) * a + b,
        mean_score=float((V @ mean_hidden).mean()) * a + b,
        unit=True,
    )


def _calibrated(nearest: TopK, Y: csr_matrix) -> tuple[float, float]:
    """Return a and b of a·cos + b, by logistic regression on each row's nearest labels."""
    if not Y.shape[0]:
        return float(PRIOR[0]), float(PRIOR[1])
    cosines = nearest.scores.ravel().astype(np.float64)
    there = metrics.hits(Y, nearest).ravel() > 0
    a, b = logistic_regression(
        np.column_stack((cosines, np.ones_like(cosines))), there, PRIOR, PSEUDO_ROWS
    )
    return max(float(a), 1.0), float(b)


def _mean_own_cosine(Z: Floats, V: Floats, Y: csr_matrix) -> float:
    """Return the mean cosine between rows and their own labels."""
    if not Y.nnz:
        return 0.5
    rows = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))
    return float(np.einsum("ij,ij->i", Z[rows], V[Y.indices]).mean())
