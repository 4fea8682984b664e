"""A warm process that starts others by forking: each is a command line or a server of its own.

It has imported everything and compiled what a small corpus needs, so that a command takes as long
as its work. Its standard input has a job a line: ``{"argv": […]}`` or ``{"serve": {…}}``, each with
``log``, and perhaps with a ``plan`` for ``faults``; it answers with the number of the process.
``{"wait": number}`` answers with how that ended, and ``{"here": […]}`` runs a command line in the
warm process itself.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parents[2]
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class Zygote:
    """Starts the warm process, and asks it for others."""

    def __init__(self) -> None:
        path = os.pathsep.join([str(PROJECT), *sys.path])
        self._said = tempfile.TemporaryFile()  # noqa: SIM115
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.kill.zygote"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            text=True,
            bufsize=1,
            env={**os.environ, "PYTHONPATH": path, **dict.fromkeys(ONE_THREAD, "1")},
            cwd=PROJECT,
        )

    def run_here(self, argv: list[str], small: dict[str, int] | None = None) -> None:
        """Run a command that ends well in the warm process itself: the next is quicker for it."""
        if self._ask({"here": argv, "small": small or {}}) != 0:
            self._said.seek(0)
            raise AssertionError(self._said.read().decode())

    def start(self, job: dict[str, Any]) -> int:
        """Start a process; return its number, which is its own until it is waited for."""
        return int(self._ask(job))

    def wait(self, process: int) -> int:
        """Wait for a process; return its exit code, or the negative number of its signal."""
        return os.waitstatus_to_exitcode(self._ask({"wait": process}))

    def run(self, job: dict[str, Any]) -> int:
        """Run a process to its end."""
        return self.wait(self.start(job))

    def close(self) -> None:
        """End the warm process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def _ask(self, job: dict[str, Any]) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(job) + "\n")
        return json.loads(self._process.stdout.readline())


def main() -> None:
    """Answer one line after another."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    for line in sys.stdin:
        job = json.loads(line)
        if "wait" in job:
            told = os.waitpid(job["wait"], 0)[1]
        elif "here" in job:
            _make_small(**job["small"])
            told = _command_line(job["here"])
        else:
            if "serve" in job:
                import labelspace.server.run  # noqa: F401  (for all that are forked from now on)
            told = os.fork()
            if not told:
                _work(job)
        answers.write(f"{json.dumps(told)}\n")


def _work(job: dict[str, Any]) -> None:
    """Do a job, and end."""
    code = 70
    try:
        log = os.open(job["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        for stream in (1, 2):
            os.dup2(log, stream)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        _make_small(**job.get("small", {}))
        tempfile.tempdir = job.get("temporary")
        if "plan" in job:
            from tests.kill.faults import Layer, Plan

            Layer(Plan(**job["plan"])).install()
        code = _command_line(job["argv"]) if "argv" in job else _serve(job["serve"])
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        sys.stderr.flush()
        sys.stdout.flush()
        os._exit(code)


def _command_line(argv: list[str]) -> int:
    from labelspace.cli import main

    sys.argv = ["labelspace", *argv]
    try:
        main()
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def _make_small(rows_of_a_part: int | None = None, n_trials: int | None = None) -> None:
    """Let a small corpus have several parts, and a search few trials."""
    if rows_of_a_part is not None:
        from labelspace.cli import tagged_table
        from labelspace.data import parts

        parts.ROWS = tagged_table.ROWS = rows_of_a_part
    if n_trials is not None:
        from labelspace.tuning.tuner import Tuner

        Tuner.__init__.__kwdefaults__["n_trials"] = n_trials


def _serve(settings: dict[str, Any]) -> int:
    from labelspace.server.run import serve
    from labelspace.server.settings import ServerSettings

    serve(ServerSettings(**settings))
    return 0


if __name__ == "__main__":
    main()
