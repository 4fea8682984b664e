"""The long run of the fuzzing suite.

``python -m tests.fuzz [--cases N] [--seed 0] [NAME …]`` (``make fuzz``) prints a line for each
name, and what went wrong; it ends with 1 if anything did. Names are those of methods and of other
model folders (``folder_models``), of formats of corpora and vocabularies, "server" (requests, also
"server-review" and so on for some routes alone) and "sockets" (their bytes). Without names all of
them have their turn: 1,000 cases for a model folder, 2,000 for some routes, 10,000 for others.
"""

from __future__ import annotations

import argparse
import sys

from tests.fuzz import folder_models
from tests.fuzz.processes import GOOD, run_cases
from tests.fuzz.samples import CORPORA, VOCABULARIES
from tests.fuzz.server_cases import GROUPS

MODULES = {
    **dict.fromkeys(("server", "sockets"), ("server_cases", 10_000)),
    **dict.fromkeys(GROUPS, ("server_cases", 2_000)),
    **dict.fromkeys((*CORPORA, *VOCABULARIES), ("corpus_cases", 10_000)),
    **dict.fromkeys(folder_models.NAMES, ("folder_cases", 1_000)),
}


def main() -> int:
    """Run cases of what is named, or of all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=list(MODULES), metavar="NAME")
    parser.add_argument("--cases", type=int)
    parser.add_argument("--seed", type=int, default=0)
    told = parser.parse_args()
    n_faults = 0
    for name in told.names:
        if name not in MODULES:
            parser.error(f"{name} is none of {', '.join(MODULES)}")
        module, usual = MODULES[name]
        report = run_cases(module, name, told.cases or usual, told.seed)
        counts = ", ".join(f"{report.counts[came]:,} {came}" for came in (*GOOD, "faults"))
        print(f"{name}: {counts}", *report.faults, sep="\n  ", flush=True)
        n_faults += len(report.faults)
    return min(n_faults, 1)


if __name__ == "__main__":
    sys.exit(main())
