"""What methods promise beside accuracy: ``python -m benchmarks.promises annexml speed``.

``speed``      (annexml) fifteen learners: batch and single row on one core, seconds to load
``storage``    (annexml) precision lost by keeping maps and vectors as eight-bit integers
``appending``  ``partial_fit`` of 1,000 rows: seconds, and what old and new rows gain or lose
``scale``      the Amazon-670K-shaped corpus at several sizes, as 100000 (rows) or 100000x1 (rows
               and learners): seconds and memory of training

Each figure is a JSON line in ``results/promises/METHOD.jsonl``; ``table`` prints them for the
method's page. ``scale`` starts a process for each size, so that peaks of memory do not add up.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

import labelspace
from benchmarks import corpora, measure
from benchmarks.jobs import Job
from benchmarks.measure import Stopwatch
from benchmarks.results import RESULTS
from benchmarks.speed import batch_speed, row_latency
from labelspace.data.samples.synthetic import SyntheticCorpus
from labelspace.metrics import evaluate
from labelspace.models import AnnexML, make

ROWS = (50_000, 100_000, 200_000, 490_449)
N_APPENDED = 1000


def speed(method: str, corpus: str = "wordnet") -> None:
    """Fifteen learners, saved, loaded and asked on one core."""
    X, Y, X_test, Y_test = _read(corpus)
    with Stopwatch() as training:
        model = AnnexML(n_learners=15, random_state=0).fit(X, Y)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        model.save(path)
        size = measure.folder_mib(path)
        labelspace.load(path)
        with Stopwatch() as loading:
            model = labelspace.load(path)
        with Stopwatch() as first:
            model.predict_topk(X_test[:1], k=5)
        model.n_threads = 1
        figures = batch_speed(lambda rows: model.predict_topk(rows, k=5), X_test)
        figures |= row_latency(lambda row: model.predict_topk(row, k=5), X_test)
        figures["row_cpu_ms"] = _row_cpu_ms(model, X_test)
        found = evaluate(Y_test, model.predict_topk(X_test, k=5))
    _record(
        method,
        "speed",
        corpus=corpus,
        train_cpu_s=training.cpu_s,
        model_mib=size,
        load_wall_s=loading.wall_s,
        first_answer_wall_s=first.wall_s,
        **figures,
        **{f"P@{k}": found[f"P@{k}"] for k in (1, 3, 5)},
    )


def _row_cpu_ms(model: Any, X: csr_matrix, n_rows: int = 200) -> float:
    """CPU milliseconds of one row asked by itself: its latency on a machine with nothing else."""
    rows = [X[row] for row in range(n_rows)]
    with Stopwatch() as watch:
        for row in rows:
            model.predict_topk(row, k=5)
    return 1000.0 * watch.cpu_s / n_rows


def storage(method: str, *names: str) -> None:
    """The same seed with floats and with eight-bit integers."""
    for corpus in names or ("bibtex", "delicious"):
        X, Y, X_test, Y_test = _read(corpus)
        figures: dict[str, float] = {}
        for kind in ("float32", "int8"):
            model = AnnexML(storage=kind, random_state=0).fit(X, Y)
            found = evaluate(Y_test, model.predict_topk(X_test, k=5))
            figures |= {f"{kind} P@{k}": found[f"P@{k}"] for k in (1, 3, 5)}
        _record(method, "storage", corpus=corpus, **figures)


def appending(method: str, corpus: str = "eurlex57k") -> None:
    """Train without 1,000 rows, append them, and ask about test rows before and after."""
    X, Y, X_test, Y_test = _read(corpus)
    order = np.random.default_rng(0).permutation(X.shape[0])
    new, old = order[:N_APPENDED], np.sort(order[N_APPENDED:])
    model: Any = make(method, random_state=0)
    model.fit(X[old[:500]], Y[old[:500]]).partial_fit(X[new[:50]], Y[new[:50]])  # compiles
    model = make(method, random_state=0).fit(X[old], Y[old])
    before = evaluate(Y_test, model.predict_topk(X_test, k=5))
    unknown = evaluate(Y[new], model.predict_topk(X[new], k=5))
    with Stopwatch() as watch:
        model.partial_fit(X[new], Y[new])
    after = evaluate(Y_test, model.predict_topk(X_test, k=5))
    known = evaluate(Y[new], model.predict_topk(X[new], k=5))
    fresh = np.setdiff1d(Y[new].indices, Y[old].indices)
    having = np.flatnonzero(Y[new][:, fresh].getnnz(axis=1))
    answered = model.predict_topk(X[new][having], k=5).labels
    found = [np.isin(fresh, labels).any() for labels in answered]
    _record(
        method,
        "appending",
        corpus=corpus,
        partial_fit_cpu_s=watch.cpu_s,
        partial_fit_wall_s=watch.wall_s,
        n_new_labels=fresh.size,
        rows_whose_new_labels_are_found=float(np.mean(found)) if found else None,
        **{f"P@{k} before": before[f"P@{k}"] for k in (1, 3, 5)},
        **{f"P@{k} after": after[f"P@{k}"] for k in (1, 3, 5)},
        **{"new rows' P@1 before": unknown["P@1"], "new rows' P@1 after": known["P@1"]},
    )


def scale(method: str, *sizes: str) -> None:
    """Train on each size in a process of its own."""
    for size in sizes or map(str, ROWS):
        command = [sys.executable, "-m", "benchmarks.promises", method, "one-size", size]
        subprocess.run(command, check=True)


def one_size(method: str, size: str) -> None:
    """Train on so many rows; features and labels grow with the rows, as the preset has them."""
    n_rows, _, n_learners = size.partition("x")
    made = SyntheticCorpus.preset("amazon-670k", scale=int(n_rows) / ROWS[-1])
    train, test = made.sample(), made.sample(2000, split="test")
    assert train.X is not None
    assert test.X is not None
    chosen = {"n_learners": int(n_learners)} if n_learners else {}
    make(method, random_state=0).fit(train.X[:500], train.Y[:500])  # compiles
    with Stopwatch() as watch:
        model: Any = make(method, random_state=0, **chosen).fit(train.X, train.Y)
    peak = measure.peak_rss_mib()
    found = evaluate(test.Y, model.predict_topk(test.X, k=5))
    model.n_threads = 1
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model")
        model_mib = measure.folder_mib(Path(folder) / "model")
    _record(
        method,
        "scale",
        n_rows=train.X.shape[0],
        n_features=train.X.shape[1],
        n_labels=train.Y.shape[1],
        n_learners=len(model.learners_),
        train_cpu_s=watch.cpu_s,
        train_wall_s=watch.wall_s,
        peak_mib=peak,
        model_mib=model_mib,
        **batch_speed(lambda rows: model.predict_topk(rows, k=5), test.X),
        **{f"P@{k}": found[f"P@{k}"] for k in (1, 3, 5)},
    )


def table(method: str) -> None:
    """Print the newest lines of each promise as Markdown."""
    lines = [json.loads(text) for text in _file(method).read_text().splitlines()]
    for promise in ("speed", "storage", "appending", "scale"):
        newest = {
            (line.get("corpus"), line.get("n_rows"), line.get("n_learners")): line
            for line in lines
            if line["promise"] == promise
        }
        for line in sorted(newest.values(), key=lambda line: line.get("n_rows", 0)):
            figures = {
                name: value
                for name, value in line.items()
                if name not in ("promise", "date", "machine")
            }
            print(f"| {promise} | " + " | ".join(f"{n} {v}" for n, v in figures.items()) + " |")


def _read(corpus: str) -> tuple[csr_matrix, csr_matrix, csr_matrix, csr_matrix]:
    job = Job(subject="", method="", data=str(corpora.prepare(corpus).folder), folder="")
    X, Y, X_test, Y_test = map(job.matrix, ("train_X", "train_Y", "test_X", "test_Y"))
    return X, Y, X_test, Y_test


def _file(method: str) -> Path:
    return RESULTS / "promises" / f"{method}.jsonl"


def _record(method: str, promise: str, **figures: Any) -> None:
    rounded = {
        name: float(f"{value:.5g}") if isinstance(value, float) else value
        for name, value in figures.items()
    }
    date = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    line = {"promise": promise, "date": date, **rounded, "machine": measure.machine()}
    _file(method).parent.mkdir(parents=True, exist_ok=True)
    with _file(method).open("a") as file:
        file.write(json.dumps(line) + "\n")
    print(json.dumps(rounded, indent=1), flush=True)


PROMISES: dict[str, Callable[..., None]] = {
    "speed": speed,
    "storage": storage,
    "appending": appending,
    "scale": scale,
    "one-size": one_size,
    "table": table,
}

if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[2] not in PROMISES:
        raise SystemExit(f"Give a method, one of {', '.join(PROMISES)}, and corpora or sizes.")
    PROMISES[sys.argv[2]](sys.argv[1], *sys.argv[3:])
