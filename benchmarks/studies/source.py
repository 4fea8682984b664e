"""Where a study's rows come from, and where it may write; quick ones get a few rows only."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, load_npz

from benchmarks import corpora

QUICK_ROWS = 300


class Split(NamedTuple):
    """Rows to learn from and rows to ask about."""

    X: csr_matrix
    Y: csr_matrix
    X_test: csr_matrix
    Y_test: csr_matrix

    def drawn(self, n_train: int | None, n_test: int | None = None) -> Split:
        """Return so many rows of each part, drawn once for all, in the order of the files."""
        train, test = (_draw(Y.shape[0], n) for Y, n in ((self.Y, n_train), (self.Y_test, n_test)))
        return Split(self.X[train], self.Y[train], self.X_test[test], self.Y_test[test])

    def held_out(self, share: int = 5, most_rows: int | None = None, seed: int = 0) -> Split:
        """Return one in ``share`` of the training rows in place of the test rows."""
        rows = np.random.default_rng(seed).permutation(self.X.shape[0])[:most_rows]
        valid, train = np.split(rows, [rows.size // share])
        return Split(self.X[train], self.Y[train], self.X[valid], self.Y[valid])


class Source:
    """The corpora as they are, or with ``quick`` a few rows of them.

    ``cache`` is where trained models may be kept, ``pictures`` where pictures are drawn: the
    benchmarks' cache and the documentation's folder, or a temporary one for quick trials.
    """

    def __init__(self, *, quick: bool = False) -> None:
        self.quick = quick
        self.n_rows = QUICK_ROWS if quick else None
        self.cache = corpora.CACHE
        self.pictures = corpora.ROOT / "docs" / "assets"
        if quick:
            self._scratch = tempfile.TemporaryDirectory(prefix="labelspace-study-")
            self.cache = self.pictures = Path(self._scratch.name)
        self._last: tuple[str, Split] | None = None

    def split(self, corpus: str) -> Split:
        """Return the corpus as its files have it."""
        if self._last is None or self._last[0] != corpus:
            folder = corpora.prepare(corpus).folder
            X, Y, X_test, Y_test = (
                csr_matrix(load_npz(folder / f"{part}_{name}.npz"))[: self.n_rows]
                for part in ("train", "test")
                for name in "XY"
            )
            self._last = corpus, Split(X, Y, X_test, Y_test)
        return self._last[1]

    def at_most(self, n: int) -> int:
        """Return a number of rows, of which quick trials take few."""
        return min(n, QUICK_ROWS) if self.quick else n


def _draw(n_rows: int, n: int | None) -> NDArray[np.int64]:
    return np.sort(np.random.default_rng(0).permutation(n_rows)[:n])
