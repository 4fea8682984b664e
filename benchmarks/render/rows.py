"""Gather the runs of one method with one setting into a row: mean and deviation of each figure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import fmean, stdev
from typing import Any

from benchmarks.corpora import RANDOM_SPLITS
from benchmarks.peers import PEERS
from benchmarks.results import DONE, ENDED_EARLY, Line, latest

ACCURACY = ("P@1", "P@3", "P@5", "nDCG@5", "PSP@1", "PSP@3", "PSP@5")
COST = ("train_cpu_s", "batch_cpu_ms", "model_mib", "peak_mib")


@dataclass(frozen=True)
class Figure:
    """A mean, and its deviation where there were several runs."""

    mean: float
    deviation: float = math.nan

    @classmethod
    def of(cls, values: Sequence[float]) -> Figure:
        return cls(fmean(values), stdev(values) if len(values) > 1 else math.nan)


@dataclass(frozen=True)
class Row:
    """One line of a table."""

    title: str
    kind: str
    """own, peer or earlier."""
    figures: dict[str, Figure] = field(default_factory=dict)
    note: str = ""
    method: str = ""


def gather(
    lines: Iterable[Line],
    corpus: str,
    split: str = "given",
    *,
    methods: Sequence[str] = (),
    variants: bool = False,
) -> list[Row]:
    """Return the rows of one table.

    ``split`` is ``given``, or ``ten`` for the random splits. Settings other than the default appear
    only where ``variants`` asks for them.
    """
    groups: dict[tuple[str, str], list[Line]] = {}
    for line in latest(lines):
        if line["corpus"] != corpus or (line["split"] == "given") != (split == "given"):
            continue
        if (methods and line["method"] not in methods) or (line["parameters"] and not variants):
            continue
        groups.setdefault((line["method"], setting(line["parameters"])), []).append(line)
    rows = [_row(runs, split) for runs in groups.values()]
    return sorted(rows, key=lambda row: (row.kind != "own", _rank(row.method), row.title))


def setting(parameters: dict[str, Any]) -> str:
    """Return the parameters as people write them."""
    return ", ".join(f"{name}={value}" for name, value in sorted(parameters.items()))


def _row(runs: list[Line], split: str) -> Row:
    method = runs[0]["method"]
    peer = PEERS.get(method)
    title = peer.title if peer else method
    if runs[0]["parameters"]:
        title += f" ({setting(runs[0]['parameters'])})"
    done = [run for run in runs if run["status"] == DONE]
    early = [run for run in runs if run["status"] != DONE]
    notes = sorted({_unfinished(run) for run in early})
    if split == "ten" and done and len(done) < len(RANDOM_SPLITS):
        notes.append(f"{len(done)} of {len(RANDOM_SPLITS)} splits")
    figures: dict[str, Figure] = {}
    if done:
        figures = {name: Figure.of([run["metrics"][name] for run in done]) for name in ACCURACY}
        figures |= {name: Figure.of([run[name] for run in done]) for name in COST}
    elif all("train_cpu_s" in run for run in early):
        figures = {"train_cpu_s": Figure.of([run["train_cpu_s"] for run in early])}
    return Row(title, "peer" if peer else "own", figures, "; ".join(notes), method)


def _unfinished(run: Line) -> str:
    doing = {"train": "training", "save": "saving", "load": "loading", "predict": "predicting"}
    stage = run.get("stage", "starting")
    if run["status"] == ENDED_EARLY:
        minutes = run["time_limit_s"] / 60.0
        return f"ended early: stopped after {minutes:.0f} minutes while {doing.get(stage, stage)}"
    return f"failed while {doing.get(stage, stage)}"


def _rank(method: str) -> int:
    names = list(PEERS)
    return names.index(method) if method in names else -1
