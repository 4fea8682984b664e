"""What a study is: parts, each with its trials and how one is measured, and a page."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchmarks.studies.lines import Measured
    from benchmarks.studies.source import Source

Figures = dict[str, Any]


@dataclass(frozen=True)
class Trial:
    """What is trained or measured once; trials that are equal need not be repeated."""

    part: str
    corpus: str = ""
    """Of the benchmarks, or whatever else stands for the data."""
    variant: str = ""
    """A name, where the parameters do not say all that is different."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0

    def identity(self) -> str:
        """Return a text that is equal for equal trials, also after a way through JSON."""
        told = [self.part, self.corpus, self.variant, dict(self.parameters), self.seed]
        return json.dumps(told, sort_keys=True)

    def __str__(self) -> str:
        setting = ", ".join(f"{name}={value}" for name, value in self.parameters.items())
        words = (self.part, self.corpus, self.variant, setting, f"seed {self.seed}")
        return "; ".join(word for word in words if word)


Measure = Callable[[Trial, "Source"], Iterator[tuple[Trial, Figures]]]
"""From a trial to its figures. Whatever else the same model is asked, with which setting, may be
given too; the trial itself comes last, so that a stopped one is made again."""


@dataclass(frozen=True)
class Part:
    """Trials that are measured in the same way."""

    trials: Sequence[Trial]
    measure: Measure
    own_process: bool = False
    """Whether each trial gets a process of its own, so that peaks of memory do not add up."""


@dataclass(frozen=True)
class Study:
    """Trials, and the page that shows what came out."""

    name: str
    parts: Mapping[str, Part]
    page: Path
    tables: Callable[[list[Measured]], dict[str, str]]
    """From all lines to the texts of the page, by their marks."""
    draw: Callable[[list[Measured], Path], None] | None = None
    """Draws the page's pictures into a folder."""
