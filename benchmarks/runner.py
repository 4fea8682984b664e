"""Carry out runs one after the other, each in a process of its own, within an hour."""

from __future__ import annotations

import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import results
from benchmarks.corpora import ROOT, Prepared, prepare
from benchmarks.jobs import Job, Report
from benchmarks.measure import group_usage, machine
from benchmarks.peers import PEERS, interpreter
from benchmarks.results import DONE, ENDED_EARLY, FAILED, Line, Run
from labelspace.metrics import evaluate
from labelspace.topk import TopK

OWN = "benchmarks.subjects.own:Own"
POLL_S = 0.1


@dataclass(frozen=True)
class Limits:
    """How much a command may take."""

    n_threads: int = 2
    time_limit_s: float = 1800.0
    """For one run, as on an idle machine: it is stopped, and marked as ended early, when it has
    used this much time on each of its threads, or three times as much by the clock."""
    budget_s: float = 3300.0
    """For the whole command; past it nothing is recorded, and the next command goes on."""


def run_all(runs: Sequence[Run], limits: Limits, *, again: bool = False, since: str = "") -> int:
    """Carry out those of ``runs`` that are not there yet and return how many are still to do."""
    started = time.monotonic()
    rehearsed: set[str] = set()
    lines = results.read_lines()
    todo = [
        run
        for run in runs
        if again
        or not results.is_there(run, lines, time_limit_s=_time_limit_s(run, limits), since=since)
    ]
    print(f"{len(runs)} runs, {len(runs) - len(todo)} of them there already", flush=True)
    for done, run in enumerate(todo):
        left_s = limits.budget_s - (time.monotonic() - started)
        line = None
        if left_s > 0:
            print(f"[{done + 1}/{len(todo)}] {run}", end="", flush=True)
            line = carry_out(
                run,
                limits.n_threads,
                _time_limit_s(run, limits),
                patience_s=left_s,
                rehearse=run.method not in rehearsed,
            )
            rehearsed.add(run.method)
        if line is None or (line["status"] == ENDED_EARLY and line["total_wall_s"] >= left_s):
            print(
                f"\nThe time for one command is over; {len(todo) - done} runs left: run it again."
            )
            return len(todo) - done
        results.append(line)
        print(f": {_summary(line)}", flush=True)
    return 0


def _time_limit_s(run: Run, limits: Limits) -> float:
    own_limit_s = PEERS[run.method].time_limit_s if run.method in PEERS else limits.time_limit_s
    return min(limits.time_limit_s, own_limit_s)


def carry_out(
    run: Run,
    n_threads: int,
    time_limit_s: float,
    *,
    patience_s: float = math.inf,
    rehearse: bool = True,
) -> Line:
    """Do one run and return its line; ``patience_s`` is what the clock allows in any case."""
    peer = PEERS.get(run.method)
    corpus = prepare(run.corpus, run.split, text=peer is not None and peer.needs_text)
    with tempfile.TemporaryDirectory(prefix="labelspace-bench-") as scratch:
        job = Job(
            subject=peer.subject if peer else OWN,
            method=run.method,
            data=str(corpus.folder),
            folder=scratch,
            parameters=dict(peer.parameters) if peer else dict(run.parameters),
            seed=run.seed,
            n_threads=n_threads,
        )
        if rehearse and peer is None:
            _rehearse(job)
        ended = _work(job, time_limit_s, min(3.0 * time_limit_s, patience_s))
        line = _line(run, corpus, job, ended, time_limit_s)
        if line["status"] == DONE:
            line["metrics"] = _metrics(corpus, Path(scratch) / "ranking.npz")
    return line


@dataclass(frozen=True)
class _Ended:
    status: str
    wall_s: float
    cpu_s: float
    peak_mib: float
    last_words: str
    load_average: float


def _rehearse(job: Job) -> None:
    """Let a throw-away process compile and cache the kernels: once per installation."""
    with tempfile.TemporaryDirectory(prefix="labelspace-bench-") as scratch:
        _work(
            Job(**{**vars(job), "folder": scratch, "rehearsal": True}),
            time_limit_s=300.0,
            patience_s=900.0,
        )


