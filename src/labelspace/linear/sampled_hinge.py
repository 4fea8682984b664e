"""Linear classifiers, one per label, that learn from few of the rows that lack it.

A classifier w with bias b minimises the squared hinge loss

    ½‖w‖² + ½b² + C Σ_i v_i max(0, 1 − y_i (w·x_i + b))²

over its positives (all rows that have the label), its hard negatives (rows for which a retriever
proposes the label though they lack it) and some negatives drawn at random. The first two weigh
v = 1; those drawn stand for all rows that were not, so that the sum is about that over all rows.
Training then costs a multiple of the number of labels given, not rows × labels.

Some rows can be held out: each label is trained without them, its weights are noted, and a few more
passes take them in. So one visit to a label gives both the classifier to keep and one whose scores
on the rows held out are honest.

Columns that nearly all rows have, vectors of an encoder, are multiplied as they lie in memory, and
their weights are never cut.
"""

from __future__ import annotations

import ctypes
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_matrix, csr_matrix

from labelspace import engine, threads
from labelspace.csr import dense_tail, split_dense
from labelspace.linear import _sampled_hinge_kernels as kernels
from labelspace.linear.chunks import solve_chunks

LABELS_PER_CALL = 512
FEWEST_ROWS = 20  # that a label costs, beside its own: for dealing labels out


class Classifiers(NamedTuple):
    """Weights (n_labels, n_features) and biases (n_labels,) of linear classifiers."""

    weights: csr_matrix
    biases: NDArray[np.float32]


def train_sampled_hinge(
    X: csr_matrix,
    Y: csr_matrix,
    hard: csr_matrix,
    *,
    held_out: NDArray[np.bool_] | None = None,
    labels: NDArray[np.integer] | None = None,
    C: float = 1.0,
    per_positive: float = 5.0,
    fewest: int = 100,
    heaviest: float = 100.0,
    tol: float = 0.5,
    max_passes: int = 8,
    more_passes: int = 3,
    min_weight: float = 0.0,
    n_threads: int | None = None,
    seed: int = 0,
) -> tuple[Classifiers, Classifiers]:
    """Return the classifiers of all rows, and those of the rows that are not held out.

    Parameters
    ----------
    X, Y : csr_matrix of shape (n_examples, n_features) and (n_examples, n_labels)
    hard : csr_matrix of shape (n_examples, n_labels)
        Labels that each row lacks but might be taken to have; where it has them they are ignored.
    held_out : ndarray of bool (n_examples,), optional
    labels : ndarray, optional
        The labels to train; the others get no weights and a bias of -1. All unless given.
    per_positive, fewest, heaviest : float, int, float
        How many negatives are drawn: ``fewest`` and so many for each positive; and how many rows
        one that was drawn may stand for.
    tol, max_passes, more_passes : float, int, int
        Spread of the dual gradient at which passes end; passes over a label's rows at most, and
        over those with the rows held out.
    C, min_weight, n_threads, seed
        As in :func:`labelspace.linear.squared_hinge.train_squared_hinge`.

    Examples
    --------
    >>> X, Y = csr_matrix([[1.0, 0.0], [0.0, 1.0]]), csr_matrix([[1.0, 0.0], [0.0, 0.0]])
    >>> (weights, biases), _ = train_sampled_hinge(X, Y, csr_matrix((2, 2)), C=100.0, tol=1e-4)
    >>> (X @ weights.T.toarray() + biases).round(1)
    array([[ 1., -1.],
           [-1., -1.]])
    """
    chunks = _chunks(Y, labels, n_threads)
    if held_out is None:
        held_out = np.zeros(X.shape[0], dtype=np.bool_)
    drawing = float(per_positive), fewest, float(heaviest)
    limits = float(C), np.float32(tol), max_passes, more_passes, np.float32(min_weight)
    inputs = _inputs(X, Y, hard, held_out), (*drawing, *limits, seed)
    solved = [
        _SolvedTwice(*part)
        for part in solve_chunks(_solve, inputs, chunks, "training classifiers", n_threads)
    ]
    every, honest = (_put_together(solved, chunks, turn, Y.shape[1], X.shape[1]) for turn in (1, 0))
    return every, honest


