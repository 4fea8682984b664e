"""Linear classifiers with squared hinge loss, one per label, all on the same rows.

For a label with y_i = 1 on its rows and -1 on all others, the classifier w minimises

    ½‖w‖² + C Σ_i max(0, 1 − y_i w·x_i)²

where x_i has a constant 1 beside its features, whose weight is the bias. In the dual, w is
Σ_i α_i y_i x_i with α ≥ 0, and α_i = 0 for every row that w gets right with room to spare. With
thousands of labels nearly all rows are such negatives: of 45,000 laws a typical label needs a few
hundred. So a label is trained by coordinate descent on a working set, its positives and some
negatives; then a pass over all rows looks for negatives that violate their margin. They join the
working set, those with α = 0 leave it, and so on until no row violates by more than ``tol``. That
is the stopping rule of descent on all rows, so the answer is the same, at a small part of the
cost: the passes over all rows are few, and one pass serves 32 labels at the cost of about four.

Columns that nearly all rows have, vectors of an encoder, are multiplied as they lie in memory, and
in the passes over all rows by BLAS; their weights are never cut.

Labels that have the same rows have the same classifier, which is computed once. A label without
rows gets no weights and a bias of -1, as any negative does.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_matrix, csr_matrix
from sklearn.exceptions import ConvergenceWarning

from labelspace import engine, threads
from labelspace.csr import dense_tail, split_dense
from labelspace.linear import _squared_hinge_kernels as kernels
from labelspace.linear.chunks import solve_chunks

MOST_SLOTS = 32  # labels that share a pass: their weights for a feature are two cache lines
BYTES_PER_THREAD = 2**29  # fewer slots where so many would need more
N_STARTERS = 200  # rows that begin as negatives in every label's working set
LABELS_PER_CALL = 512


class LinearClassifiers(NamedTuple):
    """Weights (n, n_features) and biases (n,) of n classifiers, and the most passes one took."""

    weights: csr_matrix
    biases: NDArray[np.float32]
    n_iter: int


def train_squared_hinge(X: csr_matrix, Y: csr_matrix, **how: Any) -> LinearClassifiers:
    """Train one linear classifier per label; see ``train_with_held_out`` for the parameters.

    Examples
    --------
    >>> X, Y = csr_matrix([[1.0, 0.0], [0.0, 1.0]]), csr_matrix([[1.0, 0.0], [0.0, 0.0]])
    >>> weights, biases, _ = train_squared_hinge(X, Y, C=100.0, tol=1e-4)
    >>> (X @ weights.T.toarray() + biases).round(1)
    array([[ 1., -1.],
           [-1., -1.]])
    """
    return train_with_held_out(X, Y, np.zeros(X.shape[0], dtype=np.bool_), **how)[0]


def train_with_held_out(
    X: csr_matrix,
    Y: csr_matrix,
    held_out: NDArray[np.bool_],
    *,
    C: float = 1.0,
    tol: float = 0.1,
    max_iter: int = 1000,
    min_weight: float = 0.0,
    n_threads: int | None = None,
    seed: int = 0,
) -> tuple[LinearClassifiers, LinearClassifiers]:
    """Return the classifiers of all rows, and those of the rows that are not held out.

    The second are on the way to the first, so that both cost little more than one of them.

    Parameters
    ----------
    X : csr_matrix of shape (n_examples, n_features)
    Y : csr_matrix of shape (n_examples, n_labels)
    held_out : ndarray of bool (n_examples,)
    C : float
        Weight of the loss against the length of w.
    tol : float
        Largest violation of a margin of 1 that is let pass.
    max_iter : int
        Passes over a label's working set at most; a warning counts the labels that needed more.
    min_weight : float
        Weights closer to zero are left out; biases stay.
    n_threads : int, optional
    seed : int
        The answer is the same for the same seed, whatever the number of threads.
    """
    labels = csc_matrix(Y)
    labels.sort_indices()
    problems, problem_of_label = _distinct(labels)
    words, dense = split_dense(X, dense_tail(X))
    rows = SolverRows.of(words)
    lengths = rows.lengths + np.einsum("ij,ij->i", dense, dense)
    starters = np.random.default_rng(seed).permutation(X.shape[0])[:N_STARTERS].astype(np.int32)
    positives = labels.indptr.astype(np.int64), labels.indices.astype(np.int32)
    n_slots = _n_slots(len(rows.feature_of) + dense.shape[1], X.shape[0])
    limits = float(C), np.float32(tol), max_iter, np.float32(min_weight), n_slots, seed
    given = *rows._replace(lengths=lengths).arrays, dense
    inputs = (*given, *positives, held_out), starters, limits
    chunks = _chunks(problems, np.diff(labels.indptr)[problems], n_threads)
    with threads.limit(1 if dense.size else None):  # of BLAS, in each of our own
        found = solve_chunks(_solve, inputs, chunks, "training classifiers", n_threads)
    solved = [_SolvedLabels(*part) for part in found]
    _warn_of_unfinished(solved, max_iter)
    feature_of = np.concatenate((rows.feature_of, np.arange(words.shape[1], X.shape[1])))
    every = _put_together(solved, 1, feature_of, problem_of_label, X.shape[1])
    if not held_out.any():
        return every, every
    return every, _put_together(solved, 0, feature_of, problem_of_label, X.shape[1])


class SolverRows(NamedTuple):
    """The rows as the kernels want them.

    A constant 1 comes first, then the features by falling frequency, so that weights which are
    used together lie together; features that no row has are left out.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.uint32]
    data: NDArray[np.float32]
    lengths: NDArray[np.float32]
    feature_of: NDArray[np.int64]

    @classmethod
    def of(cls, X: csr_matrix) -> SolverRows:
        n_rows = X.shape[0]
        frequency = np.bincount(X.indices, minlength=X.shape[1])
        by_frequency = np.argsort(-frequency, kind="stable")[: np.count_nonzero(frequency)]
        place = np.zeros(X.shape[1], dtype=np.int64)
        place[by_frequency] = np.arange(1, len(by_frequency) + 1)
        indptr = X.indptr.astype(np.int64) + np.arange(n_rows + 1)
        is_feature = np.ones(X.nnz + n_rows, dtype=bool)
        is_feature[indptr[:-1]] = False
        indices = np.zeros(X.nnz + n_rows, dtype=np.int64)
        indices[is_feature] = place[X.indices]
        data = np.ones(X.nnz + n_rows, dtype=np.float32)
        data[is_feature] = X.data
        rows = csr_matrix((data, indices, indptr), shape=(n_rows, len(by_frequency) + 1))
        rows.sort_indices()
        lengths = np.add.reduceat(np.square(rows.data), rows.indptr[:-1])
        return cls(
            rows.indptr.astype(np.int64),
            rows.indices.astype(np.uint32),
            rows.data,
            lengths,
            np.concatenate(([-1], by_frequency)),
        )

    @property
    def arrays(self) -> tuple[Any, ...]:
        """The first arguments of the kernels: the rows, their squared lengths, and the width."""
        return self.indptr, self.indices, self.data, self.lengths, len(self.feature_of)


