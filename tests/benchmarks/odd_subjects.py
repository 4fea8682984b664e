"""Systems that misbehave, for the tests of the runner."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix

from benchmarks.subjects.subject import Ranking, Subject


class Steady(Subject):
    """Names the first labels for every row."""

    def read(self) -> None:
        pass

    def fit(self) -> None:
        pass

    def save(self, folder: Path) -> None:
        folder.mkdir()
        (folder / "model").write_bytes(bytes(1024))

    def load(self, folder: Path) -> None:
        pass

    def predict(self, X: csr_matrix, k: int, n_threads: int) -> Ranking:
        labels = np.tile(np.arange(k), (X.shape[0], 1))
        return labels, -labels.astype(np.float32)


class Sleeper(Steady):
    """Never finishes training."""

    def fit(self) -> None:
        time.sleep(60)


class Broken(Steady):
    """Fails while training."""

    def fit(self) -> None:
        raise RuntimeError("no memory left for 3 trees")
