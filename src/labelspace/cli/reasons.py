"""``labelspace predict --explain``: what spoke for each label, below it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from labelspace.data.rows import count_rows, is_matrix
from labelspace.label_choice import LabelChoice
from labelspace.tagger import Tagger

N_REASONS = 5


def explained(tagger: Tagger, rows: Any, choice: LabelChoice) -> Iterator[list[dict[str, Any]]]:
    """Yield the labels of each row with their reasons."""
    for row in _one_by_one(rows):
        yield [
            {
                **choice.about(why.id),
                "score": round(why.score, 6),
                "reasons": [
                    {"kind": one.kind, "name": one.name, "weight": round(one.weight, 6)}
                    for one in why.reasons
                ],
            }
            for why in tagger.explain_choice(row, choice, N_REASONS)
        ]


def label_text(label: dict[str, Any]) -> str:
    """Return a label as a line shows it: its name, and its key where that is another.

    >>> label_text({"label": 3, "name": "rose", "key": "g2"})
    'rose <g2>'
    """
    name = str(label.get("name", label["label"]))
    return f"{name} <{label['key']}>" if label.get("key", name) != name else name


def lines_about(label: dict[str, Any]) -> Iterator[str]:
    """Yield a line for a label and one for each of its reasons.

    >>> why = {"kind": "feature", "name": "roses", "weight": 0.5}
    >>> list(lines_about({"label": 3, "name": "gardening", "score": 0.25, "reasons": [why]}))
    ['gardening\\t0.2500', '    0.500  feature  roses']
    """
    yield f"{label_text(label)}\t{label['score']:.4f}"
    for why in label["reasons"]:
        yield f"    {why['weight']:.3f}  {why['kind']}  {why['name']}"


def _one_by_one(rows: Any) -> Iterator[Any]:
    if not is_matrix(rows):
        yield from rows
        return
    for row in range(count_rows(rows) or 0):
        yield rows[row : row + 1]
