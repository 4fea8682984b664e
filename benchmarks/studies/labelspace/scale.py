"""Many labels: what one row costs, and what lists of weights that are cut lose.

Where a feature has weights for very many labels, only the largest propose labels
(``impact_index``). A saved model is loaded in a process of its own, as one that answers would be,
and asked as it is; then with shorter lists, and with whole ones, which sums everything.

    python -m benchmarks.studies.labelspace.scale MODEL X.npz Y.npz
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, load_npz, save_npz

import labelspace
from benchmarks.measure import peak_rss_mib
from benchmarks.speed import batch_speed, row_latency
from benchmarks.studies.study import Figures
from labelspace.metrics import evaluate
from labelspace.models.labelspace.impact_index import ImpactIndex
from labelspace.search.sparse import SparseIndex

SHORTER = (500,)
"""Lengths of lists that are tried beside that of the model."""


def ask_saved(folder: Path, X: csr_matrix, Y: csr_matrix) -> Figures:
    """Return what a process of its own measures with the model in ``folder``."""
    rows, labels = folder.parent / "X.npz", folder.parent / "Y.npz"
    save_npz(rows, csr_matrix(X))
    save_npz(labels, csr_matrix(Y))
    command = [sys.executable, "-m", __name__, str(folder), str(rows), str(labels)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    figures: Figures = json.loads(done.stdout)
    return figures


def latencies(model: Any, X: csr_matrix, Y: csr_matrix) -> Figures:
    """Return speed and precision on rows, with lists as they are and whole."""
    model.n_threads = 1

    def answer(rows: csr_matrix) -> Any:
        return model.predict_topk(rows, k=5)

    classifiers = model.classifiers_
    found = evaluate(Y, answer(X))
    figures: Figures = {f"P@{k}": found[f"P@{k}"] for k in (1, 3, 5)}
    figures |= {"lists": type(classifiers).__name__, **batch_speed(answer, X)}
    figures |= {**row_latency(answer, X), "asked_peak_mib": peak_rss_mib()}
    if isinstance(classifiers, ImpactIndex):
        for longest in SHORTER:
            model.classifiers_ = ImpactIndex(*_keys(classifiers), longest=longest)
            found = evaluate(Y, answer(X))
            figures[f"P@5 with lists of {longest}"] = found["P@5"]
            speed = batch_speed(answer, X)["batch_cpu_ms"]
            figures[f"batch_cpu_ms with lists of {longest}"] = speed
        model.classifiers_ = SparseIndex(*_keys(classifiers))
        found = evaluate(Y, answer(X))
        figures |= {f"P@{k} with whole lists": found[f"P@{k}"] for k in (1, 3, 5)}
        figures["batch_cpu_ms with whole lists"] = batch_speed(answer, X)["batch_cpu_ms"]
        model.classifiers_ = classifiers
    return figures


def _keys(index: ImpactIndex) -> tuple[csr_matrix, NDArray[np.float32]]:
    return index.keys, index.offsets


if __name__ == "__main__":
    loaded = labelspace.load(Path(sys.argv[1]))
    given = [csr_matrix(load_npz(path)) for path in sys.argv[2:]]
    print(json.dumps(latencies(loaded, *given)))
