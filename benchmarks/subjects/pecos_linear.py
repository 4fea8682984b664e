"""PECOS: XR-Linear (a tree over the labels) and its one-vs-all (no tree), both at its defaults.

PECOS expects rows of unit length, as its own vectoriser makes them, where omikuji and napkinXC
scale rows themselves; so they are scaled here. On the binary corpora it is worth 10 points of P@1.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pecos.xmc import Indexer, LabelEmbeddingFactory  # type: ignore[import-not-found]
from pecos.xmc.xlinear.model import XLinearModel  # type: ignore[import-not-found]
from scipy.sparse import csr_matrix

from benchmarks.subjects.subject import Ranking, Subject, installed_versions, rank_csr, unit_rows


class XrLinear(Subject):
    """Hierarchical 2-means on label means, then linear rankers down the tree."""

    def read(self) -> None:
        self.X = unit_rows(self.job.matrix("train_X"))
        self.Y = self.job.matrix("train_Y").tocsc()

    def fit(self) -> None:
        self.model: Any = XLinearModel.train(
            self.X,
            self.Y,
            C=self._label_tree(),
            threads=self.job.n_threads,
            **self.job.parameters,
        )

    def save(self, folder: Path) -> None:
        self.model.save(str(folder))

    def load(self, folder: Path) -> None:
        self.model = XLinearModel.load(str(folder), is_predict_only=True)

    def rows(self, X: csr_matrix) -> csr_matrix:
        return unit_rows(X)

    def predict(self, X: csr_matrix, k: int, n_threads: int) -> Ranking:
        return rank_csr(csr_matrix(self.model.predict(X, only_topk=k, threads=n_threads)), k)

    def versions(self) -> dict[str, str]:
        return installed_versions("libpecos", "numpy", "scipy")

    def _label_tree(self) -> Any:
        means = LabelEmbeddingFactory.create(
            self.Y, self.X, method="pifa", threads=self.job.n_threads
        )
        return Indexer.gen(means, seed=self.job.seed, threads=self.job.n_threads)


class OneVsAll(XrLinear):
    """One linear classifier per label, trained on all rows."""

    def _label_tree(self) -> Any:
        return None
