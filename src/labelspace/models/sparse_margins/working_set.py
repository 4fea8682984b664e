"""Sparse linear classifiers, one per label, each learned on the rows that it needs.

Three problems, for a label with s_i = 1 on its rows and −1 on all others:

    hinge               min_w  ½‖w‖² + λ‖w‖₁ + C Σ_i max(0, 1 − s_i w·x_i)
    squared hinge dual  min_w  ½‖w‖² + λ‖w‖₁ + C Σ_i max(0, 1 − s_i w·x_i)²
    squared hinge       min_w  ‖w‖₁ + C Σ_i max(0, 1 − s_i w·x_i)²

The first two are solved in the dual: w is Σ α_i s_i x_i with λ taken off each entry, so both w and
α are sparse. An α is at most C with the hinge; with its square nothing bounds it, and α²/(4C) is
added. The third is solved by proximal steps on the features (``linear``). All begin with a label's
positives and a few negatives and go on with negatives that violate their margin by more than
``tol``; when there are none left, the answer is that of all rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_matrix, csr_matrix

from labelspace import engine, threads
from labelspace.linear.chunks import solve_chunks
from labelspace.linear.squared_hinge import LinearClassifiers, SolverRows
from labelspace.models.sparse_margins import _working_set_kernels as kernels

LOSSES = {
    "hinge": kernels.HINGE_DUAL,
    "squared_hinge_dual": kernels.SQUARED_HINGE_DUAL,
    "squared_hinge": kernels.SQUARED_HINGE_L1,
}
N_STARTERS = 200  # rows that begin as negatives in every label's working set
_CHUNKS_PER_THREAD = 16


class _Solved(NamedTuple):
    """What the kernel gives for a chunk of labels."""

    counts: NDArray[np.int64]
    features: NDArray[np.int32]
    values: NDArray[np.float32]
    rounds: NDArray[np.int64]


def train_sparse(
    X: csr_matrix,
    Y: csr_matrix,
    *,
    loss: str,
    C: float = 1.0,
    shrink: float = 0.0,
    tol: float = 0.1,
    max_rounds: int = 20,
    max_passes: int = 50,
    positive_weights: NDArray[np.float64] | None = None,
    n_threads: int | None = None,
    seed: int = 0,
) -> LinearClassifiers:
    """Train one sparse linear classifier per label.

    Parameters
    ----------
    X : csr_matrix of shape (n_examples, n_features)
    Y : csr_matrix of shape (n_examples, n_labels)
    loss : {"hinge", "squared_hinge_dual", "squared_hinge"}
        Which of the three problems is solved.
    C : float
        Weight of the loss.
    shrink : float
        λ of the first two problems.
    tol : float
        Violation of a margin of 1 that is let pass.
    max_rounds : int
        Times at most that a label is learned and looks for more negatives.
    max_passes : int
        Passes of each solver at most.
    positive_weights : ndarray of shape (n_labels,), optional
        By how much a label's own rows count more than others, in the third problem.
    seed : int
        The answer is the same for the same seed, whatever the number of threads.

    Examples
    --------
    >>> X = csr_matrix([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]], dtype=np.float32)
    >>> Y = csr_matrix([[1], [1], [0]], dtype=np.float32)
    >>> weights, biases, _ = train_sparse(X, Y, loss="hinge", C=10.0, shrink=0.1, tol=0.001)
    >>> bool(np.all((X @ weights.T.toarray() + biases > 0) == Y.toarray()))
    True
    """
    rows, labels = SolverRows.of(X), csc_matrix(Y)
    labels.sort_indices()
    starters = np.random.default_rng(seed).permutation(X.shape[0])[:N_STARTERS].astype(np.int32)
    positives = labels.indptr.astype(np.int64), labels.indices.astype(np.int32)
    costs = C * (np.ones(Y.shape[1]) if positive_weights is None else positive_weights)
    arrays = *_both_ways(rows), *positives, costs
    limits = float(C), float(shrink), float(tol), max_rounds, max_passes, seed
    inputs = arrays, (starters, LOSSES[loss], *limits)

    chunks = _chunks(np.diff(labels.indptr), n_threads)
    found = solve_chunks(_solve, inputs, chunks, "training classifiers", n_threads)
    solved = [_Solved(*part) for part in found]
    return _put_together(solved, chunks, rows.feature_of, (Y.shape[1], X.shape[1]))


def _chunks(n_rows: NDArray[Any], n_threads: int | None) -> list[NDArray[np.int64]]:
    """Return the labels that are learned together, those with most rows first."""
    problems = np.argsort(-n_rows, kind="stable")[: np.count_nonzero(n_rows)]
    if engine.is_active():
        parts = engine.blocks_of_equal_work(N_STARTERS + n_rows[problems])
        return [problems[part] for part in parts]
    n_chunks = min(len(problems), _CHUNKS_PER_THREAD * threads.resolve(n_threads))
    return [problems[start::n_chunks] for start in range(n_chunks)]


def _solve(inputs: tuple[Any, ...], chunk: NDArray[np.int64]) -> _Solved:
    arrays, options = inputs
    return _Solved(*kernels.train_labels(*arrays, chunk, *options))


def _both_ways(rows: SolverRows) -> tuple[Any, ...]:
    """Return the rows as the kernels want them, by row and by column."""
    n_rows, n_features = len(rows.lengths), len(rows.feature_of)
    by_row = csr_matrix(
        (rows.data, rows.indices.astype(np.int32), rows.indptr), shape=(n_rows, n_features)
    )
    by_column = csc_matrix(by_row)
    return (
        *(rows.indptr, by_row.indices, rows.data, rows.lengths, n_features),
        *(by_column.indptr.astype(np.int64), by_column.indices, by_column.data),
    )


def _put_together(
    solved: list[_Solved],
    chunks: list[NDArray[np.int64]],
    feature_of: NDArray[np.int64],
    shape: tuple[int, int],
) -> LinearClassifiers:
    """Return the classifiers of all labels; one without rows has a bias of -1 and no weights."""
    biases = np.full(shape[0], -1.0, dtype=np.float32)
    owners = [np.repeat(chunk, part.counts) for chunk, part in zip(chunks, solved, strict=True)]
    owner = np.concatenate([np.zeros(0, dtype=np.int64), *owners])
    features = np.concatenate([np.zeros(0, dtype=np.int32), *(part.features for part in solved)])
    values = np.concatenate([np.zeros(0, dtype=np.float32), *(part.values for part in solved)])
    constant = features == 0
    biases[owner[constant]] = values[constant]
    keep = ~constant & (values != 0)
    weights = csr_matrix(
        (values[keep], (owner[keep], feature_of[features[keep]])), shape=shape, dtype=np.float32
    )
    weights.sort_indices()
    return LinearClassifiers(weights, biases, max(int(part.rounds.max()) for part in solved))
