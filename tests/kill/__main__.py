"""The whole kill suite: ``python -m tests.kill [--kills 100] [--seed 0] [VERB …]`` (``make kill``).

Prints a line for each verb, and what went wrong; ends with 1 if anything did.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
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
    told = parser.parse_args()
    zygote = Zygote()
    n_faults = 0
    with tempfile.TemporaryDirectory(prefix="labelspace-kill-") as folder:
        for number, verb in enumerate(told.verbs):
            place = Path(folder) / str(number)
            found = (
                learn(zygote, place, told.kills, told.seed)
                if verb == LEARN
                else disturb(verb, zygote, place, told.kills, told.seed)
            )
            for way, report in found.items():
                counts = ", ".join(f"{n} {what}" for what, n in report.counts.items())
                print(f"{verb}, {way}: {counts}", *report.faults, sep="\n  ", flush=True)
                n_faults += len(report.faults)
    zygote.close()
    return min(n_faults, 1)


def disturb(verb: str, zygote: Zygote, place: Path, n_kills: int, seed: int) -> dict[str, Report]:
    """Try a verb in all ways, in all its forms."""
    found: dict[str, Report] = {}
    forms = VERBS[verb]
    for number, form in enumerate(forms):
        cases = Cases(form, zygote, place / str(number))
        every = 1 if len(cases.steps) <= MOST_STEPS else len(cases.steps) // N_STEPS
        ways = {
            "at random": cases.kill_at_random(-(-n_kills // len(forms)), seed),
            "at each step": cases.kill_at_each_step(every),
            "disk full for one step": cases.fail_at_each_step("ENOSPC", every=every),
            "disk full from a step on": cases.fail_at_each_step("ENOSPC", always=True, every=every),
            "disk broken at a step": cases.fail_at_each_step("EIO", every=every),
            "read-only": cases.fail_at_each_step("EROFS", always=True, every=1 << 30),
            "folder gone": cases.vanish_at_each_step(every),
            "two at once": cases.two_at_once(),
            "flushed before renamed": Report(faults=cases.unflushed()),
        }
        for way, report in ways.items():
            found.setdefault(way, Report()).add(report)
    return found


def learn(zygote: Zygote, place: Path, n_kills: int, seed: int) -> dict[str, Report]:
    """Teach a server, and disturb it."""
    taught = Taught(zygote, place)
    return {
        "at random": taught.kill_at_random(n_kills, seed),
        "disk full, log": taught.fail_at_each_step("learned.jsonl", "ENOSPC", 16),
        "disk broken, log": taught.fail_at_each_step("learned.jsonl", "EIO", 16),
        "disk full, model": taught.fail_at_each_step(".saving-", "ENOSPC", 48),
    }


if __name__ == "__main__":
    sys.exit(main())
