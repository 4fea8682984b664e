"""Make the trials of a study that are not there yet, and fill its page."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Collection, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from benchmarks import corpora, studies
from benchmarks.render.marked import put
from benchmarks.studies import lines
from benchmarks.studies.source import Source
from benchmarks.studies.study import Figures, Part, Study, Trial


@dataclass(frozen=True)
class Asked:
    """What a command wants of a study; empty means all."""

    parts: Collection[str] = ()
    corpora: Collection[str] = ()
    seeds: Collection[int] = ()
    again: bool = False
    """Whether trials that are there are made again; their newest lines are shown."""
    quick: bool = False
    """Whether to see only that it works: few rows, the first corpus and seed, nothing kept."""
    budget_s: float = 3300.0


def carry_out(study: Study, asked: Asked, folder: Path = lines.FOLDER) -> int:
    """Make what is asked for and missing; return how many trials are still to do."""
    started = time.monotonic()
    todo = list(missing(study, asked, folder))
    print(f"{study.name}: {len(todo)} trials to do", flush=True)
    source = Source(quick=asked.quick)
    for done, (part, trial) in enumerate(todo):
        if time.monotonic() - started > asked.budget_s:
            print(f"The time for one command is over; {len(todo) - done} left: run it again.")
            return len(todo) - done
        print(f"[{done + 1}/{len(todo)}] {trial}", flush=True)
        for measured, figures in _measure(study, part, trial, source):
            print(f"  {measured.variant or measured.part}: {_summary(figures)}", flush=True)
            if not asked.quick:
                lines.append(study.name, measured, figures, folder)
    return 0


def missing(
    study: Study, asked: Asked, folder: Path = lines.FOLDER
) -> Iterator[tuple[Part, Trial]]:
    """Return the trials that are asked for and have no line yet."""
    for name in asked.parts:
        if name not in study.parts:
            raise SystemExit(
                f"{study.name} has no part {name!r}: choose from {', '.join(study.parts)}."
            )
    there = {line.identity() for line in lines.read(study.name, folder)}
    for name, part in study.parts.items():
        if asked.parts and name not in asked.parts:
            continue
        for trial in part.trials:
            if asked.corpora and trial.corpus not in asked.corpora:
                continue
            if asked.seeds and trial.seed not in asked.seeds:
                continue
            if asked.quick:
                first = part.trials[0]
                if asked.corpora or (trial.corpus, trial.seed) == (first.corpus, first.seed):
                    yield part, trial
            elif asked.again or trial.identity() not in there:
                yield part, trial


def fill(study: Study, folder: Path = lines.FOLDER) -> None:
    """Write the tables and draw the pictures of a study's page from its lines alone."""
    measured = lines.read(study.name, folder)
    for mark, text in study.tables(measured).items():
        put(study.page, mark, text)
    if study.draw is not None:
        study.draw(measured, corpora.ROOT / "docs" / "assets")


def _measure(
    study: Study, part: Part, trial: Trial, source: Source
) -> Iterator[tuple[Trial, Figures]]:
    if not part.own_process:
        yield from part.measure(trial, source)
        return
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawn) as pool:
        yield from pool.submit(_in_own_process, study.name, trial, source.quick).result()


def _in_own_process(study: str, trial: Trial, quick: bool) -> list[tuple[Trial, Figures]]:
    part = studies.find(study).parts[trial.part]
    return list(part.measure(trial, Source(quick=quick)))


def _summary(figures: Figures) -> str:
    """Return the figures that fit on a line."""
    told = [f"{name} {value}" for name, value in lines.rounded(figures).items()]
    text = ", ".join(told)
    return text if len(text) < 200 else f"{text[:199]}…"
