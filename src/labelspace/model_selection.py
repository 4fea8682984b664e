"""Splits of tagged rows and cross-validation, for whatever ``fit`` takes as rows and labels.

scikit-learn's own splitters stratify by one class per row, and its ``cross_validate`` refuses lists
of labels and sparse label matrices. Here rows may be texts, matrices or frames, and labels lists,
matrices, frames or classes.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.utils import _safe_indexing, check_random_state

from labelspace.csr import NamedColumns
from labelspace.errors import DataError, UsageError
from labelspace.frames import labels_of, library_of
from labelspace.labels import LabelEncoder
from labelspace.metrics import scorer

SCORING = ("P@1", "P@3", "P@5", "nDCG@5", "PSP@5")

Rows = NDArray[np.int64]


class IterativeStratification:
    """Folds in which each label has its share of rows, rare labels first.

    After Sechidis, Tsoumakas and Vlahavas (2011): the label with the fewest rows left is dealt out
    to the folds that want it most, then the next, so that labels with a row for each fold are in
    all of them where that can be. Rows without labels fill the folds up. It takes time and memory
    by the labels given, not by rows × labels.

    Parameters
    ----------
    n_splits : int, default=5
    random_state : int, RandomState or None
        Seed of ties.
    sizes : sequence of float, optional
        Shares of the folds, equal unless given.

    Examples
    --------
    >>> labels = [["rare"], ["rare"], ["common"], ["common"], ["common"], ["common"]]
    >>> folds = IterativeStratification(2, random_state=0)
    >>> [sorted(labels[row][0] for row in test) for _, test in folds.split(labels, labels)]
    [['common', 'common', 'rare'], ['common', 'common', 'rare']]
    """

    def __init__(
        self, n_splits: int = 5, *, random_state: Any = None, sizes: Sequence[float] | None = None
    ) -> None:
        self.n_splits = n_splits
        self.random_state = random_state
        self.sizes = sizes

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Rows, Rows]]:
        """Yield rows to learn from and rows to test on, once for each fold.

        Rows of the same group (``groups``, one for each row) are never on both sides.
        """
        fold = self.folds(y, groups)
        for number in range(self.n_splits):
            yield np.flatnonzero(fold != number), np.flatnonzero(fold == number)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of folds."""
        return self.n_splits

    def folds(self, y: Any, groups: Any = None) -> Rows:
        """Return the fold of each row."""
        if not isinstance(self.n_splits, int) or self.n_splits < 2:
            raise UsageError(f"n_splits is {self.n_splits!r}: give a whole number from 2.")
        Y = LabelEncoder().learn(y)
        units = np.arange(Y.shape[0]) if groups is None else _units(groups, Y.shape[0])
        n_units = int(units.max(initial=-1)) + 1
        if n_units < self.n_splits:
            what = "rows" if groups is None else "groups"
            raise DataError(
                f"There are {n_units} {what} for {self.n_splits} folds: ask for fewer folds."
            )
        gathered = csr_matrix(
            (np.ones(len(units), dtype=np.float32), (units, np.arange(len(units)))),
            shape=(n_units, len(units)),
        )
        sizes = np.bincount(units, minlength=n_units)
        shares = np.full(self.n_splits, 1 / self.n_splits) if self.sizes is None else self.sizes
        fold = _dealt(
            csr_matrix(gathered @ Y), sizes, np.asarray(shares, dtype=np.float64), self.random_state
        )
        return fold[units]


def train_test_split(
    rows: Any,
    labels: Any,
    *,
    test_size: float = 0.2,
    groups: Any = None,
    random_state: Any = None,
) -> list[Any]:
    """Return rows to learn from, rows to test on, and the labels of both, stratified by label.

    >>> texts, labels = ["one", "two", "three", "four"], [["odd"], ["even"]] * 2
    >>> learned, tested, _, test_labels = train_test_split(texts, labels, test_size=0.5)
    >>> len(learned), sorted(test_labels)
    (2, [['even'], ['odd']])
    """
    if not 0 < test_size < 1:
        raise UsageError(f"test_size is {test_size!r}: give a share between 0 and 1.")
    labels = labels_of(labels)
    sizes = (test_size, 1 - test_size)
    folds = IterativeStratification(2, random_state=random_state, sizes=sizes)
    learned, tested = next(folds.split(rows, labels, groups))
    return [take(values, part) for values in (rows, labels) for part in (learned, tested)]


