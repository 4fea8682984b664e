"""The files that the runner and a worker exchange: a job, the corpus, the answer.

A job's data folder holds ``train_X.npz``, ``train_Y.npz``, ``test_X.npz``, ``test_Y.npz`` (CSR,
float32) and, for systems that read only text, ``train.txt``. The worker writes ``report.json``
after every stage, so that a run that is stopped has left what it measured, and ``ranking.npz``.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from scipy.sparse import csr_matrix, load_npz

N_RANKED = 5


@dataclass(frozen=True)
class Job:
    """Train one system on one prepared corpus and rank its test rows."""

    subject: str
    """The adapter, as ``module:Class``."""
    method: str
    data: str
    folder: str
    """Where the worker writes; the model goes into ``model`` below it."""
    parameters: dict[str, Any] = field(default_factory=dict)
    seed: int = 0
    n_threads: int = 2
    rehearsal: bool = False
    """Take a few rows only: the compiler's work is then done before the clock starts."""

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self), indent=1))

    @classmethod
    def read(cls, path: Path) -> Job:
        return cls(**json.loads(path.read_text()))

    def matrix(self, name: str) -> csr_matrix:
        """Return ``train_X``, ``train_Y``, ``test_X`` or ``test_Y``."""
        matrix = csr_matrix(load_npz(Path(self.data) / f"{name}.npz"))
        return matrix[:50] if self.rehearsal else matrix


class Report:
    """The worker's measurements so far, safe on disk after every change."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.figures: dict[str, Any] = {}

    def add(self, **figures: Any) -> None:
        self.figures.update(figures)
        beside = self.path.with_suffix(".part")
        beside.write_text(json.dumps(self.figures))
        os.replace(beside, self.path)

    @staticmethod
    def read(path: Path) -> dict[str, Any]:
        """Return what a worker reported, nothing if it never came so far."""
        return json.loads(path.read_text()) if path.exists() else {}