def _work(job: Job, time_limit_s: float, patience_s: float) -> _Ended:
    folder = Path(job.folder)
    job.write(folder / "job.json")
    python = str(interpreter()) if job.method in PEERS else sys.executable
    started = time.monotonic()
    load_average = os.getloadavg()[0]
    peak_mib = 0.0
    status = FAILED
    with (folder / "log.txt").open("wb") as log:
        process = subprocess.Popen(
            [python, "-m", "benchmarks.worker", str(folder / "job.json")],
            cwd=ROOT,
            env=_environment(job.n_threads),
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            while (ended := os.wait4(process.pid, os.WNOHANG))[0] == 0:
                cpu_s, rss_mib = group_usage(process.pid)
                peak_mib = max(peak_mib, rss_mib)
                wall_s = time.monotonic() - started
                if cpu_s > time_limit_s * job.n_threads or wall_s > patience_s:
                    status = ENDED_EARLY
                    os.killpg(process.pid, signal.SIGKILL)
                    ended = os.wait4(process.pid, 0)
                    break
                time.sleep(POLL_S)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
        process.returncode = os.waitstatus_to_exitcode(ended[1])
    if process.returncode == 0:
        status = DONE
    return _Ended(
        status,
        time.monotonic() - started,
        ended[2].ru_utime + ended[2].ru_stime,
        peak_mib,
        "" if status == DONE else _tail(folder / "log.txt"),
        round(max(load_average, os.getloadavg()[0]), 2),
    )


def _line(run: Run, corpus: Prepared, job: Job, ended: _Ended, time_limit_s: float) -> Line:
    report = Report.read(Path(job.folder) / "report.json")
    peak_mib = max(ended.peak_mib, report.pop("peak_mib", 0.0))
    line: Line = {
        "method": run.method,
        "corpus": run.corpus,
        "split": run.split,
        "seed": run.seed,
        "parameters": dict(run.parameters),
        "version": run.version,
        "status": ended.status,
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "n_threads": job.n_threads,
        "time_limit_s": round(time_limit_s),
        "n_train": corpus.n_train,
        "n_test": corpus.n_test,
        "n_labels": corpus.n_labels,
        "n_features": corpus.n_features,
        "machine": {**machine(), "load_average": ended.load_average},
        "total_wall_s": ended.wall_s,
        "total_cpu_s": ended.cpu_s,
        "peak_mib": peak_mib,
        **report,
    }
    if ended.status == FAILED:
        line["last_words"] = ended.last_words
    if job.method in PEERS:
        line["setting"] = job.parameters
    else:
        line["commit"] = _commit()
    return {name: _rounded(value) for name, value in line.items()}


def _metrics(corpus: Prepared, ranking: Path) -> dict[str, float]:
    job = Job(subject="", method="", data=str(corpus.folder), folder="")
    counts = np.bincount(job.matrix("train_Y").indices, minlength=corpus.n_labels)
    with np.load(ranking) as answer:
        top = TopK(answer["labels"], answer["scores"])
    figures = evaluate(job.matrix("test_Y"), top, label_counts=counts, n_examples=corpus.n_train)
    return {name: round(value, 4) for name, value in figures.items()}


def _environment(n_threads: int) -> dict[str, str]:
    names = ("OMP", "OPENBLAS", "MKL", "NUMBA", "RAYON")
    return {**os.environ, **{f"{name}_NUM_THREADS": str(n_threads) for name in names}}


def _tail(log: Path, n_chars: int = 600) -> str:
    return log.read_text(errors="replace")[-n_chars:]


def _commit() -> str:
    """Return the commit that is measured, with ``-dirty`` where code differs from it.

    Lines and pages change with every run, and measure nothing.
    """
    git = shutil.which("git")
    if git is None:
        return ""

    def ask(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([git, *words], cwd=ROOT, capture_output=True, text=True)

    commit = ask("describe", "--always").stdout.strip()
    changed = ask("diff", "--quiet", "HEAD", "--", "src", "benchmarks", ":!benchmarks/results")
    return f"{commit}-dirty" if commit and changed.returncode else commit


def _rounded(value: Any) -> Any:
    return float(f"{value:.5g}") if isinstance(value, float) else value


def _summary(line: Line) -> str:
    if line["status"] == FAILED:
        return f"failed while {line.get('stage', 'starting')}\n{line['last_words']}"
    if line["status"] == ENDED_EARLY:
        return f"ended early after {line['total_wall_s']:.0f} s, while in stage {line.get('stage')}"
    precision = "/".join(f"{line['metrics'][f'P@{k}']:.2f}" for k in (1, 3, 5))
    return (
        f"P@1/3/5 {precision}, training {line['train_cpu_s']:.1f} CPU s, "
        f"{line['batch_cpu_ms']:.3g} ms/row, {line['model_mib']:.1f} MiB"
    )
