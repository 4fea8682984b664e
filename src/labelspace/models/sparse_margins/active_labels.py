"""Sparse linear classifiers of all labels together, each row against the labels that violate it.

For row i with labels P and all others N, and scores z_l = w_l·x_i, the loss is a margin of 1
between the row's labels and all others:

    threshold  min_{t ≥ 1} Σ_{p ∈ P} max(0, 1 + t − z_p)² + Σ_{n ∈ N} max(0, 1 + z_n − t)²
    each       Σ_{p ∈ P} max(0, max_{n ∈ N} 1 + z_n − z_p)     every label of the row counts
    worst      max(0, max_{p ∈ P, n ∈ N} 1 + z_n − z_p)        the worst pair counts

    min_W  ½‖W‖² + λ‖W‖₁ + C Σ_i loss_i

The threshold t is the row's own, and what is best for its loss. It is at least 1, so that a label
without weights, whose score is 0, violates no margin.

In the dual w_l is Σ_i α_il x_i with λ taken off each entry; the α of a row's own labels are
positive, those of others negative. Their sums are the same; with a threshold that stands at 1, that
of its own labels may be larger. Nearly all are zero: a row's α move for its active labels only. A
search (the linear step of Frank and Wolfe) lets the labels join that score highest, passes over the
rows (the fully corrective step) settle the α of what is active. Afterwards, passes without λ can
settle the weights that are not zero again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.linear.squared_hinge import LinearClassifiers, SolverRows
from labelspace.models.sparse_margins import _active_labels_kernels as kernels
from labelspace.models.sparse_margins._row_margins_kernels import EACH, THRESHOLD, WORST

LOSSES = {"threshold": THRESHOLD, "each": EACH, "worst": WORST}


def train_together(
    X: csr_matrix,
    Y: csr_matrix,
    *,
    loss: str = "threshold",
    C: float = 1.0,
    shrink: float = 0.0,
    constant: float = 1.0,
    own_features: bool = False,
    tol: float = 0.01,
    max_searches: int = 5,
    max_passes: int = 3,
    n_joining: int = 5,
    slack: float = 0.0,
    n_post_passes: int = 0,
    seed: int = 0,
) -> LinearClassifiers:
    """Train one sparse linear classifier per label, all together, on one thread.

    Parameters
    ----------
    X : csr_matrix of shape (n_examples, n_features)
    Y : csr_matrix of shape (n_examples, n_labels)
    loss : {"threshold", "each", "worst"}
    C, shrink : float
        C and λ.
    constant : float
        Value of the feature that all rows have, whose weight makes the bias and is not shrunk.
    own_features : bool
        Whether a label has weights only for features that rows of its own have.
    tol : float
        Learning ends when α move by this share of their sum.
    max_searches, max_passes, n_joining : int
        Searches at most, passes over the rows from each to the next, labels that join in one.
    slack : float
        Violation of a margin that lets no label join.
    n_post_passes : int
        Passes without λ at most, for the weights that are not zero then.

    Examples
    --------
    >>> X = csr_matrix([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]], dtype=np.float32)
    >>> Y = csr_matrix([[1, 0], [1, 0], [0, 1]], dtype=np.float32)
    >>> weights, biases, _ = train_together(X, Y, C=10.0, shrink=0.01)
    >>> (X @ weights.T.toarray() + biases).argmax(axis=1)
    array([0, 0, 1])
    """
    rows = _with_constant(SolverRows.of(X), constant)
    given = np.flatnonzero(np.bincount(Y.indices, minlength=Y.shape[1]))
    place = np.zeros(Y.shape[1], dtype=np.int32)
    place[given] = np.arange(len(given))
    truth = Y.indptr.astype(np.int64), place[Y.indices], len(given)
    found, n_searches = kernels.train_rows(
        *(rows.indptr, rows.indices.astype(np.int32), rows.data, rows.lengths),
        *(len(rows.feature_of), *truth, *_pairs(rows, *truth, own_features)),
        *(float(C), LOSSES[loss], float(shrink), float(tol), max_searches, max_passes),
        *(n_joining, float(slack), n_post_passes, seed),
    )
    weights, biases = _of_all_labels(found, given, rows.feature_of, (Y.shape[1], X.shape[1]))
    return LinearClassifiers(weights, np.float32(constant) * biases, int(n_searches))


def _of_all_labels(
    found: tuple[NDArray[Any], ...],
    given: NDArray[np.int64],
    feature_of: NDArray[np.int64],
    shape: tuple[int, int],
) -> tuple[csr_matrix, NDArray[np.float32]]:
    """Return weights and biases of all labels; one that no row has stands below all others."""
    features, labels, values, biases = found
    at = given[labels], feature_of[features]
    weights = csr_matrix((values, at), shape=shape, dtype=np.float32)
    weights.sort_indices()
    all_biases = np.full(shape[0], biases.min(initial=0.0) - 1.0, dtype=np.float32)
    all_biases[given] = biases
    return weights, all_biases


def _with_constant(rows: SolverRows, constant: float) -> SolverRows:
    """Return rows whose first feature, a constant one, has another value."""
    data = rows.data.copy()
    data[rows.indptr[:-1]] = constant
    lengths = (rows.lengths - 1.0 + constant**2).astype(np.float32)
    return rows._replace(data=data, lengths=lengths)


def _pairs(
    rows: SolverRows,
    label_ptr: NDArray[np.int64],
    labels: NDArray[np.int32],
    n_labels: int,
    own_features: bool,
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the labels whose own rows have a feature, for each; none if weights are for all."""
    n_rows, n_features = len(rows.lengths), len(rows.feature_of)
    if not own_features:
        return np.zeros(n_features + 1, dtype=np.int64), np.zeros(0, dtype=np.int32)
    with_feature = csr_matrix(
        (np.ones(len(rows.data), dtype=np.float32), rows.indices.astype(np.int32), rows.indptr),
        shape=(n_rows, n_features),
    )
    with_label = csr_matrix(
        (np.ones(len(labels), dtype=np.float32), labels, label_ptr), shape=(n_rows, n_labels)
    )
    pairs = csr_matrix(with_feature.T @ with_label)
    return pairs.indptr.astype(np.int64), pairs.indices.astype(np.int32)
