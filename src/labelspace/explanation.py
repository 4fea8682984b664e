"""Why a label was given, as methods say it: by numbers; ``explain`` gives them names."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Reason:
    """One thing that spoke for a label.

    ``kind`` says what it is: a training ``"example"`` that voted, a ``"feature"`` of the row, one
    that is in the label's ``"name"``, or another ``"label"``. ``id`` is its number among those,
    ``weight`` how much it counted.
    """

    kind: str
    id: int
    weight: float


@dataclass(frozen=True)
class Explanation:
    """Why a label was given: the reasons with the largest weight, largest first."""

    label: int
    score: float
    reasons: list[Reason]
