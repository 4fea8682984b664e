"""Kills commands at random and planned moments, lets their writes fail, and looks at what is left.

Whatever happens, what was there before is there, or what the command makes of it, whole; the next
run of the same command comes to the same end as one that was never disturbed, and leaves nothing
but what every run leaves.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.kill.verbs import Verb
from tests.kill.zygote import Zygote


@dataclass
class Report:
    """How many cases ended how, and what went wrong."""

    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def add(self, other: Report) -> None:
        """Count the cases of another report as well."""
        self.counts += other.counts
        self.faults += other.faults


class Wrong(Exception):
    """What should not have happened."""


class Cases:
    """The cases of one verb, in folders of their own below ``place``."""

    def __init__(self, verb: Verb, zygote: Zygote, place: Path) -> None:
        self.verb = verb
        self._zygote = zygote
        self._place = place
        self._n_cases = 0
        self._template = place / "template"
        self._template.mkdir(parents=True)
        verb.prepare(self._template, zygote)
        # All cases are at the same place: a command may keep what it was told.
        self.folder = place / "case"
        self._fresh()
        self.before = verb.state(self.folder)
        zygote.run_here(verb.argv(self.folder), verb.small)
        self._fresh()
        self._run_well()
        self.after = verb.state(self.folder)
        self._listing = listing(self.folder)
        if verb.is_done_twice:
            self._run_well()
        self._twice = verb.state(self.folder)
        self.steps = self._trace()

    def kill_at_random(self, n_kills: int, seed: int = 0) -> Report:
        """Kill from outside, half of the times from the first step on, until so many are dead."""
        rng = random.Random(seed)
        report = Report()
        times = [float(step[0]) for step in self.steps]
        whole, writing = times[-1], times[-1] - times[0]
        tries = 0
        while report.counts["killed"] < n_kills and tries < 6 * n_kills:
            tries += 1
            after_first = tries % 2 == 0
            seconds = rng.uniform(0, writing if after_first else whole)
            report.add(
                self._case(
                    f"killed {seconds:.4f} s",
                    lambda s=seconds, f=after_first: self._kill_after(s, f),
                )
            )
        return report

    def kill_at_each_step(self, every: int = 1) -> Report:
        """Kill before, or in the middle of, each step (or every so many)."""
        report = Report()
        for at in range(1, len(self.steps) + 1, every):
            report.add(
                self._case(
                    f"killed at step {at} ({' '.join(self.steps[at - 1][1:])})",
                    lambda at=at: self._run({"kill_at": at}),
                )
            )
        return report

    def fail_at_each_step(self, error: str, *, always: bool = False, every: int = 1) -> Report:
        """Let each step that can fail do so, one at a time, or with all that follow."""
        from tests.kill.faults import CAN_FAIL

        report = Report()
        steps = [step for step in self.steps if step[1] in CAN_FAIL]
        for at in range(1, len(steps) + 1, every):
            plan = {"fail_at": at, "error": error, "always": always}
            report.add(
                self._case(
                    f"{error} at step {at} ({' '.join(steps[at - 1][1:])})",
                    lambda plan=plan: self._run(plan),
                )
            )
        return report

    def vanish_at_each_step(self, every: int = 1) -> Report:
        """Remove the folder with all that is in it: the command says so, or makes it again."""
        report = Report()
        for at in range(1, len(self.steps) + 1, every):
            self._fresh()
            code = self._run({"vanish_at": at})
            report.counts[_outcome(code)] += 1
            try:
                self._check_end(code)
            except Wrong as error:
                report.faults.append(f"{self.verb.variant}: vanished at step {at}: {error!r}")
        return report

    def two_at_once(self) -> Report:
        """Run the command twice at the same time: both come to the same end, or one is refused."""
        self._fresh()
        jobs = [self._job({}, f"log-{number}") for number in (1, 2)]
        running = [self._zygote.start(job) for job in jobs]
        codes = sorted(self._zygote.wait(process) for process in running)
        told = [Path(job["log"]).read_text() for job in jobs]
        report = Report(Counter(["both" if codes == [0, 0] else "one refused"]))
        try:
            if codes not in ([0, 0], [0, 1], [0, 2]) or "Traceback" in "".join(told):
                raise Wrong(f"exit codes {codes}: {told}")
            wanted = self._twice if codes == [0, 0] else self.after
            if self.verb.state(self.folder) != wanted:
                raise Wrong("another outcome than by turns")
            self._check_listing()
        except Exception as error:
            report.faults.append(f"two at once: {error!r}")
        return report

    def unflushed(self) -> list[str]:
        """Return what got its final name before it was on disk: a power cut would lose it."""
        found, dirty = [], set()
        for _, kind, path, *other in self.steps:
            if kind == "write":
                dirty.add(path)
            elif kind == "flush":
                dirty.discard(path)
            elif kind in ("rename", "exchange"):
                if ".saving-" in Path(other[0]).name:
                    continue  # to go: nobody minds if it is still there after a power cut
                found += [one for one in dirty if (one + "/").startswith(path + "/")]
                dirty.add(str(Path(other[0]).parent))  # its names are on disk when it is flushed
        return [*found, *(dirty - set(found))]

    def _case(self, what: str, disturb: Any) -> Report:
        self._fresh()
        report = Report()
        try:
            code = disturb()
            report.counts[
                "killed" if code == -signal.SIGKILL else "refused" if code else "done"
            ] += 1
            self._check_end(code)
            state = self.verb.state(self.folder)
            if state not in (self.before, self.after):
                raise Wrong("neither what was there before nor what is made of it")
            if code == 0 and state != self.after:
                raise Wrong("the command said that it was done")
            if code > 0:
                self._check_listing(parts_may_stay=True)
            self._run_well()
            if self.verb.state(self.folder) != (self._twice if state == self.after else self.after):
                raise Wrong("the next run gives something else")
            self._check_listing()
        except Exception as error:
            report.faults.append(f"{self.verb.variant}: {what}: {error!r}")
        return report

    def _check_end(self, code: int) -> None:
        if code == -signal.SIGKILL:
            return
        told = self._log("log").read_text()
        if code not in (0, 1) or "Traceback" in told:
            raise Wrong(f"exit code {code}: {told[-2000:]}")
        if code and len([line for line in told.splitlines() if line.startswith("Error: ")]) != 1:
            raise Wrong(f"not one sentence: {told[-2000:]}")

    def _check_listing(self, parts_may_stay: bool = False) -> None:
        extra = listing(self.folder) - self._listing
        if parts_may_stay:  # those of a table that are done, for the next run
            extra = {name for name in extra if ".parts" not in name and "state" not in name}
        if extra:
            raise Wrong(f"left behind: {sorted(extra)}")

    def _fresh(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self._template, self.folder)
        (self.folder / "tmp").mkdir()
        for log in self._place.glob("log*"):
            log.unlink()

    def _kill_after(self, seconds: float, after_first: bool) -> int:
        trace = self._log("trace")
        trace.unlink(missing_ok=True)
        job = self._job({"trace": str(trace)} if after_first else None)
        process = self._zygote.start(job)
        ends = time.monotonic() + 60
        while after_first and not trace.exists() and time.monotonic() < ends:
            time.sleep(0.0005)
        time.sleep(seconds)
        os.kill(process, signal.SIGKILL)
        return self._zygote.wait(process)

    def _trace(self) -> list[list[str]]:
        self._fresh()
        trace = self._log("trace")
        trace.unlink(missing_ok=True)
        code = self._run({"trace": str(trace)})
        if code:
            raise Wrong(self._log("log").read_text())
        return [line.split("\t") for line in trace.read_text().splitlines()]

    def _run(self, plan: dict[str, Any] | None = None) -> int:
        return self._zygote.run(self._job(plan))

    def _run_well(self) -> None:
        self._log("log").unlink(missing_ok=True)
        if code := self._run():
            raise Wrong(f"the undisturbed run ended with {code}: {self._log('log').read_text()}")

    def _job(self, plan: dict[str, Any] | None, log: str = "log") -> dict[str, Any]:
        job: dict[str, Any] = {
            "argv": self.verb.argv(self.folder),
            "log": str(self._log(log)),
            "temporary": str(self.folder / "tmp"),
            "small": self.verb.small,
        }
        return job if plan is None else {**job, "plan": {"root": str(self.folder), **plan}}

    def _log(self, name: str) -> Path:
        return self._place / name


def _outcome(code: int) -> str:
    if code == -signal.SIGKILL:
        return "killed"
    return "refused" if code else "done"


def listing(folder: Path) -> set[str]:
    """Return the names of all that is in a folder."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}
