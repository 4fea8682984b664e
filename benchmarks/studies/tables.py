"""What the tables of several studies have in common."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.render.tables import markdown

NOT_MEASURED = "–"


def of_variants(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of texts without the rows in which nothing was measured.

    >>> print(of_variants(["what", "bibtex"], [["as it is", "64.4"], ["other", "–"]]))
    | what | bibtex |
    |---|---|
    | as it is | 64.4 |
    """
    shown = [row for row in rows if set(row[1:]) != {NOT_MEASURED}]
    return markdown(head, shown, numbers=False)


def titled(what: str, parameters: Mapping[str, Any]) -> str:
    """Return the name of a variant with what it changes.

    >>> titled("dimension", {"dim": 32})
    'dimension: `dim=32`'
    """
    setting = ", ".join(f"{name}={value}" for name, value in parameters.items())
    return f"{what}: `{setting}`" if setting else what


def precisions(figures: Mapping[str, float], digits: int = 1, between: str = "/") -> str:
    """Return P@1, P@3 and P@5.

    >>> precisions({"P@1": 64.4, "P@3": 39.9, "P@5": 29.7})
    '64.4/39.9/29.7'
    """
    return between.join(f"{figures[f'P@{k}']:.{digits}f}" for k in (1, 3, 5))


def mean_figures(found: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the mean of each figure that all have."""
    return {name: float(np.mean([one[name] for one in found])) for name in found[0]}


def spread(values: Sequence[float], digits: int = 2, ddof: int = 1) -> str:
    """Return the mean, and the deviation where there are several values.

    >>> spread([1.0, 3.0]), spread([2.0])
    ('2.00 ± 1.41', '2.00')
    """
    text = f"{np.mean(values):.{digits}f}"
    return text if len(values) == 1 else f"{text} ± {np.std(values, ddof=ddof):.{digits}f}"
