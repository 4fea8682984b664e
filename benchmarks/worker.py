"""The process in which one run happens: ``python -m benchmarks.worker JOB.json``.

It runs in the interpreter of the system under test and does the same for each of them: read (not
timed), fit, save, load, rank every test row, then measure one core's speed and a single row's
latency on the loaded model.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from benchmarks.jobs import N_RANKED, Job, Report
from benchmarks.measure import Stopwatch, folder_mib, peak_rss_mib
from benchmarks.speed import batch_speed, row_latency
from benchmarks.subjects.subject import Subject


def carry_out(job: Job) -> None:
    """Do the job and leave ``report.json`` and ``ranking.npz`` in its folder."""
    folder = Path(job.folder)
    report = Report(folder / "report.json")
    subject = _subject(job)
    report.add(versions=subject.versions(), stage="reading")
    subject.read()
    with _timed(report, "train"):
        subject.fit()
    report.add(train_peak_mib=peak_rss_mib(), stage="saving")
    with _timed(report, "save"):
        subject.save(folder / "model")
    report.add(model_mib=folder_mib(folder / "model"))

    del subject
    loaded = _subject(job)
    with _timed(report, "load"):
        loaded.load(folder / "model")
    X = loaded.rows(job.matrix("test_X"))
    with _timed(report, "predict"):
        labels, scores = loaded.predict(X, N_RANKED, job.n_threads)
    np.savez(folder / "ranking.npz", labels=labels, scores=scores)
    report.add(stage="measuring speed", peak_mib=peak_rss_mib())

    report.add(**batch_speed(lambda rows: loaded.predict(rows, N_RANKED, 1), X))
    report.add(**row_latency(lambda row: loaded.predict(row, N_RANKED, 1), X))
    report.add(stage="done", peak_mib=peak_rss_mib())


@contextmanager
def _timed(report: Report, stage: str) -> Iterator[None]:
    report.add(stage=stage)
    with Stopwatch() as watch:
        yield
    report.add(**{f"{stage}_wall_s": watch.wall_s, f"{stage}_cpu_s": watch.cpu_s})


def _subject(job: Job) -> Subject:
    module, _, name = job.subject.partition(":")
    made: Subject = getattr(importlib.import_module(module), name)(job)
    return made


if __name__ == "__main__":
    carry_out(Job.read(Path(sys.argv[1])))
