"""What ``labelspace tune`` shows while it works: a leaderboard on a terminal, lines elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from labelspace import progress
from labelspace.cli import output
from labelspace.tuning.budget import shown_seconds
from labelspace.tuning.report import ranked_rows
from labelspace.tuning.tuner import Tuner

MOST_SHOWN = 10


@contextmanager
def live(tuner: Tuner) -> Iterator[Callable[[Tuner], None]]:
    """Show the trials of a tuner; give what has to be called after each."""
    if not sys.stderr.isatty():
        with progress.listening(_TrialLines()):
            yield _say
        return
    board = Board(tuner)
    with board.live, progress.listening(board):
        yield lambda tuner: board.live.refresh()


def print_ranking(tuner: Tuner) -> None:
    """Write the best of all that learned from all rows but those held out."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title=f"On {tuner.n_held_out_:,} rows held out", title_justify="left")
    for row in ranked_rows(tuner, MOST_SHOWN):
        if not table.columns:
            for name in row:
                is_figure = name != "what"
                table.add_column(name, justify="right" if is_figure else "left", no_wrap=is_figure)
        table.add_row(*(f"{one:.2f}" if isinstance(one, float) else one for one in row.values()))
    if table.columns:
        Console().print(table)


def _say(tuner: Tuner) -> None:
    last = tuner.outcomes_[-1]
    figure = last.figures.get(tuner.metric)
    came = f"failed: {last.error}" if figure is None else f"{tuner.metric} {figure:.2f}"
    best = f"; best {tuner.ranking_[0].figures[tuner.metric]:.2f}" if tuner.ranking_ else ""
    output.say(
        f"Trial {last.number} ({shown_seconds(last.spent)} of "
        f"{shown_seconds(tuner.budget_seconds_)}): {last.configuration}, {last.n_rows:,} rows: "
        f"{came}{best}"
    )


class _TrialLines(output.Lines):
    """One line for each stage, without the trials, which have lines of their own."""

    def finished(self, task: int) -> None:
        if self._open[task][0].startswith("Trial "):
            del self._open[task]
        else:
            super().finished(task)


class Board:
    """The best so far as a table, and what is being done below it."""

    def __init__(self, tuner: Tuner) -> None:
        from rich.console import Console
        from rich.live import Live
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
        from rich.table import Column

        console = Console(stderr=True)
        self._tuner = tuner
        self._bars = Progress(
            TextColumn(
                "{task.description}",
                markup=False,
                table_column=Column(ratio=1, no_wrap=True, overflow="ellipsis"),
            ),
            BarColumn(bar_width=12),
            TimeElapsedColumn(),
            console=console,
            expand=True,
        )
        self._n_open = 0
        self.live = Live(self, console=console, refresh_per_second=2, transient=True)

    def __rich__(self) -> Any:
        from rich.console import Group
        from rich.table import Table

        tuner, metric = self._tuner, self._tuner.metric
        table = Table(title=_progress_of(tuner), title_justify="left", expand=True)
        table.add_column("", justify="right")
        table.add_column("best so far", ratio=1, no_wrap=True, overflow="ellipsis")
        table.add_column(metric, justify="right", no_wrap=True)
        for place, one in enumerate(getattr(tuner, "ranking_", [])[:MOST_SHOWN], 1):
            table.add_row(str(place), str(one), f"{one.figures[metric]:.2f}")
        return Group(table, self._bars)

    def started(self, description: str, total: int | None) -> int:
        self._n_open += 1
        # Stages of stages would make the board jump.
        return self._bars.add_task(description, total=total, visible=self._n_open <= 2)

    def advanced(self, task: int, steps: int) -> None:
        self._bars.advance(task, steps)  # type: ignore[arg-type]

    def finished(self, task: int) -> None:
        self._n_open -= 1
        self._bars.remove_task(task)  # type: ignore[arg-type]

    def compiling(self, kernel: str | None) -> None:
        pass


def _progress_of(tuner: Tuner) -> str:
    if not hasattr(tuner, "outcomes_"):
        return "Tuning"
    return (
        f"{len(tuner.outcomes_)} trials, {shown_seconds(tuner.seconds_)} of "
        f"{shown_seconds(tuner.budget_seconds_)}"
    )
