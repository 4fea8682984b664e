"""Settings that are chosen on rows held out: draw the rows, try the settings, take the best.

``usable_rows``, ``hold_out`` and ``split_rows`` say which rows are held out; ``best_choice`` takes
what has the best figure there, or is preferred among what is nearly as good. ``best_of`` does all
of it for a method that can be trained on some rows and asked about others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace import metrics
from labelspace.errors import DataError
from labelspace.topk import TopK

N_ROWS = 5000
FEWEST_ROWS = 500  # with fewer there is nothing to tell from

Choice = TypeVar("Choice")


def best_choice(
    choices: Sequence[Choice],
    figure: Callable[[Choice], float],
    *,
    nearly: Callable[[float], float] = lambda best: best,
    preference: Callable[[Choice], float] = lambda choice: 0.0,
) -> Choice:
    """Try all choices and return the one with the largest figure, the first of equal ones.

    A choice that has no rival is not tried.

    Parameters
    ----------
    choices : sequence
        The usual one first.
    figure : callable
        Tries a choice and returns what it is worth.
    nearly : callable
        Turns the largest figure into one that is as good: choices that reach it are left to
        ``preference``, the largest of which wins.

    Examples
    --------
    >>> best_choice((1, 2, 3), lambda n: n % 3)
    2
    >>> best_choice((1, 2, 3), float, nearly=lambda best: best - 1, preference=lambda n: -n)
    2
    """
    if len(choices) == 1:
        return choices[0]
    figures = [figure(choice) for choice in choices]
    floor = nearly(max(figures))
    good = [choice for choice, one in zip(choices, figures, strict=True) if one >= floor]
    return max(good, key=preference)


def ndcg(truth: csr_matrix, top: TopK) -> float:
    """Return nDCG@k in percent, by which rankings are compared; k is what was asked for."""
    return metrics.evaluate(truth, top, ks=(top.k,))[f"nDCG@{top.k}"]


def summed_precision(truth: csr_matrix, top: TopK) -> float:
    """Return P@1 + P@3 + P@5 in percent, by which votes are compared.

    >>> summed_precision(csr_matrix([[1, 1, 1, 1, 1]]), TopK(np.arange(5)[None], np.ones((1, 5))))
    300.0
    """
    figures = metrics.evaluate(truth, top, ks=(1, 3, 5))
    return sum(figures[f"P@{k}"] for k in (1, 3, 5))


def usable_rows(X: csr_matrix, Y: csr_matrix) -> NDArray[np.int64]:
    """Return the rows that have features, so that they lie somewhere, and labels to vote for.

    >>> usable_rows(csr_matrix([[1.0], [0.0], [1.0]]), csr_matrix([[1], [1], [0]]))
    array([0])
    """
    return np.flatnonzero((np.diff(X.indptr) > 0) & (np.diff(Y.indptr) > 0))


def row_groups(groups: Any, n_rows: int) -> NDArray[np.int64] | None:
    """Return groups of rows as numbers; anything but one group for each row is an error.

    >>> row_groups(["b", "a", "b"], 3)
    array([1, 0, 1])
    """
    if groups is None:
        return None
    numbers = np.unique(np.asarray(groups), return_inverse=True)[1].ravel()
    if numbers.size != n_rows:
        raise DataError(
            f"groups has {numbers.size} entries for {n_rows} rows: give one for each row."
        )
    return numbers.astype(np.int64)


def hold_out(
    rows: NDArray[np.int64], n_rows: int, seed: int, groups: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    """Return ``n_rows`` of the rows, drawn without repetition, in order.

    With ``groups`` (of all rows) whole groups are drawn, as many as have about so many rows.

    >>> hold_out(np.array([3, 5, 7, 9]), 2, seed=0)
    array([3, 7])
    >>> hold_out(np.array([0, 1, 2, 3]), 2, seed=0, groups=np.array([0, 0, 1, 1]))
    array([2, 3])
    """
    shuffled = np.random.default_rng(seed).permutation(rows)
    if groups is not None:
        # The groups in the order in which one of their rows was drawn, whole.
        _, first = np.unique(groups[shuffled], return_index=True)
        turn = np.argsort(np.argsort(first))[np.unique(groups[shuffled], return_inverse=True)[1]]
        shuffled = shuffled[np.argsort(turn, kind="stable")]
    return np.sort(shuffled[:n_rows])


def split_rows(
    Y: csr_matrix, share: float, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows to learn from, of those with labels, and rows that are held out.

    >>> learned, held_out = split_rows(csr_matrix([[1], [0], [1], [1]]), 0.34, seed=0)
    >>> learned.size, held_out.size, np.union1d(learned, held_out)
    (2, 1, array([0, 2, 3]))
    """
    rows = np.flatnonzero(np.diff(Y.indptr))
    held_out = hold_out(rows, int(share * rows.size), seed)
    return np.setdiff1d(rows, held_out), held_out


class Trial(NamedTuple):
    """A choice, what it says of the rows held out, and their labels; no rows if too few."""

    choice: float
    top: TopK
    Y: csr_matrix


def best_of(
    choices: tuple[float, ...],
    answer: Callable[[float, csr_matrix, csr_matrix, csr_matrix, int], TopK],
    X: csr_matrix,
    Y: csr_matrix,
    *,
    seed: int = 0,
) -> Trial:
    """Return the choice with the largest nDCG@5 on rows held out; the first if rows are few.

    Parameters
    ----------
    choices : tuple of float
        The usual one first.
    answer : callable
        ``answer(choice, X, Y, X_new, k)`` learns from X and Y and returns k labels for new rows.
    X, Y : csr_matrix
        All rows; at most 5,000 of them are used, for which setting is better hardly depends on
        their number.

    Examples
    --------
    >>> from labelspace.topk import topk_dense
    >>> X = csr_matrix(np.eye(2, dtype=np.float32)[np.arange(600) % 2])
    >>> def answer(sign, X, Y, X_new, k):
    ...     return topk_dense(sign * X_new.toarray(), k)
    >>> best_of((-1.0, 1.0), answer, X, X).choice
    1.0
    """
    rows = np.random.default_rng(seed).permutation(X.shape[0])[:N_ROWS]
    k = min(5, Y.shape[1])
    if len(rows) < FEWEST_ROWS:
        return Trial(choices[0], TopK.empty(0, k), csr_matrix((0, Y.shape[1])))
    held_out, kept = np.split(rows, [len(rows) // 5])
    learned = csr_matrix(X[kept]), csr_matrix(Y[kept])
    asked, truth = csr_matrix(X[held_out]), csr_matrix(Y[held_out])
    trials = [Trial(one, answer(one, *learned, asked, k), truth) for one in choices]
    return best_choice(trials, lambda one: ndcg(truth, one.top))
