"""The lines that studies leave: reading, finding and adding them.

Every line of every study has the same keys: ``study``, ``part``, ``corpus``, ``variant``,
``parameters`` and ``seed`` say what it is about, ``figures`` what came out, and ``version``,
``date`` and ``machine`` when and where (null in lines from before these were kept).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import labelspace
from benchmarks import measure, results
from benchmarks.studies.study import Figures, Trial

FOLDER = results.RESULTS / "studies"


@dataclass(frozen=True)
class Measured(Trial):
    """A trial and what came out."""

    figures: Figures = field(default_factory=dict)
    version: str | None = None
    date: str | None = None
    machine: Mapping[str, Any] | None = None


def read(study: str, folder: Path = FOLDER) -> list[Measured]:
    """Return the lines of a study: the newest of each trial, in the order of their first."""
    path = folder / f"{study}.jsonl"
    if not path.exists():
        return []
    newest: dict[str, Measured] = {}
    for text in path.read_text(encoding="utf-8").splitlines():
        line = json.loads(text)
        del line["study"]
        measured = Measured(**line)
        newest[measured.identity()] = measured
    return list(newest.values())


def append(study: str, trial: Trial, figures: Figures, folder: Path = FOLDER) -> None:
    """Add a line; floats are kept to six digits."""
    line = {
        "study": study,
        **asdict(Trial(trial.part, trial.corpus, trial.variant, trial.parameters, trial.seed)),
        "figures": rounded(figures),
        "version": f"labelspace {labelspace.__version__}",
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "machine": measure.machine(),
    }
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{study}.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(line, ensure_ascii=False, default=float) + "\n")


def rounded(value: Any) -> Any:
    """Return figures with floats cut to six digits, however deep they are.

    >>> rounded({"P@1": [66.66666666, None], "n": 3})
    {'P@1': [66.6667, None], 'n': 3}
    """
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, Mapping):
        return {name: rounded(one) for name, one in value.items()}
    return [rounded(one) for one in value] if isinstance(value, list | tuple) else value


def select(lines: Iterable[Measured], **asked: Any) -> list[Measured]:
    """Return the lines whose part, corpus, variant, parameters or seed are as asked.

    >>> lines = [Measured("parts", "bibtex", parameters={"hidden": [8]}), Measured("cost")]
    >>> [line.corpus for line in select(lines, part="parts", parameters={"hidden": (8,)})]
    ['bibtex']
    """
    if "parameters" in asked:
        asked["parameters"] = json.loads(json.dumps(asked["parameters"]))
    return [
        line
        for line in lines
        if all(_plain(getattr(line, name)) == value for name, value in asked.items())
    ]


def _plain(value: Any) -> Any:
    return json.loads(json.dumps(value)) if isinstance(value, Mapping) else value
