"""``labelspace predict --explain``: what spoke for each label, below it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from labelspace.data.rows import count_rows, is_matrix
from labelspace.label_catalog import LabelChoice
from labelspace.tagger import Tagger

N_REASONS = 5


def explained(tagger: Tagger, rows: Any, choice: LabelChoice) -> Iterator[list[dict[str, Any]]]:
    """Yield the labels of each row with their reasons; one that is added has none of its own."""
    least = -math.inf if choice.least is None else choice.least
    for row in _one_by_one(rows):
        found = {why.id: why for why in tagger.explain(row, choice.n_ranked, N_REASONS)}
        ranked = [(label, why.score) for label, why in found.items() if why.score >= least]
        yield [
            {
                **choice.about(label),
                "score": round(score, 6),
                "reasons": [
                    {"kind": one.kind, "name": one.name, "weight": round(one.weight, 6)}
                    for one in (found[label].reasons if label in found else ())
                ],
            }
            for label, score in choice.catalog.choose(ranked, choice.k, choice.broader)
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
