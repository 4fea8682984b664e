"""Guards the command line's start-up time: `labelspace --help` must feel immediate.

Heavy packages are imported inside the functions that need them. The first test says when the
time is lost, the second says to whom.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ("faiss", "matplotlib", "numba", "scipy", "sklearn", "torch")
LIMIT_SECONDS = 0.5
TRIES = 5


def test_help_takes_less_than_half_a_second_of_processor_time():
    resource = pytest.importorskip("resource", reason="CPU time of a child needs a Unix system")

    def cpu_seconds_of_help() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([*labelspace_command(), "--help"], capture_output=True, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert done.returncode == 0, done.stderr
        assert "train" in done.stdout
        return (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)

    best = min(cpu_seconds_of_help() for _ in range(TRIES))
    assert best < LIMIT_SECONDS, f"labelspace --help took {best:.2f} s of CPU time at best"


@pytest.mark.parametrize(
    "statement",
    [
        "import labelspace",
        "import labelspace.cli",
        "import labelspace.cli; sys.argv = ['labelspace', '--help']; labelspace.cli.main()",
    ],
    ids=["import-labelspace", "import-cli", "help"],
)
def test_starting_up_imports_no_heavy_package(statement):
    program = (
        "import sys\n"
        "try:\n"
        f"    {statement}\n"
        "except SystemExit as stop:\n"
        "    assert not stop.code, stop.code\n"
        f"print(*[name for name in {HEAVY} if name in sys.modules], file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr.split() == [], f"imported at start-up: {done.stderr.strip()}"


def labelspace_command() -> list[str]:
    """Return the installed command, or its equivalent when only the sources are on the path."""
    script = Path(sys.executable).with_name("labelspace")
    if script.exists():
        return [str(script)]
    return [sys.executable, "-c", "from labelspace.cli import main; main()"]
