"""What came of tuning, for people: a page with tables, a picture, and one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labelspace.data.formats.compression import open_output
from labelspace.tuning.budget import shown_seconds

if TYPE_CHECKING:
    from labelspace.tuning.choose import Chosen
    from labelspace.tuning.tuner import Tuner

REPORT, PICTURE = "report.md", "report.svg"


def sentence(tuner: Tuner) -> str:
    """Return what was chosen, and what it is worth beside the default."""
    if tuner.remark_ is not None:
        return tuner.remark_
    reached, default = tuner.chosen_.figures[tuner.metric], tuner.default_
    assert default is not None
    usual = default.figures[tuner.metric]
    beside = f"the default has {usual:.2f}" if reached > usual else "nothing tried was better"
    kind = "A blend of " if len(tuner.chosen_.members) > 1 else ""
    return f"{kind}{tuner.chosen_}: {tuner.metric} {reached:.2f} on rows held out; {beside}."


def summary(tuner: Tuner) -> dict[str, Any]:
    """Return the same as data: what was chosen, its figures, and all that was compared."""
    default = tuner.default_
    return {
        "sentence": sentence(tuner),
        "metric": tuner.metric,
        "chosen": [_told(one.configuration) for one in tuner.chosen_.members],
        "figures": _rounded(tuner.chosen_.figures),
        "default_figures": None if default is None else _rounded(default.figures),
        "n_trials": len(tuner.outcomes_),
        "seconds": round(tuner.seconds_, 1),
        "budget_seconds": tuner.budget_seconds_,
        "leaderboard": [
            {
                "methods": [_told(member.configuration) for member in one.members],
                "figures": _rounded(one.figures),
            }
            for one in tuner.ranking_
        ],
    }


def write_report(tuner: Tuner, corpus: str) -> None:
    """Write the page into the tuner's folder, with a picture where matplotlib is installed."""
    folder = Path(str(tuner.folder))
    has_picture = _draw(tuner, folder / PICTURE)
    text = "\n".join(_page(tuner, corpus, has_picture)) + "\n"
    with open_output(folder / REPORT) as file:
        file.write(text.encode())


def ranked_rows(tuner: Tuner, most: int | None = None) -> Iterator[dict[str, Any]]:
    """Yield a line for each of the best, with the figures and the time of the last training."""
    shown: list[Chosen] = tuner.ranking_ if most is None else tuner.ranking_[:most]
    for one in shown:
        yield {"what": str(one), **one.figures, "train s": one.seconds}


def _page(tuner: Tuner, corpus: str, has_picture: bool) -> Iterator[str]:
    yield from (f"# Tuning on {corpus}", "", sentence(tuner), "")
    yield (
        f"{len(tuner.outcomes_)} trials in {shown_seconds(tuner.seconds_)} of "
        f"{shown_seconds(tuner.budget_seconds_)}, on {tuner.n_learned_:,} rows; figures are "
        f"percentages on {tuner.n_held_out_:,} rows held out. The model in `model/` has learned "
        "from all of them."
    )
    if has_picture:
        yield from ("", f"![{tuner.metric} of the trials over time]({PICTURE})")
    yield from ("", "## What learned from all rows but those held out", "")
    yield from _table(list(ranked_rows(tuner)))
    yield from ("", "## All trials, as they came", "")
    yield from _table(
        [
            {
                "trial": outcome.number,
                "what": str(outcome.configuration),
                "rows": outcome.n_rows,
                tuner.metric: outcome.figures.get(tuner.metric, outcome.error),
                "train s": outcome.seconds,
            }
            for outcome in tuner.outcomes_
        ]
    )


def _table(rows: list[dict[str, Any]]) -> Iterator[str]:
    if not rows:
        yield "None."
        return
    yield f"| {' | '.join(rows[0])} |"
    yield f"|{'|'.join('---' if name == 'what' else '--:' for name in rows[0])}|"
    for row in rows:
        yield f"| {' | '.join(_cell(value) for value in row.values())} |"


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.2f}"
    return f"{value:,}" if isinstance(value, int) else str(value).replace("|", "\\|")


def _told(configuration: Any) -> dict[str, Any]:
    return {
        "method": configuration.method,
        "parameters": configuration.parameters,
        "features": configuration.features,
    }


def _rounded(figures: dict[str, float]) -> dict[str, float]:
    return {name: round(value, 3) for name, value in figures.items()}


def _draw(tuner: Tuner, path: Path) -> bool:
    try:
        from labelspace import plots
    except ImportError:  # matplotlib is an extra
        return False
    plots.tuning(tuner.outcomes_, tuner.n_learned_, tuner.metric, tuner.chosen_.figures, path)
    return True
