"""Linear classifiers that learn new rows from where they are.

A classifier w₀ has learned rows whose features are gone. With new rows it becomes the w that
minimises

    ½‖w − w₀‖² + C' Σ_i v_i max(0, 1 − y_i (w·x_i + b))²

over the new rows alone: w₀ is where the pulls of the old rows cancel, so near it they only hold it
back. The more old rows have the label the more they do, and C' = C / (1 + inertia · n_old). Its
bias stays. A label without old rows starts from nothing; its negatives are the new rows without it
and some old ones that were kept, which stand for all. Rows and weights v are chosen as in
``linear.sampled_hinge``.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_matrix, csr_matrix, vstack

from labelspace import threads
from labelspace.csr import empty_csr
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
    reservoir: csr_matrix,
    *,
    C: float = 1.0,
    n_examples: int,
    inertia: float = 0.1,
    n_drawn: int = 100,
    heaviest: float = 100.0,
    n_passes: int = 5,
    min_weight: float = 0.0,
    is_partial: bool = False,
    n_threads: int | None = None,
    seed: int = 0,
) -> Classifiers:
    """Return the classifiers of ``labels``, in this order, after learning some rows.

    Parameters
    ----------
    X, Y, hard : csr_matrix
        Rows to learn, their labels, and labels that they lack but might be taken to have; rows
        that are ``is_partial`` are no negatives of others.
    labels, n_before : ndarray of shape (n,)
        Labels to train, ascending, and how many old rows have each (``n_drawn`` negatives if any).
    classifiers, reservoir : SparseIndex, csr_matrix
        Classifiers of the old labels, and some of the ``n_examples`` old rows.
    C, heaviest, min_weight, seed
        As for ``train_sampled_hinge``; ``n_passes`` go over a label's rows.

    Examples
    --------
    >>> X, Y = csr_matrix([[1.0, 0.0]]), csr_matrix([[0.0, 1.0]])
    >>> old = SparseIndex(csr_matrix([[0.0, 1.0]]))
    >>> weights, biases = learn_on(X, Y, csr_matrix((1, 2)), np.array([1]), np.array([0]), old,
    ...     reservoir=csr_matrix([[0.0, 1.0]]), C=100.0, n_examples=1, n_passes=50)
    >>> (csr_matrix([[1.0, 0.0], [0.0, 1.0]]) @ weights.T.toarray() + biases).round(1).ravel()
    array([ 1., -1.])
    """
    start = _start(classifiers, labels)
    is_new = n_before == 0
    rows, Y, hard = _beside(X, Y, hard, reservoir, is_partial)
    n_own = 0 if is_partial else X.shape[0]  # rows that may be drawn as negatives
    of_each = (
        np.asarray(labels, dtype=np.int64),
        np.where(is_new, rows.shape[0], n_drawn),
        np.where(is_new, n_own + reservoir.shape[0], n_own),
        np.where(is_new, n_examples + X.shape[0], X.shape[0]).astype(np.float64),
        C / (1.0 + inertia * n_before),
        is_new.astype(np.float32),
    )
    options = (float(heaviest), n_passes, np.float32(min_weight), seed)
    solve = _solver(rows, Y, hard, start, of_each, options)
    with ThreadPoolExecutor(threads.resolve(n_threads)) as pool:
        parts = list(pool.map(solve, range(0, len(labels), LABELS_PER_CALL)))
    return Classifiers(csr_matrix(vstack([start.weights[:0], *parts])), start.biases)


def _beside(
    X: csr_matrix, Y: csr_matrix, hard: csr_matrix, reservoir: csr_matrix, is_partial: bool
) -> tuple[csr_matrix, csr_matrix, csr_matrix]:
    """Return new rows and old ones, with labels and hard negatives of the new.

    Negatives are drawn among the first, so that the old come first where the new are none.
    """
    if not is_partial:
        return csr_matrix(vstack([X, reservoir], format="csr"), dtype=np.float32), Y, hard
    above = empty_csr(reservoir.shape[0], Y.shape[1])
    Y, hard = (csr_matrix(vstack([above, one], format="csr")) for one in (Y, hard))
    return csr_matrix(vstack([reservoir, X], format="csr"), dtype=np.float32), Y, hard


def _start(classifiers: SparseIndex, labels: NDArray[np.integer]) -> Classifiers:
    """Return the classifiers that there are, and empty ones below them for labels beyond."""
    known = labels[labels < classifiers.n_keys]
    weights, biases = classifiers.some(known)
    n_new = len(labels) - len(known)
    empty = empty_csr(n_new, weights.shape[1])
    return Classifiers(
        csr_matrix(vstack([weights, empty], format="csr")),
        np.concatenate((biases, np.full(n_new, _BIAS_OF_NEW))).astype(np.float32),
    )


def _solver(
    rows: csr_matrix,
    Y: csr_matrix,
    hard: csr_matrix,
    start: Classifiers,
    of_each: tuple[NDArray[Any], ...],
    options: tuple[Any, ...],
) -> Callable[[int], csr_matrix]:
    """Return what trains a chunk of labels from the first on, and replaces their biases.

    ``of_each`` has for each label its number, the negatives to draw, the rows to draw them from,
    the rows that they stand for, C, and whether the bias moves.
    """
    lengths = np.asarray(rows.multiply(rows).sum(axis=1), dtype=np.float32).ravel()
    positives, confused = csc_matrix(Y), csc_matrix(hard)
    given = (rows.indptr, rows.indices, rows.data, lengths, rows.shape[1])
    lists = (positives.indptr, positives.indices, confused.indptr, confused.indices)

    def solve(first: int) -> csr_matrix:
        chunk = slice(first, first + LABELS_PER_CALL)
        before = csr_matrix(start.weights[chunk])
        ends, features, values = kernels.solve(
            *given,
            *lists,
            before.indptr,
            before.indices,
            before.data,
            start.biases[chunk],
            *(values[chunk] for values in of_each),
            *options,
        )
        learned = csr_matrix((values, features, np.concatenate(([0], ends))), before.shape)
        learned.sort_indices()
        return learned

    return solve
