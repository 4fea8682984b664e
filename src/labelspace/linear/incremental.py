"""Linear classifiers that learn new rows from where they are.

A classifier w₀ has learned rows whose features are gone. With new rows it becomes the w that
minimises

    ½‖w − w₀‖² + C' Σ_i v_i max(0, 1 − y_i (w·x_i + b))²

over the new rows alone: w₀ is where the pulls of the old rows cancel, so near it they only hold it
back. The more old rows have the label the more they do, and C' = C / (1 + inertia · n_old). Its
bias stays. A label without old rows starts from nothing; its negatives are the new rows without it
and some old ones that were kept, which stand for all. Rows and weights v are chosen as in
``training.sampled_hinge``.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_matrix, csr_matrix, vstack

from labelspace import threads
from labelspace.linear import _incremental_kernels as kernels
from labelspace.linear.sampled_hinge import Classifiers
from labelspace.search.sparse import SparseIndex

LABELS_PER_CALL = 64
_BIAS_OF_NEW = -1.0


def learn_on(
    X: csr_matrix,
    Y: csr_matrix,
    hard: csr_matrix,
    labels: NDArray[np.integer],
    n_before: NDArray[np.integer],
    classifiers: SparseIndex,
    background: csr_matrix,
    *,
    C: float = 1.0,
    n_examples: int,
    inertia: float = 0.1,
    n_drawn: int = 100,
    heaviest: float = 100.0,
    n_passes: int = 5,
    min_weight: float = 0.0,
    n_threads: int | None = None,
    seed: int = 0,
) -> Classifiers:
    """Return the classifiers of ``labels``, in this order, after learning some rows.

    Parameters
    ----------
    X, Y, hard : csr_matrix
        Rows to learn, their labels, and labels that they lack but might be taken to have.
    labels, n_before : ndarray of shape (n,)
        Labels to train, ascending, and how many old rows have each.
    classifiers : SparseIndex
        Classifiers of the old labels.
    background : csr_matrix
        Some old rows.
    n_examples : int
        Number of old rows.
    n_drawn : int
        Negatives that are drawn for a label with old rows; others take all that there are.
    C, heaviest, min_weight, seed
        As for ``train_sampled_hinge``.
    n_passes : int
        Passes over a label's rows.

    Examples
    --------
    >>> X, Y = csr_matrix([[1.0, 0.0]]), csr_matrix([[0.0, 1.0]])
    >>> old = SparseIndex(csr_matrix([[0.0, 1.0]]))
    >>> weights, biases = learn_on(X, Y, csr_matrix((1, 2)), np.array([1]), np.array([0]), old,
    ...     background=csr_matrix([[0.0, 1.0]]), C=100.0, n_examples=1, n_passes=50)
    >>> (csr_matrix([[1.0, 0.0], [0.0, 1.0]]) @ weights.T.toarray() + biases).round(1).ravel()
    array([ 1., -1.])
    """
    is_new = n_before == 0
    start = _start(classifiers, labels)
    rows = csr_matrix(vstack([X, background], format="csr"), dtype=np.float32)
    lengths = np.asarray(rows.multiply(rows).sum(axis=1), dtype=np.float32).ravel()
    positives, confused = csc_matrix(Y), csc_matrix(hard)
    n_choices = np.where(is_new, rows.shape[0], X.shape[0])
    drawn = np.where(is_new, rows.shape[0], n_drawn)
    stand_for = np.where(is_new, n_examples + X.shape[0], X.shape[0]).astype(np.float64)
    C_of_each = C / (1.0 + inertia * n_before)

    def solve(first: int) -> csr_matrix:
        chunk = slice(first, first + LABELS_PER_CALL)
        weights = csr_matrix(start.weights[chunk])
        ends, features, values = kernels.solve(
            rows.indptr,
            rows.indices,
            rows.data,
            lengths,
            rows.shape[1],
            positives.indptr,
            positives.indices,
            confused.indptr,
            confused.indices,
            weights.indptr,
            weights.indices,
            weights.data,
            start.biases[chunk],
            np.asarray(labels[chunk], dtype=np.int64),
            drawn[chunk],
            n_choices[chunk],
            stand_for[chunk],
            C_of_each[chunk],
            is_new[chunk].astype(np.float32),
            float(heaviest),
            n_passes,
            np.float32(min_weight),
            seed,
        )
        learned = csr_matrix((values, features, np.concatenate(([0], ends))), weights.shape)
        learned.sort_indices()
        return learned

    with ThreadPoolExecutor(threads.resolve(n_threads)) as pool:
        parts = list(pool.map(solve, range(0, len(labels), LABELS_PER_CALL)))
    if not parts:
        return start
    return Classifiers(csr_matrix(vstack(parts, format="csr")), start.biases)


def _start(classifiers: SparseIndex, labels: NDArray[np.integer]) -> Classifiers:
    """Return the classifiers that there are, and empty ones below them for labels beyond."""
    known = labels[labels < classifiers.n_keys]
    weights, biases = classifiers.some(known)
    n_new = len(labels) - len(known)
    empty = csr_matrix((n_new, weights.shape[1]), dtype=np.float32)
    return Classifiers(
        csr_matrix(vstack([weights, empty], format="csr")),
        np.concatenate((biases, np.full(n_new, _BIAS_OF_NEW))).astype(np.float32),
    )