def cross_validate(
    estimator: Any,
    rows: Any,
    labels: Any,
    *,
    scoring: str | Sequence[str] = SCORING,
    cv: Any = 5,
    groups: Any = None,
    random_state: Any = 0,
    return_estimator: bool = False,
) -> dict[str, Any]:
    """Return figures of an estimator on rows that it did not learn from, as scikit-learn's does.

    Parameters
    ----------
    estimator : estimator, Tagger, or pipeline that ends with an estimator
    rows, labels
        What ``fit`` takes.
    scoring : str or sequence of str
        Figures by name (see ``labelspace.metrics.scorer``), in percent.
    cv : int or splitter, default=5
        How many folds ``IterativeStratification`` makes, or an object that has ``split``.
    groups : array of shape (n_rows,), optional
        Rows of one group are never on both sides.

    Examples
    --------
    >>> from labelspace import Tagger
    >>> texts, labels = ["a red ball", "a cube", "red", "one cube"] * 2, [["red"], ["cube"]] * 4
    >>> cross_validate(Tagger("knn"), texts, labels, scoring="P@1", cv=2)["test_P@1"]
    array([100., 100.])
    """
    names = [scoring] if isinstance(scoring, str) else list(scoring)
    scorers = {name: scorer(name) for name in names}
    labels = labels_of(labels)
    if not isinstance(labels, NamedColumns) and not hasattr(labels, "shape"):
        labels = list(labels)
    rows = rows if _can_be_indexed(rows) else list(rows)
    splitter = IterativeStratification(cv, random_state=random_state) if _is_count(cv) else cv
    found: dict[str, list[Any]] = {"fit_time": [], "score_time": []}
    found |= {f"test_{name}": [] for name in names}
    estimators = []
    for learned, tested in splitter.split(rows, labels, groups):
        fitted = clone(estimator)
        began = time.perf_counter()
        fitted.fit(take(rows, learned), take(labels, learned))
        found["fit_time"].append(time.perf_counter() - began)
        began = time.perf_counter()
        for name, figure in scorers.items():
            found[f"test_{name}"].append(figure(fitted, take(rows, tested), take(labels, tested)))
        found["score_time"].append(time.perf_counter() - began)
        estimators.append(fitted)
    figures: dict[str, Any] = {name: np.array(values) for name, values in found.items()}
    return figures | ({"estimator": estimators} if return_estimator else {})


def take(values: Any, rows: Rows) -> Any:
    """Return some rows of a list, a matrix or a frame, of the same kind.

    >>> take(["one", "two", "three"], np.array([2, 0]))
    ['three', 'one']
    """
    if isinstance(values, NamedColumns):
        return NamedColumns(take(values.values, rows), values.names)
    if library_of(values) == "pyarrow":
        return values.take(rows)
    return _safe_indexing(values, rows)


def _dealt(
    counts: csr_matrix, sizes: NDArray[Any], shares: NDArray[np.float64], random_state: Any
) -> Rows:
    """Return the fold of each unit, which has ``counts`` rows of each label and ``sizes`` rows."""
    random = check_random_state(random_state)
    columns = counts.tocsc()
    left = np.diff(columns.indptr)
    wanted = np.outer(shares, np.asarray(counts.sum(axis=0)).ravel())
    room = shares * sizes.sum()
    fold = np.full(counts.shape[0], -1, dtype=np.int64)
    rarest = [(int(n), label) for label, n in enumerate(left) if n]
    heapq.heapify(rarest)

    def put(unit: int, best: Any) -> None:
        fold[unit] = chosen = int(best[random.randint(len(best))] if len(best) > 1 else best[0])
        room[chosen] -= sizes[unit]
        labels = counts.indices[counts.indptr[unit] : counts.indptr[unit + 1]]
        wanted[chosen, labels] -= counts.data[counts.indptr[unit] : counts.indptr[unit + 1]]
        for label in labels:
            left[label] -= 1
            if left[label]:
                heapq.heappush(rarest, (int(left[label]), int(label)))

    while rarest:
        n, label = heapq.heappop(rarest)
        if n != left[label]:
            continue  # it has become rarer since
        units = columns.indices[columns.indptr[label] : columns.indptr[label + 1]]
        for unit in random.permutation(units[fold[units] < 0]):
            most = np.flatnonzero(wanted[:, label] == wanted[:, label].max())
            put(int(unit), most[room[most] == room[most].max()])
    for unit in random.permutation(np.flatnonzero(fold < 0)):
        put(int(unit), np.flatnonzero(room == room.max()))
    return fold


def _units(groups: Any, n_rows: int) -> Rows:
    values = list(groups) if library_of(groups) is None else labels_of(groups)
    if len(values) != n_rows:
        raise DataError(f"There are {n_rows} rows but {len(values)} groups: give one for each row.")
    return np.unique(np.asarray(values), return_inverse=True)[1].ravel()


def _is_count(cv: Any) -> bool:
    return isinstance(cv, (int, np.integer))


def _can_be_indexed(rows: Any) -> bool:
    return (
        isinstance(rows, (list, tuple, NamedColumns))
        or hasattr(rows, "shape")
        or bool(library_of(rows))
    )
