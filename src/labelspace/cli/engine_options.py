"""The options of verbs whose work an engine can do: which, with how many workers, and where."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, NamedTuple

import typer

from labelspace.cli.table_options import with_options
from labelspace.errors import UsageError

Engine = Annotated[
    str | None,
    typer.Option(
        "--engine",
        metavar="threads|processes|ray",
        help="Who does the work, cut into blocks: the same bytes by all.",
    ),
]
Workdir = Annotated[
    str | None,
    typer.Option(
        "--workdir",
        metavar="DIR",
        help="Folder of the blocks, which all workers see; a stopped run goes on from there.",
    ),
]
Workers = Annotated[
    int | None, typer.Option("--workers", min=1, help="Blocks at the same time; one for each core.")
]
Address = Annotated[
    str | None,
    typer.Option(
        "--address", metavar="ADDRESS", help="Of the Ray cluster: auto, host:port, ray://host:port."
    ),
]
Accept = Annotated[
    int | None,
    typer.Option("--accept", min=1, help="Learners of an ensemble that do if others fail."),
]
_OPTIONS: dict[str, tuple[Any, Any]] = {
    "engine": (Engine, None),
    "workdir": (Workdir, None),
    "workers": (Workers, None),
    "address": (Address, None),
    "accept": (Accept, None),
}


class EngineChoice(NamedTuple):
    """Which engine is to work, if any."""

    engine: str | None = None
    workdir: str | None = None
    workers: int | None = None
    address: str | None = None
    accept: int | None = None

    @contextmanager
    def used(self) -> Iterator[Any]:
        """Let the engine do the work of the block; None is given where there is none."""
        if self.engine is None:
            yield None
            return
        from labelspace import engine
        from labelspace.cli.output import say

        how: dict[str, Any] = {"n_workers": self.workers, "address": self.address}
        with engine.using(self.engine, workdir=self.workdir, accept=self.accept, **how) as used:
            for line in used.about():
                say(line)
            yield used


def works_in_blocks(verb: Callable[..., None]) -> Callable[..., None]:
    """Give a verb the options of engines; it gets them as one ``engine``."""
    return with_options(verb, "engine", _OPTIONS, _checked)


def _checked(said: dict[str, Any]) -> EngineChoice:
    choice = EngineChoice(**said)
    if choice.engine is None:
        for name, value in said.items():
            if value is not None:
                raise UsageError(f"--{name} is about an engine: add --engine, or leave it out.")
    return choice
