"""Sparse linear classifiers of all labels together, each row against the labels that violate it.

For row i with labels P and all others N, and scores z_l = w_l·x_i, the loss is a margin of 1
between the row's labels and all others:

    each      Σ_{p ∈ P} max(0, max_{n ∈ N} 1 + z_n − z_p)      every label of the row counts
    worst     max(0, max_{p ∈ P, n ∈ N} 1 + z_n − z_p)         the worst pair counts

    min_W  ½‖W‖² + λ‖W‖₁ + C Σ_i loss_i

In the dual w_l is Σ_i α_il x_i with λ taken off each entry; the α of a row's own labels are
positive, those of others negative, and their sums are the same. Nearly all are zero: a row's α move
for its active labels only. A search (the linear step of Frank and Wolfe) lets the labels join that
score highest, passes over the rows (the fully corrective step) settle the α of what is active.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from labelspace.linear.squared_hinge import LinearClassifiers, SolverRows
from labelspace.models.sparse_margins import _active_labels_kernels as kernels


def train_together(
    X: csr_matrix,
    Y: csr_matrix,
    *,
    loss: str = "each",
    C: float = 1.0,
    shrink: float = 0.0,
    tol: float = 0.01,
    max_searches: int = 5,
    max_passes: int = 3,
    n_joining: int = 5,
    seed: int = 0,
) -> LinearClassifiers:
    """Train one sparse linear classifier per label, all of them together, on one thread.

    Parameters
    ----------
    X : csr_matrix of shape (n_examples, n_features)
    Y : csr_matrix of shape (n_examples, n_labels)
    loss : {"each", "worst"}
        Whether every label of a row is to stand above all others, or the worst pair counts.
    C, shrink : float
        C and λ.
    tol : float
        Learning ends when the α move by this share of their sum.
    max_searches, max_passes : int
        Searches at most, and passes over the rows after each, that of the search included.
    n_joining : int
        Labels that join in a search at most.

    Examples
    --------
    >>> X = csr_matrix([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]], dtype=np.float32)
    >>> Y = csr_matrix([[1, 0], [1, 0], [0, 1]], dtype=np.float32)
    >>> weights, biases, _ = train_together(X, Y, C=10.0, shrink=0.01)
    >>> (X @ weights.T.toarray() + biases).argmax(axis=1)
    array([0, 0, 1])
    """
    rows = SolverRows.of(X)
    n_features = len(rows.feature_of)
    # A label that no row has says nothing: it stands below all others.
    given = np.flatnonzero(np.bincount(Y.indices, minlength=Y.shape[1]))
    place = np.zeros(Y.shape[1], dtype=np.int32)
    place[given] = np.arange(len(given))
    (features, labels, values, biases), n_searches = kernels.train_rows(
        *(rows.indptr, rows.indices.astype(np.int32), rows.data, rows.lengths, n_features),
        *(Y.indptr.astype(np.int64), place[Y.indices], len(given)),
        *(float(C), loss == "worst", float(shrink), float(tol)),
        *(max_searches, max_passes, n_joining, seed),
    )
    weights = csr_matrix(
        (values, (given[labels], rows.feature_of[features])),
        shape=(Y.shape[1], X.shape[1]),
        dtype=np.float32,
    )
    weights.sort_indices()
    all_biases = np.full(Y.shape[1], biases.min(initial=0.0) - 1.0, dtype=np.float32)
    all_biases[given] = biases
    return LinearClassifiers(weights, all_biases, int(n_searches))
