"""omikuji: Parabel (its default setting) and Bonsai (the setting its README gives)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import omikuji  # type: ignore[import-not-found]
from scipy.sparse import csr_matrix

from benchmarks.subjects.subject import Ranking, Subject, fill_ranking, installed_versions


class Omikuji(Subject):
    """A forest of label trees; ``parameters`` are fields of omikuji's hyper-parameters.

    ``Model.train_on_data`` parses the file and trains in one call, so the two halves are called one
    by one here: parsing is not learning. Prediction takes one row per call, as its API does.
    """

    def read(self) -> None:
        self.threads = omikuji._ThreadPoolHandle(self.job.n_threads, initialize=True)
        path = str(Path(self.job.data) / "train.txt")
        lib, ffi = omikuji.lib, omikuji.ffi
        corpus = lib.load_omikuji_data_set(ffi.new("char[]", path.encode()), self.threads.ptr)
        if corpus == ffi.NULL:
            raise RuntimeError(f"omikuji could not read {path}.")
        self.corpus = ffi.gc(corpus, lib.free_omikuji_data_set)

    def fit(self) -> None:
        settings = omikuji.Model.default_hyper_param()
        for name, value in self.job.parameters.items():
            setattr(settings, name, value)
        trees = omikuji.lib.train_omikuji_model(self.corpus, settings, self.threads.ptr)
        self.model: Any = omikuji.Model(trees)

    def save(self, folder: Path) -> None:
        self.model.save(str(folder))

    def load(self, folder: Path) -> None:
        self.model = omikuji.Model.load(str(folder))
        self.pool_size = 0

    def predict(self, X: csr_matrix, k: int, n_threads: int) -> Ranking:
        if n_threads != self.pool_size:
            self.model.init_prediction_thread_pool(n_threads)
            self.pool_size = n_threads
        answers = []
        for start, end in zip(X.indptr[:-1], X.indptr[1:], strict=True):
            row = list(zip(X.indices[start:end].tolist(), X.data[start:end].tolist(), strict=True))
            answers.append(self.model.predict(row, top_k=k))
        return fill_ranking(answers, k)

    def versions(self) -> dict[str, str]:
        return installed_versions("omikuji")
