"""napkinXC: a probabilistic label tree and binary relevance, both at their defaults."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from napkinxc import models  # type: ignore[import-not-found]
from scipy.sparse import csr_matrix

from benchmarks.subjects.subject import Ranking, Subject, fill_ranking, installed_versions


class LabelTree(Subject):
    """PLT. It writes the model while it trains, so saving is part of its training seconds."""

    kind = "PLT"

    def read(self) -> None:
        self.X, self.Y = self.job.matrix("train_X"), self.job.matrix("train_Y")

    def fit(self) -> None:
        self.model = self._model(Path(self.job.folder) / "model")
        self.model.fit(self.X, self.Y)

    def save(self, folder: Path) -> None:
        pass

    def load(self, folder: Path) -> None:
        self.model = self._model(folder)
        self.model.load()

    def predict(self, X: csr_matrix, k: int, n_threads: int) -> Ranking:
        self.model.set_params(threads=n_threads)
        return fill_ranking(self.model.predict_proba(X, top_k=k), k)

    def versions(self) -> dict[str, str]:
        return installed_versions("napkinxc", "numpy", "scipy")

    def _model(self, folder: Path) -> Any:
        return getattr(models, self.kind)(
            str(folder), seed=self.job.seed, threads=self.job.n_threads, **self.job.parameters
        )


class BinaryRelevance(LabelTree):
    """BR: one logistic regression per label."""

    kind = "BR"
