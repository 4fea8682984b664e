from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("labelspace.models.dxml")

from benchmarks.studies.dxml import consistency


def runs() -> list[dict]:
    """Ten splits of four methods whose nDCG@3 is 1 + 0.3 P@1 + P@3, and of one that guesses."""
    lines = []
    figures = {"a": (60.0, 38.0), "b": (64.0, 39.0), "c": (62.0, 40.0), "d": (66.0, 41.0)}
    for method, (first, third) in (figures | {"guess": (10.0, 5.0)}).items():
        for split in range(10):
            p1, p3 = first + 0.1 * split, third - 0.1 * split
            metrics = {"P@1": p1, "P@3": p3, "nDCG@3": 1.0 + 0.3 * p1 + p3}
            if method == "guess":
                metrics["nDCG@3"] = 0.0
            line = {"corpus": "bibtex", "method": method, "split": f"random-{split}"}
            lines.append(line | {"parameters": {}, "metrics": metrics})
    return lines


def test_the_function_is_that_of_the_methods_that_learned() -> None:
    weights = consistency.fitted(consistency.means(runs(), "bibtex"))
    assert weights == pytest.approx(np.array([1.0, 0.3, 1.0]), abs=1e-6)


def test_a_published_row_is_held_against_it() -> None:
    table = consistency.table(runs(), ("bibtex", "delicious"))
    (row,) = [line for line in table.splitlines() if line.startswith("| bibtex: DXML ")]
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    expected = 1.0 + 0.3 * 66.03 + 40.21
    assert cells[1:] == [
        "66.03",
        "40.21",
        "8.46",
        "60.71",
        f"{expected:.2f}",
        f"{60.71 - expected:+.2f}",
    ]
    assert "delicious" not in table
