"""How long tuning may take, and how much of it there is left.

What a training will take is estimated from those that are over: time grows with the rows. Enough is
kept back for the last one, on all rows.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence

from labelspace.errors import UsageError
from labelspace.tuning.journal import Outcome
from labelspace.tuning.space import Configuration

_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0}
_SPAN = re.compile(r"(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m)?(?:(\d+(?:\.\d+)?)s?)?")
# Estimates are a little larger than what was measured: a training may be in bad company.
CAUTION = 1.2


def parse_budget(text: str | float) -> float:
    """Return a span of time in seconds.

    >>> parse_budget("10m"), parse_budget("90s"), parse_budget("1h30m"), parse_budget(45)
    (600.0, 90.0, 5400.0, 45.0)
    """
    if isinstance(text, str):
        found = _SPAN.fullmatch(text.strip().lower())
        sizes = found.groups() if found else ()
        # Units go from large to small, so that a number without one is seconds only alone.
        bare = found and sizes[2] and not text.strip().lower().endswith("s")
        if not any(sizes) or (bare and any(sizes[:2])):
            raise UsageError(
                f"The budget '{text}' is no span of time: write it as 10m, 90s or 1h30m."
            )
        seconds = sum(
            float(size) * unit
            for size, unit in zip(sizes, _UNITS.values(), strict=True)
            if size is not None
        )
    else:
        seconds = float(text)
    if not 0 < seconds < float("inf"):
        raise UsageError(f"The budget is {text}: give a span of time that is longer than nothing.")
    return seconds


def shown_seconds(seconds: float) -> str:
    """Return a span of time as people write it.

    >>> shown_seconds(42.4), shown_seconds(600), shown_seconds(5400)
    ('42s', '10m', '1h30m')
    """
    hours, rest = divmod(round(seconds), 3600)
    minutes, left = divmod(rest, 60)
    parts = [(hours, "h"), (minutes, "m"), (left, "s")]
    return "".join(f"{size}{unit}" for size, unit in parts if size) or "0s"


class Clock:
    """Seconds that were spent, of those that may be; ``before`` of them in earlier sittings."""

    def __init__(self, budget: float, before: float = 0.0) -> None:
        self.budget = budget
        self._before = before
        self._began = time.monotonic()

    @property
    def spent(self) -> float:
        return self._before + time.monotonic() - self._began

    @property
    def left(self) -> float:
        return self.budget - self.spent


def estimate(outcomes: Sequence[Outcome], configuration: Configuration, n_rows: int) -> float:
    """Return the seconds that training on so many rows will take, by the trials most like it.

    Those are trials of the same configuration, or else of its method, or of its features. Time
    grows with the rows; where two trials tell what does not grow, that is taken into account.
    """

    def likeness(outcome: Outcome) -> tuple[bool, bool, bool, int]:
        other = outcome.configuration
        return (
            other.key == configuration.key,
            other.method == configuration.method,
            other.features_key == configuration.features_key,
            outcome.n_rows,
        )

    nearest = sorted(outcomes, key=likeness)[-2:]
    if not nearest:
        return 0.0
    last = nearest[-1]
    seconds = last.seconds * n_rows / last.n_rows
    first = nearest[0]
    if first.configuration.key == last.configuration.key and first.n_rows < last.n_rows < n_rows:
        growth = max(last.seconds - first.seconds, 0.0) / (last.n_rows - first.n_rows)
        seconds = min(seconds, last.seconds + growth * (n_rows - last.n_rows))
    return CAUTION * seconds
