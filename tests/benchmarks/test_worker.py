"""A worker carries out a job and leaves its measurements, also when it is stopped half-way."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix, save_npz

from benchmarks.corpora import ROOT
from benchmarks.jobs import N_RANKED, Job, Report
from benchmarks.measure import Stopwatch, folder_mib, group_usage, peak_rss_mib
from benchmarks.speed import batch_speed, row_latency
from benchmarks.subjects.subject import fill_ranking, rank_csr


@pytest.fixture
def job(tmp_path: Path) -> Job:
    random = np.random.default_rng(0)
    X = csr_matrix((random.random((60, 8)) < 0.4).astype(np.float32))
    for part in ("train", "test"):
        save_npz(tmp_path / f"{part}_X.npz", X)
        save_npz(tmp_path / f"{part}_Y.npz", X[:, :6])
    folder = tmp_path / "scratch"
    folder.mkdir()
    return Job("benchmarks.subjects.own:Own", "most-common", str(tmp_path), str(folder))


def test_a_worker_reports_every_stage_and_ranks_every_row(job: Job) -> None:
    folder = Path(job.folder)
    job.write(folder / "job.json")
    subprocess.run(
        [sys.executable, "-m", "benchmarks.worker", str(folder / "job.json")], cwd=ROOT, check=True
    )
    report = Report.read(folder / "report.json")
    assert report["stage"] == "done"
    for figure in ("train_cpu_s", "model_mib", "load_wall_s", "batch_cpu_ms", "latency_ms_p50"):
        assert report[figure] >= 0
    assert report["peak_mib"] > 10
    with np.load(folder / "ranking.npz") as answer:
        assert answer["labels"].shape == (60, N_RANKED)


def test_a_rehearsal_takes_only_a_few_rows(job: Job) -> None:
    assert job.matrix("train_X").shape[0] == 60
    assert Job(**{**vars(job), "rehearsal": True}).matrix("train_X").shape[0] == 50


def test_a_job_survives_its_file(job: Job, tmp_path: Path) -> None:
    job.write(tmp_path / "job.json")
    assert Job.read(tmp_path / "job.json") == job


def test_a_report_is_whole_after_every_stage(tmp_path: Path) -> None:
    report = Report(tmp_path / "report.json")
    report.add(stage="train")
    report.add(stage="save", train_cpu_s=1.5)
    assert json.loads(report.path.read_text()) == {"stage": "save", "train_cpu_s": 1.5}
    assert Report.read(tmp_path / "none.json") == {}


def test_cpu_seconds_count_finished_children() -> None:
    with Stopwatch() as watch:
        subprocess.run([sys.executable, "-c", "sum(range(3_000_000))"], check=True)
    assert watch.cpu_s > 0.02


def test_memory_and_disk_are_in_mebibytes(tmp_path: Path) -> None:
    held = np.ones(2**24)
    assert peak_rss_mib() > held.nbytes / 2**20
    if Path("/proc").exists():
        assert min(group_usage(os.getpgid(0))) > 0
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "file").write_bytes(bytes(2**20))
    assert folder_mib(tmp_path) == 1.0


def test_speed_is_per_row_and_a_slow_system_is_asked_once() -> None:
    asked: list[int] = []
    X = csr_matrix((10, 3))
    figures = batch_speed(lambda rows: asked.append(rows.shape[0]), X, n_rows=4, enough_s=-1.0)
    assert asked == [4]
    assert figures["batch_rows"] == 4
    latency = row_latency(lambda row: asked.append(row.shape[0]), X, n_rows=5)
    assert asked[1:] == [1] * 5
    assert latency["latency_ms_p50"] <= latency["latency_ms_p95"]


def test_answers_of_peers_become_a_ranking() -> None:
    scores = csr_matrix([[0.0, 0.5, 0.9, 0.5], [0.0, 0.0, 0.0, 0.0]])
    labels, values = rank_csr(scores, k=2)
    assert labels.tolist() == [[2, 1], [-1, -1]]
    assert values[0].tolist() == pytest.approx([0.9, 0.5])
    assert np.isneginf(values[1]).all()
    assert fill_ranking([[], [(3, 0.5)]], k=1)[0].tolist() == [[-1], [3]]
