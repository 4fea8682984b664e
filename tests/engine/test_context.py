"""Engines: blocks that are done once, by whoever, whatever happens to the workers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from labelspace import engine, progress
from labelspace.engine import blocks
from labelspace.errors import EngineError, LabelspaceWarning, UsageError
from tests.conftest import PROJECT
from tests.engine import doing
from tests.engine.doing import INPUTS, SUMS

LOCAL = ["threads", "processes"]


def sums(work=doing.add, inputs=INPUTS, n_blocks: int = 4) -> list[int]:
    return [int(one["sum"]) for one in engine.run_blocks(work, inputs, range(n_blocks), "adding")]


@pytest.mark.parametrize("name", LOCAL)
def test_blocks_come_in_their_order_from_every_engine(name) -> None:
    with engine.using(name, n_workers=2) as used:
        assert sums() == SUMS
    assert sorted(line["number"] for line in used.log) == [0, 1, 2, 3]
    assert (used.log[0]["process"] == os.getpid()) == (name == "threads")


@pytest.mark.parametrize("name", LOCAL)
def test_a_block_that_is_there_is_not_done_again_by_whatever_engine(name, tmp_path) -> None:
    with engine.using("threads", workdir=tmp_path):
        assert sums(n_blocks=3) == SUMS[:3]
    with engine.using(name, workdir=tmp_path, n_workers=1) as used:
        assert sums() == SUMS
    assert [line["number"] for line in used.log] == [3]
    kept = (tmp_path / "blocks.jsonl").read_text().splitlines()
    assert [json.loads(line)["number"] for line in kept][-1] == 3


def test_other_inputs_and_other_work_are_other_blocks(tmp_path) -> None:
    with engine.using("threads", workdir=tmp_path) as used:
        sums()
        assert sums(inputs={"rows": np.arange(11)})[0] == 55
        assert sums(doing.slow, {"rows": np.arange(10), "seconds": 0.0}) == SUMS
    assert len(used.log) == 12


@pytest.mark.parametrize("damage", [b"", b"labelspace block 1\n", None])
def test_a_damaged_block_is_done_again(damage, tmp_path) -> None:
    with engine.using("threads", workdir=tmp_path):
        sums()
    block = sorted(tmp_path.glob("add-00002-*.block"))[0]
    content = bytearray(block.read_bytes())
    content[-1] ^= 1
    block.write_bytes(content if damage is None else damage)
    with engine.using("threads", workdir=tmp_path) as used:
        assert sums() == SUMS
    assert [line["number"] for line in used.log] == [2]


def test_a_killed_worker_costs_its_block_and_nothing_else(tmp_path) -> None:
    inputs = {**INPUTS, "mark": str(tmp_path / "mark"), "notes": str(tmp_path / "notes")}
    (tmp_path / "notes").mkdir()
    with engine.using("processes", n_workers=2):
        assert sums(doing.add_or_die, inputs) == SUMS
    assert (tmp_path / "mark").exists()
    notes = [note.name.partition("-")[0] for note in (tmp_path / "notes").iterdir()]
    assert sorted(notes) == ["0", "1", "2", "3"]


def test_a_block_that_always_kills_its_worker_ends_the_run_with_a_sentence(monkeypatch) -> None:
    monkeypatch.setattr("labelspace.engine.executors.ATTEMPTS", 2)
    with (
        engine.using("processes", n_workers=1),
        pytest.raises(EngineError, match="Block 0 ended its process 2 times"),
    ):
        engine.run_blocks(doing.die, INPUTS, [0], "dying")


def test_what_goes_wrong_in_a_worker_is_told_and_the_rest_is_kept(tmp_path) -> None:
    with (
        engine.using("processes", workdir=tmp_path, n_workers=1),
        pytest.raises(EngineError, match="Block 2 failed: ZeroDivisionError: nothing to divide"),
    ):
        engine.run_blocks(doing.fail, INPUTS, range(4), "failing")
    assert len(list(tmp_path.glob("fail-0000[01]-*.block"))) == 2


def test_fewer_blocks_will_do_where_that_was_asked_for() -> None:
    def run(may_lose: bool) -> list[int]:
        return engine.run_blocks(doing.fail, INPUTS, range(4), "failing", may_lose=may_lose)

    with engine.using("processes", n_workers=1, accept=3) as used:
        with pytest.warns(LabelspaceWarning, match="1 of 4 could not be done and are left out"):
            assert run(may_lose=True) == [0, 1, 3]
        assert used.figures()["n_blocks_lost"] == 1
        with pytest.raises(EngineError, match="Block 2 failed"):
            run(may_lose=False)
    with (
        engine.using("processes", n_workers=1, accept=4),
        pytest.raises(EngineError, match="Block 2 failed"),
    ):
        run(may_lose=True)


def test_a_killed_driver_goes_on_where_it_stopped(tmp_path) -> None:
    (tmp_path / "notes").mkdir()
    script = (
        "import numpy as np; from labelspace import engine; from tests.engine import doing\n"
        f"inputs = dict(doing.INPUTS, seconds=0.15, notes={str(tmp_path / 'notes')!r})\n"
        f"with engine.using('processes', workdir={str(tmp_path / 'work')!r}, n_workers=1):\n"
        "    found = engine.run_blocks(doing.slow, inputs, range(8), 'adding')\n"
        "print(sum(int(one['sum']) for one in found))"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(PROJECT), str(PROJECT / "src")])}
    command = [sys.executable, "-c", script]
    with subprocess.Popen(command, env=env, start_new_session=True) as first:
        begun = time.monotonic()
        while len(list((tmp_path / "work").glob("slow-*"))) < 3:
            assert time.monotonic() - begun < 120
            time.sleep(0.02)
        os.killpg(first.pid, signal.SIGKILL)
    kept = {block.name: block.stat().st_mtime_ns for block in (tmp_path / "work").glob("slow-*")}
    second = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    assert int(second.stdout) == 8 * 45 + sum(range(8))
    after = {block.name: block.stat().st_mtime_ns for block in (tmp_path / "work").glob("slow-*")}
    assert kept.items() <= after.items()
    # The block that it was at when it was killed may be begun twice; none that was finished is.
    begun_blocks = [note.name.partition("-")[0] for note in (tmp_path / "notes").iterdir()]
    assert len(begun_blocks) <= 8 + 1


def test_progress_counts_blocks_that_were_there(tmp_path) -> None:
    heard: list[int] = []

    class Listener:
        def started(self, description: str, total: int | None) -> int:
            assert (description, total) == ("adding", 4)
            return 0

        def advanced(self, task: int, steps: int) -> None:
            heard.append(steps)

        def finished(self, task: int) -> None: ...
        def compiling(self, kernel: str | None) -> None: ...

    with engine.using("threads", workdir=tmp_path):
        sums(n_blocks=3)
        with progress.listening(Listener()):
            sums()
    assert heard == [3, 1]


def test_other_versions_are_refused(tmp_path) -> None:
    job = blocks.job_for(0, doing.add, "0" * 64, 0, str(tmp_path))
    other = job._replace(versions={**job.versions, "numba": "0.1"})
    with pytest.raises(EngineError, match=r"instead of 0\.1: install the same versions"):
        blocks.do_block(other)


def test_a_machine_without_the_folder_is_told_so(tmp_path) -> None:
    job = blocks.job_for(0, doing.add, "0" * 64, 0, str(tmp_path / "elsewhere"))
    with pytest.raises(EngineError, match="a --workdir that all machines see"):
        blocks.do_block(job)


def test_wrong_names_and_options_are_refused() -> None:
    with pytest.raises(UsageError, match="There is no engine 'proceses': did you mean 'processes'"):
        engine.using("proceses").__enter__()
    with pytest.raises(UsageError, match="--address is for the engine ray"):
        engine.using("threads", address="auto").__enter__()
    with pytest.raises(UsageError, match="needs a --workdir that all its machines see"):
        engine.using("ray", address="auto").__enter__()
    with pytest.raises(EngineError, match="No engine is in use"):
        sums()


def test_no_engine_is_seen_by_what_an_engine_does() -> None:
    with engine.using("threads"):
        assert engine.run_blocks(is_active_there, None, [0], "looking") == [False]
        assert engine.is_active()
    assert not engine.is_active()


def is_active_there(inputs: None, block: int) -> bool:
    return engine.is_active()


def test_blocks_have_about_equal_work_and_do_not_follow_from_workers() -> None:
    work = 1e6 / np.arange(1, 5001)
    parts = engine.blocks_of_equal_work(work, least=32, n_blocks=16)
    assert np.concatenate(parts).tolist() == list(range(5000))
    loads = [work[part].sum() for part in parts]
    assert max(loads[1:]) < 2 * work.sum() / 16
    assert len(engine.blocks_of_equal_work(np.ones(10_000), most=100)) == 100
    assert len(engine.blocks_of_equal_work(np.ones(40), least=32)) == 1
    assert engine.blocks_of_equal_work([]) == []


def test_a_folder_at_an_address_holds_blocks_as_well(tmp_path, monkeypatch) -> None:
    pytest.importorskip("fsspec")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "machine"))
    Path(tmp_path, "machine").mkdir()
    address = f"file://{tmp_path}/store"
    Path(tmp_path, "store").mkdir()
    with engine.using("processes", workdir=address, n_workers=1):
        assert sums() == SUMS
    with engine.using("threads", workdir=address) as used:
        assert sums() == SUMS
    assert used.log == []
