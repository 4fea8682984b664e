"""The whole kill suite: ``python -m tests.kill [--kills 100] [--seed 0] [VERB …]`` (``make kill``).

Prints a line for each verb and way, and what went wrong; ends with 1 if anything did. ``--way``
names one of the ways, such as "at random", to try that alone.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from tests.kill.suite import Cases, Report
from tests.kill.teaching import Taught
from tests.kill.verbs import VERBS
from tests.kill.zygote import Zygote

LEARN = "learn"
# A command with more steps than this is disturbed at so many of them.
MOST_STEPS, N_STEPS = 100, 30


def main() -> int:
    """Run the verbs that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("verbs", nargs="*", default=[*VERBS, LEARN])
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--way", help="only this one")
    told = parser.parse_args()
    zygote = Zygote()
    n_faults = 0
    with tempfile.TemporaryDirectory(prefix="labelspace-kill-") as folder:
        for number, verb in enumerate(told.verbs):
            ways = learn if verb == LEARN else VerbWays(verb)
            for way, attempt in ways(zygote, Path(folder) / str(number), told.kills, told.seed):
                if told.way in (None, way):
                    report = attempt()
                    counts = ", ".join(f"{n} {what}" for what, n in report.counts.items())
                    print(f"{verb}, {way}: {counts}", *report.faults, sep="\n  ", flush=True)
                    n_faults += len(report.faults)
    zygote.close()
    return min(n_faults, 1)


Ways = Iterator[tuple[str, Callable[[], Report]]]


class VerbWays:
    """All ways to disturb a verb, in all its forms."""

    def __init__(self, verb: str) -> None:
        self.verb = verb

    def __call__(self, zygote: Zygote, place: Path, n_kills: int, seed: int) -> Ways:
        forms = VERBS[self.verb]
        tried = [Cases(form, zygote, place / str(at)) for at, form in enumerate(forms)]
        n_each = -(-n_kills // len(forms))

        def every(cases: Cases) -> int:
            return 1 if len(cases.steps) <= MOST_STEPS else len(cases.steps) // N_STEPS

        ways: dict[str, Callable[[Cases], Report]] = {
            "at random": lambda cases: cases.kill_at_random(n_each, seed),
            "at each step": lambda cases: cases.kill_at_each_step(every(cases)),
            "disk full for one step": lambda cases: cases.fail_at_each_step(
                "ENOSPC", every=every(cases)
            ),
            "disk full from a step on": lambda cases: cases.fail_at_each_step(
                "ENOSPC", always=True, every=every(cases)
            ),
            "disk broken at a step": lambda cases: cases.fail_at_each_step(
                "EIO", every=every(cases)
            ),
            "read-only": lambda cases: cases.fail_at_each_step("EROFS", always=True, every=1 << 30),
            "folder gone": lambda cases: cases.vanish_at_each_step(every(cases)),
            "two at once": lambda cases: cases.two_at_once(),
            "flushed before renamed": lambda cases: Report(faults=cases.unflushed()),
        }
        for way, disturb in ways.items():
            yield way, partial(_of_all, disturb, tried)


def _of_all(disturb: Callable[[Cases], Report], tried: list[Cases]) -> Report:
    report = Report()
    for cases in tried:
        report.add(disturb(cases))
    return report


def learn(zygote: Zygote, place: Path, n_kills: int, seed: int) -> Ways:
    """Teach a server, and disturb it."""
    taught = Taught(zygote, place)
    fail = taught.fail_at_each_step
    yield "at random", lambda: taught.kill_at_random(n_kills, seed)
    yield "disk full, log", lambda: fail("learned.jsonl", "ENOSPC", 16)
    yield "disk broken, log", lambda: fail("learned.jsonl", "EIO", 16)
    yield "disk full, model", lambda: fail(".saving-", "ENOSPC", 48)


if __name__ == "__main__":
    sys.exit(main())