def _chunks(
    problems: NDArray[np.int64], n_positives: NDArray[np.integer], n_threads: int | None
) -> list[NDArray[np.int64]]:
    """Deal problems out, as the threads want them or, to an engine, by their working sets."""
    if engine.is_active():
        least, most = MOST_SLOTS, LABELS_PER_CALL
        parts = engine.blocks_of_equal_work(N_STARTERS + n_positives, least=least, most=most)
        return [problems[part] for part in parts]
    size = len(problems) // (4 * threads.resolve(n_threads))
    size = int(np.clip(size, MOST_SLOTS, LABELS_PER_CALL))
    return [problems[start : start + size] for start in range(0, len(problems), size)]


def _solve(inputs: tuple[Any, ...], chunk: NDArray[np.int64]) -> _SolvedLabels:
    rows, starters, limits = inputs
    return _SolvedLabels(*kernels.solve(*rows, chunk, starters, *limits))


class _SolvedLabels(NamedTuple):
    """What the kernel gives for a chunk of problems; of all rows second, without some first."""

    counts: NDArray[np.int64]
    biases: NDArray[np.float32]
    partial_features: NDArray[np.int32]
    partial_values: NDArray[np.float32]
    full_features: NDArray[np.int32]
    full_values: NDArray[np.float32]
    passes: NDArray[np.int64]
    converged: NDArray[np.bool_]


def _distinct(labels: csc_matrix) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return one label for each different set of rows, and for each label its set's number.

    The sets come by falling size, so that threads end together; the empty set's number is -1.
    """
    number_of_rows: dict[bytes, int] = {b"": -1}
    number_of_label = np.empty(labels.shape[1], dtype=np.int64)
    order = np.argsort(-np.diff(labels.indptr), kind="stable")
    problems: list[int] = []
    for label in order.tolist():
        rows = labels.indices[labels.indptr[label] : labels.indptr[label + 1]].tobytes()
        number = number_of_rows.setdefault(rows, len(problems))
        if number == len(problems):
            problems.append(label)
        number_of_label[label] = number
    return np.array(problems, dtype=np.int64), number_of_label


def _n_slots(n_features: int, n_rows: int) -> int:
    """Return how many labels a thread may hold in its share of memory."""
    per_row = 16  # a row and its alpha in the working set, a row and its score among violations
    per_slot = 4 * n_features + per_row * n_rows
    return int(np.clip(BYTES_PER_THREAD // per_slot, 1, MOST_SLOTS))


def _warn_of_unfinished(solved: list[_SolvedLabels], max_iter: int) -> None:
    n_unfinished = sum(int(np.count_nonzero(~part.converged)) for part in solved)
    if n_unfinished:
        warnings.warn(
            f"{n_unfinished} classifiers did not reach tol in max_iter={max_iter} passes: "
            "raise max_iter or tol, or scale the features.",
            ConvergenceWarning,
            stacklevel=3,
        )


def _put_together(
    solved: list[_SolvedLabels],
    turn: int,
    feature_of: NDArray[np.int64],
    problem_of_label: NDArray[np.int64],
    n_features: int,
) -> LinearClassifiers:
    # The last row, number -1, is that of labels that no row has.
    solved = [*solved, _nothing()]
    counts = np.concatenate([part.counts[turn] for part in solved])
    weights = csr_matrix(
        (
            np.concatenate([part[3 + 2 * turn] for part in solved]),
            feature_of[np.concatenate([part[2 + 2 * turn] for part in solved])],
            np.concatenate(([0], np.cumsum(counts))),
        ),
        shape=(len(counts), n_features),
    )
    biases = np.concatenate([part.biases[turn] for part in solved])
    weights = csr_matrix(weights[problem_of_label])
    weights.sort_indices()
    n_iter = max(int(part.passes.max()) for part in solved)
    return LinearClassifiers(weights, biases[problem_of_label], n_iter)


def _nothing() -> _SolvedLabels:
    """Return the solution of a label without rows: no weights and a bias of -1."""
    features, values = np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.float32)
    return _SolvedLabels(
        np.zeros((2, 1), dtype=np.int64),
        np.full((2, 1), -1.0, dtype=np.float32),
        *(features, values, features, values),
        passes=np.ones(1, dtype=np.int64),
        converged=np.ones(1, dtype=bool),
    )
