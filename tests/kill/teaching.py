"""Kills a server while it is taught, lets its writes fail, and looks at what it knows afterwards.

What was answered for is known after the next start, once, and what was refused is not.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException
from pathlib import Path
from typing import Any

from tests.kill.suite import Report, Wrong, listing
from tests.kill.verbs import write_rows
from tests.kill.zygote import Zygote
from tests.server.running import TOKEN, Client, free_port

START_SECONDS = 60
N_ROWS = 40
# Rows after which the model is saved, and seconds between two looks whether it is time.
SETTINGS = {"token": TOKEN, "fold_rows": 6, "poll": 0.02}


class Taught:
    """A model folder with its server, which is started again and again."""

    def __init__(self, zygote: Zygote, place: Path) -> None:
        self._zygote = zygote
        self._place = place
        place.mkdir(parents=True)
        write_rows(place / "train.tsv", N_ROWS)
        how = ["--out", str(place / "template"), "--method", "knn", "--threads", "1"]
        zygote.run_here(["train", str(place / "train.tsv"), *how])
        self.folder = place / "served"
        self._lock = threading.Lock()
        self._started: list[int] = []
        self.begin_anew()

    def begin_anew(self) -> None:
        """Forget all that was taught."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        shutil.copytree(self._place / "template", self.folder / "model")
        self._answers: dict[str, int] = {}

    def kill_at_random(self, n_kills: int, seed: int = 0) -> Report:
        """Kill from outside at any moment, or at any step of writing."""
        rng = random.Random(seed)
        report = Report()
        for number in range(n_kills):
            if number % 10 == 0:
                self.begin_anew()
            step, seconds = rng.randint(1, 150), rng.uniform(0, 0.6)
            at_step = number % 2 == 1
            what = f"killed at step {step}" if at_step else f"killed after {seconds:.4f} s"
            report.add(self._case(what, {"kill_at": step} if at_step else None, seconds))
        return report

    def fail_at_each_step(self, part: str, error: str, n_steps: int) -> Report:
        """Let each step fail that writes files with ``part`` in their names."""
        report = Report()
        for at in range(1, n_steps + 1):
            self.begin_anew()
            plan = {"part": part, "fail_at": at, "error": error}
            report.add(self._case(f"{error} at step {at} of {part}", plan, 30.0))
        return report

    def _case(self, what: str, plan: dict[str, Any] | None, seconds: float) -> Report:
        report = Report()
        n_before = len(self._answers)
        try:
            process, client = self._start(plan)
            with ThreadPoolExecutor(2) as pool:
                teachers = [pool.submit(self._teach, client) for _ in range(2)]
                self._kill(process, plan or {}, seconds)
                for teacher in teachers:
                    teacher.result()
            code = self._zygote.wait(process)
            report.counts["killed"] += code == -signal.SIGKILL
            if code not in (-signal.SIGKILL, 0):
                raise Wrong(f"it ended with {code}: {self._log.read_text()[-2000:]}")
            self._check()
        except Exception as error:
            report.faults.append(f"learn: {what}: {error!r}")
            for process in self._started:
                self._end(process)
            self.begin_anew()
        now = Counter(list(self._answers.values())[n_before:])
        report.counts.update({"answered": now[200], "refused": now.total() - now[200] - now[0]})
        return report

    def _start(self, plan: dict[str, Any] | None = None) -> tuple[int, Client]:
        client = Client(free_port())
        self._log.unlink(missing_ok=True)
        serve = {"model": str(self.folder / "model"), "port": client.port, **SETTINGS}
        job: dict[str, Any] = {"serve": serve, "log": str(self._log)}
        if plan is not None:
            job["plan"] = {"root": str(self.folder), **plan}
        process = self._zygote.start(job)
        self._started = [*filter(_lives, self._started), process]
        ends = time.monotonic() + START_SECONDS
        while not client.is_ready:
            if time.monotonic() > ends or not _lives(process):
                self._zygote.wait(process)
                raise Wrong(f"it does not start: {self._log.read_text()[-2000:]}")
            time.sleep(0.01)
        return process, client

    def _kill(self, process: int, plan: dict[str, Any], seconds: float) -> None:
        """Kill, or wait until it has killed itself or has refused something and gone on."""
        n_before = len(self._answers)
        ends = time.monotonic() + (20.0 if "kill_at" in plan else seconds)
        while time.monotonic() < ends and _lives(process):
            if "fail_at" in plan:
                since = list(self._answers.values())[n_before:]
                refused = [at for at, status in enumerate(since) if status not in (0, 200)]
                # A save that fails is the server's own affair: it goes on, and so it is taught on.
                if len(since) > 30 or (refused and 200 in since[refused[0] :]):
                    break
            time.sleep(0.001)
        os.kill(process, signal.SIGKILL)

    def _end(self, process: int) -> None:
        """Kill a process that something went wrong with, if it is still there."""
        if _lives(process):
            os.kill(process, signal.SIGKILL)
            self._zygote.wait(process)

    def _teach(self, client: Client) -> None:
        """Teach one row after another until nobody answers."""
        while True:
            with self._lock:
                text = f"taught number {len(self._answers)}"
                self._answers[text] = 0
            try:
                self._answers[text] = self._teach_one(client, text)
            except (OSError, ValueError, HTTPException):
                return  # neither answered for nor refused

    def _teach_one(self, client: Client, text: str) -> int:
        status, told = client.learn(text, ["red", "taught"])
        if status != 200 and not str(told.get("error", "")).endswith("."):
            raise Wrong(f"{status}: {told}")
        return status

    def _check(self) -> None:
        """Start again, look at what is known, teach a last row, and end well."""
        process, client = self._start()
        learned = self._in_log()
        n_examples = client.ask("GET", "/v1/model")[1]["n_examples"]
        if n_examples != N_ROWS + learned.total():
            raise Wrong(f"{n_examples} rows are known, {learned.total()} are in the log")
        if twice := [text for text, n in learned.items() if n > 1]:
            raise Wrong(f"learned twice: {twice}")
        answered = [text for text, status in self._answers.items() if status == 200]
        if lost := [text for text in answered if not learned[text]]:
            raise Wrong(f"lost: {lost}")
        refused = [text for text, status in self._answers.items() if status not in (0, 200)]
        if wrongly := [text for text in refused if learned[text]]:
            raise Wrong(f"refused, but learned: {wrongly}")
        text = f"last number {len(self._answers)}"
        self._answers[text] = self._teach_one(client, text)
        os.kill(process, signal.SIGTERM)
        if self._zygote.wait(process) not in (0, -signal.SIGTERM):
            raise Wrong(f"it does not end well: {self._log.read_text()[-2000:]}")
        here = {name for name in listing(self.folder) if "/" not in name}
        known = {"model", "model.learned.jsonl", ".model.lock", ".model.learned.jsonl.lock"}
        if here - known:
            raise Wrong(f"left behind: {here - known}")

    def _in_log(self) -> Counter[str]:
        path = self.folder / "model.learned.jsonl"
        if not path.exists():
            return Counter()
        whole = path.read_bytes().rpartition(b"\n")[0]  # a line may be cut off
        return Counter(json.loads(line)["text"] for line in whole.splitlines())

    @property
    def _log(self) -> Path:
        return self._place / "log"


def _lives(process: int) -> bool:
    """Tell whether a process has not ended, waited for or not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
