"""What methods promise beside accuracy, for the studies of those that have such parts.

``speed``      a model that is saved, loaded and asked on one core: batch, single row, loading
``storage``    precision lost by keeping maps and vectors as eight-bit integers
``appending``  ``partial_fit`` of 1,000 rows: seconds, and what old and new rows gain or lose
``scale``      the Amazon-670K-shaped corpus at several sizes: seconds and memory of training

Each takes the method's name and returns how a trial is measured.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from benchmarks import measure
from benchmarks.measure import Stopwatch
from benchmarks.render.tables import markdown
from benchmarks.saved_model import measure_speed
from benchmarks.speed import batch_speed
from benchmarks.studies.lines import Measured, select
from benchmarks.studies.source import Source
from benchmarks.studies.study import Figures, Measure, Trial
from labelspace.data.samples.synthetic import SyntheticCorpus
from labelspace.metrics import evaluate
from labelspace.models import make

WHOLE = 490_449
N_APPENDED = 1000


def size(n_rows: int, **parameters: Any) -> Trial:
    """Return the trial of training on so many rows of the synthetic corpus."""
    return Trial("scale", "amazon-670k", parameters={"n_rows": n_rows, **parameters})


def speed(method: str) -> Measure:
    """Measure a saved model on one core."""

    def measured(trial: Trial, source: Source) -> Iterator[tuple[Trial, Figures]]:
        split = source.split(trial.corpus)
        model: Any = make(method, random_state=0, **trial.parameters)
        with Stopwatch() as training:
            model.fit(split.X, split.Y)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model"
            model.save(path)
            figures = {"train_cpu_s": training.cpu_s, **measure_speed(path, split.X_test)}
        model.n_threads = 1
        figures["row_cpu_ms"] = _row_cpu_ms(model, split.X_test)
        yield trial, figures | _precision(model, split.X_test, split.Y_test)

    return measured


def _row_cpu_ms(model: Any, X: csr_matrix, n_rows: int = 200) -> float:
    """CPU milliseconds of one row asked by itself: its latency on a machine with nothing else."""
    rows = [X[row] for row in range(min(n_rows, X.shape[0]))]
    with Stopwatch() as watch:
        for row in rows:
            model.predict_topk(row, k=5)
    return 1000.0 * watch.cpu_s / len(rows)


def storage(method: str) -> Measure:
    """Compare the same seed with floats and with eight-bit integers."""

    def measured(trial: Trial, source: Source) -> Iterator[tuple[Trial, Figures]]:
        split = source.split(trial.corpus)
        figures: Figures = {}
        for kind in ("float32", "int8"):
            model = make(method, storage=kind, random_state=0).fit(split.X, split.Y)
            found = _precision(model, split.X_test, split.Y_test)
            figures |= {f"{kind} {name}": value for name, value in found.items()}
        yield trial, figures

    return measured


def appending(method: str) -> Measure:
    """Train without some rows, append them, and ask about test rows before and after."""

    def measured(trial: Trial, source: Source) -> Iterator[tuple[Trial, Figures]]:
        X, Y, X_test, Y_test = source.split(trial.corpus)
        order = np.random.default_rng(0).permutation(X.shape[0])
        n_new = min(N_APPENDED, X.shape[0] // 2)
        new, old = order[:n_new], np.sort(order[n_new:])
        model: Any = make(method, random_state=0)
        model.fit(X[old[:500]], Y[old[:500]]).partial_fit(X[new[:50]], Y[new[:50]])  # compiles
        model = make(method, random_state=0).fit(X[old], Y[old])
        before, unknown = _precision(model, X_test, Y_test), _precision(model, X[new], Y[new])
        with Stopwatch() as watch:
            model.partial_fit(X[new], Y[new])
        after, known = _precision(model, X_test, Y_test), _precision(model, X[new], Y[new])
        fresh = np.setdiff1d(Y[new].indices, Y[old].indices)
        having = np.flatnonzero(Y[new][:, fresh].getnnz(axis=1))
        answered = model.predict_topk(X[new][having], k=5).labels if having.size else []
        found = [np.isin(fresh, labels).any() for labels in answered]
        figures = {
            "partial_fit_cpu_s": watch.cpu_s,
            "partial_fit_wall_s": watch.wall_s,
            "n_new_labels": int(fresh.size),
            "rows_whose_new_labels_are_found": float(np.mean(found)) if found else None,
            **{f"{name} before": value for name, value in before.items()},
            **{f"{name} after": value for name, value in after.items()},
            "new rows' P@1 before": unknown["P@1"],
            "new rows' P@1 after": known["P@1"],
        }
        yield trial, figures

    return measured


Asked = Callable[[Path, csr_matrix, csr_matrix], Figures]


def scale(method: str, ask_saved: Asked | None = None) -> Measure:
    """Train on so many rows; features and labels grow with them, as the preset has them.

    ``ask_saved`` may measure more with the folder of the model and test rows.
    """

    def measured(trial: Trial, source: Source) -> Iterator[tuple[Trial, Figures]]:
        given = dict(trial.parameters)
        n_rows = source.at_most(given.pop("n_rows"))
        made = SyntheticCorpus.preset("amazon-670k", scale=n_rows / WHOLE)
        train, test = made.sample(), made.sample(source.at_most(2000), split="test")
        assert train.X is not None
        assert test.X is not None
        make(method, random_state=0).fit(train.X[:500], train.Y[:500])  # compiles
        with Stopwatch() as watch:
            model: Any = make(method, random_state=0, **given).fit(train.X, train.Y)
        figures = {
            "n_rows": train.X.shape[0],
            "n_features": train.X.shape[1],
            "n_labels": train.Y.shape[1],
            "n_learners": len(model.learners_),
            "train_cpu_s": watch.cpu_s,
            "train_wall_s": watch.wall_s,
            "peak_mib": measure.peak_rss_mib(),
        }
        figures |= _precision(model, test.X, test.Y)
        model.n_threads = 1
        with tempfile.TemporaryDirectory() as folder:
            model.save(Path(folder) / "model")
            figures["model_mib"] = measure.folder_mib(Path(folder) / "model")
            if ask_saved is not None:
                figures |= ask_saved(Path(folder) / "model", test.X, test.Y)
            else:
                figures |= batch_speed(lambda rows: model.predict_topk(rows, k=5), test.X)
        yield trial, figures

    return measured


def scale_table(
    lines: list[Measured], trials: Sequence[Trial], columns: Sequence[str], unit: str = "MiB"
) -> str:
    """Return the sizes that were measured; models are in MiB, or in MB."""
    rows = []
    per_mib = {"MiB": 1.0, "MB": 1.048576}[unit]
    for trial in trials:
        for line in select(lines, part="scale", parameters=trial.parameters):
            one = line.figures
            cells = {
                "rows": f"{one['n_rows']:,}",
                "features": f"{one['n_features']:,}",
                "labels": f"{one['n_labels']:,}",
                "learners": str(one.get("n_learners", 4)),
                "training, CPU s": f"{one['train_cpu_s']:.0f}",
                "peak memory": f"{one['peak_mib'] / 1024:.1f} GiB",
                "model": f"{per_mib * one['model_mib']:,.0f} {unit}",
                "P@5": f"{one['P@5']:.1f}",
                "a row in batches": _milliseconds(one, "batch_cpu_ms"),
                "a row alone": _milliseconds(one, "latency_ms_p50"),
            }
            rows.append([cells[name] for name in columns])
    return markdown(columns, rows, numbers=False)


def _milliseconds(figures: Figures, name: str) -> str:
    return f"{figures[name]:.1f} ms" if name in figures else ""


def _precision(model: Any, X: csr_matrix, Y: csr_matrix) -> dict[str, float]:
    found = evaluate(Y, model.predict_topk(X, k=5))
    return {f"P@{k}": found[f"P@{k}"] for k in (1, 3, 5)}
