"""The JSON lines: what identifies a run, which runs are there already, and how to add one."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.corpora import ROOT

RESULTS = ROOT / "benchmarks" / "results"
DONE, ENDED_EARLY, FAILED = "done", "ended early", "failed"

Line = dict[str, Any]


@dataclass(frozen=True)
class Run:
    """One method with one setting on one split of one corpus, from one seed."""

    method: str
    corpus: str
    split: str = "given"
    seed: int = 0
    parameters: Mapping[str, Any] = field(default_factory=dict)
    version: str = ""

    def identity(self) -> str:
        """Return a text that is equal for runs that need not be repeated."""
        return identity(
            {
                "method": self.method,
                "corpus": self.corpus,
                "split": self.split,
                "seed": self.seed,
                "parameters": dict(self.parameters),
                "version": self.version,
            }
        )

    def __str__(self) -> str:
        setting = ", ".join(f"{name}={value}" for name, value in self.parameters.items())
        return f"{self.method}{f' ({setting})' if setting else ''} on {self.corpus}, {self.split}"


def identity(line: Mapping[str, Any]) -> str:
    """Return the part of a line that says which run it is."""
    keys = ("method", "corpus", "split", "seed", "parameters", "version")
    return json.dumps([line[key] for key in keys], sort_keys=True)


def read_lines(folder: Path = RESULTS) -> list[Line]:
    """Return every line of every file, oldest first."""
    lines = [
        json.loads(text)
        for path in sorted(folder.glob("*.jsonl"))
        for text in path.read_text().splitlines()
        if text.strip()
    ]
    return sorted(lines, key=lambda line: str(line["date"]))


def append(line: Line, folder: Path = RESULTS) -> None:
    """Add a line to the file of its corpus."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{line['corpus']}.jsonl").open("a") as file:
        file.write(json.dumps(line, ensure_ascii=False) + "\n")


def is_there(run: Run, lines: Iterable[Line], *, time_limit_s: float, since: str = "") -> bool:
    """Tell whether a run can be skipped: it is done, or it already had as much time as now.

    Lines older than the date ``since`` do not count, so that a quiet sitting can replace what was
    measured on a busy machine, and still resume.
    """
    for line in lines:
        if identity(line) != run.identity() or line["date"] < since:
            continue
        if line["status"] == DONE:
            return True
        if line["status"] == ENDED_EARLY and line["time_limit_s"] >= time_limit_s:
            return True
    return False


def latest(lines: Iterable[Line]) -> list[Line]:
    """Return one line per method, setting, corpus, split and seed: the newest that says most.

    A finished run counts before one that did not finish, whatever their dates.
    """
    chosen: dict[str, Line] = {}
    for line in lines:
        key = identity({**line, "version": ""})
        before = chosen.get(key)
        if before is None or line["status"] == DONE or before["status"] != DONE:
            chosen[key] = line
    return list(chosen.values())