def _chunks(
    Y: csr_matrix, labels: NDArray[np.integer] | None, n_threads: int | None
) -> list[NDArray[np.int64]]:
    """Deal the labels out, the largest first, so that threads end together."""
    chosen = np.arange(Y.shape[1]) if labels is None else np.asarray(labels, dtype=np.int64)
    counts = np.bincount(Y.indices, minlength=Y.shape[1])
    order = chosen[np.argsort(-counts[chosen], kind="stable")]
    if engine.is_active():
        work = FEWEST_ROWS + counts[order]
        return [order[part] for part in engine.blocks_of_equal_work(work, most=LABELS_PER_CALL)]
    n_chunks = max(
        len(order) // LABELS_PER_CALL, min(4 * threads.resolve(n_threads), len(order)), 1
    )
    return [order[start::n_chunks] for start in range(n_chunks)]


def _inputs(
    X: csr_matrix, Y: csr_matrix, hard: csr_matrix, held_out: NDArray[np.bool_]
) -> tuple[Any, ...]:
    """Return the first arguments of the kernel: the rows, and who has and who is taken for what."""
    positives, confused = csc_matrix(Y), csc_matrix(hard)
    lengths = np.zeros(X.shape[0], dtype=np.float32)
    filled = np.diff(X.indptr) > 0
    lengths[filled] = np.add.reduceat(np.square(X.data), X.indptr[:-1][filled])
    X, dense = split_dense(X, dense_tail(X))
    rows = X.indptr, X.indices, np.ascontiguousarray(X.data, dtype=np.float32), lengths, X.shape[1]
    lists = positives.indptr, positives.indices, confused.indptr, confused.indices
    return *rows, dense, *lists, held_out


def _solve(inputs: tuple[Any, ...], chunk: NDArray[np.int64]) -> _SolvedTwice:
    rows, options = inputs
    return _SolvedTwice(*kernels.solve(*rows, chunk, *options))


class _SolvedTwice(NamedTuple):
    """What the kernel gives for a chunk of labels; of all rows second, without some first."""

    biases: NDArray[np.float32]
    ends: NDArray[np.int64]
    partial_features: NDArray[np.int32]
    partial_values: NDArray[np.float32]
    full_features: NDArray[np.int32]
    full_values: NDArray[np.float32]


def _put_together(
    solved: list[_SolvedTwice],
    chunks: list[NDArray[np.int64]],
    turn: int,
    n_labels: int,
    n_features: int,
) -> Classifiers:
    """Return the classifiers of one turn; what ``solved`` has of it is let go on the way.

    With millions of labels the weights are most of the memory, so that they are never there twice.
    """
    features, values = _SolvedTwice._fields[2 + 2 * turn : 4 + 2 * turn]
    counts = np.zeros(n_labels, dtype=np.int64)
    biases = np.full(n_labels, -1.0, dtype=np.float32)
    for chunk, part in zip(chunks, solved, strict=True):
        counts[chunk] = np.diff(part.ends[turn], prepend=0)
        biases[chunk] = part.biases[turn]
    indptr = np.concatenate(([0], np.cumsum(counts)))
    data = np.empty(indptr[-1], dtype=np.float32)
    indices = np.empty(indptr[-1], dtype=np.int32)
    for number, chunk in enumerate(chunks):
        part = solved[number]
        starts = part.ends[turn] - counts[chunk]
        place = np.repeat(indptr[chunk] - starts, counts[chunk])
        place += np.arange(len(place))
        data[place], indices[place] = getattr(part, values), getattr(part, features)
        let_go: dict[str, Any] = {features: None, values: None}
        solved[number] = part._replace(**let_go)
    _give_back()
    weights = csr_matrix((data, indices, indptr), shape=(n_labels, n_features))
    weights.sort_indices()
    return Classifiers(weights, biases)


def _give_back() -> None:
    """Let the system have memory that was let go piece by piece, which glibc keeps otherwise."""
    with suppress(AttributeError, OSError, TypeError):  # of other systems
        ctypes.CDLL(None).malloc_trim(0)
