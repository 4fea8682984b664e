"""Our own methods, built by name through the project's registry."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from benchmarks.subjects.subject import Ranking, Subject, installed_versions


class Own(Subject):
    """Any estimator of ``labelspace.models``."""

    def read(self) -> None:
        from labelspace.models import make

        self.X, self.Y = self.job.matrix("train_X"), self.job.matrix("train_Y")
        given = {"random_state": self.job.seed, "n_threads": self.job.n_threads}
        self.model: Any = make(self.job.method, **{**given, **self.job.parameters})

    def fit(self) -> None:
        self.model.fit(self.X, self.Y)

    def save(self, folder: Path) -> None:
        self.model.save(folder)

    def load(self, folder: Path) -> None:
        import labelspace

        self.model = labelspace.load(folder)

    def predict(self, X: csr_matrix, k: int, n_threads: int) -> Ranking:
        self.model.n_threads = n_threads
        top = self.model.predict_topk(X, k=k)
        return np.asarray(top.labels), np.asarray(top.scores)

    def versions(self) -> dict[str, str]:
        return installed_versions("labelspace", "numpy", "scipy", "numba")
