"""Do the figures that the paper prints in one row belong together?

nDCG@3 is nearly a linear function of P@1 and P@3 for methods on the same rows: it counts the same
hits, the first one most. That function is fitted to the means over random splits of whatever has
been measured, methods and peers, and says which nDCG@3 goes with a published P@1 and P@3. What is
right of the fourth and fifth labels follows from P@3 and P@5: (5 P@5 − 3 P@3) / 2.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.render.references import published
from benchmarks.render.tables import markdown

PAPER = "DXML, tables 2–5"
_SPLITS = 10
# Guesses that do not look at the rows have another relation of first to later hits.
_LEARNED = 50.0


def table(runs: list[dict[str, Any]], corpora: tuple[str, ...]) -> str:
    """Return the rows of the paper, each with the nDCG@3 that goes with it."""
    body = []
    for corpus in corpora:
        measured = means(runs, corpus)
        if len(measured) <= 3:
            continue
        weights = fitted(measured)
        lowest = min(one["P@1"] for one in measured) - 1.0
        for one in published():
            figures = one.figures
            # Far from what has been measured the function says nothing.
            if one.corpus != corpus or one.source != PAPER or figures["P@1"] < lowest:
                continue
            expected = _inputs(figures) @ weights
            late = (5 * figures["P@5"] - 3 * figures["P@3"]) / 2
            cells = [figures["P@1"], figures["P@3"], late, figures["nDCG@3"], expected]
            body.append(
                [
                    f"{corpus}: {one.method}",
                    *(f"{cell:.2f}" for cell in cells),
                    f"{figures['nDCG@3'] - expected:+.2f}",
                ]
            )
        errors = [abs(one["nDCG@3"] - _inputs(one) @ weights) for one in measured]
        body.append(
            [
                f"{corpus}: {len(measured)} measured methods",
                *[""] * 5,
                f"±{max(errors):.2f} at most",
            ]
        )
    head = ["published", "P@1", "P@3", "4th and 5th right", "nDCG@3", "goes with P@1, P@3", "apart"]
    return markdown(head, body)


def means(runs: list[dict[str, Any]], corpus: str) -> list[dict[str, float]]:
    """Return the mean figures of what was measured on ten random splits with its defaults."""
    found = defaultdict(list)
    for line in runs:
        if line["corpus"] == corpus and line["split"] != "given" and not line["parameters"]:
            found[line["method"]].append(line["metrics"])
    averaged = [
        {name: float(np.mean([one[name] for one in lines])) for name in ("P@1", "P@3", "nDCG@3")}
        for lines in found.values()
        if len(lines) == _SPLITS
    ]
    return [one for one in averaged if one["P@1"] > _LEARNED]


def fitted(measured: list[dict[str, float]]) -> NDArray[np.float64]:
    """Return the weights of 1, P@1 and P@3 that give nDCG@3 best."""
    inputs = np.array([_inputs(one) for one in measured])
    outputs = np.array([one["nDCG@3"] for one in measured])
    return np.linalg.lstsq(inputs, outputs, rcond=None)[0]


def _inputs(figures: dict[str, float]) -> NDArray[np.float64]:
    return np.array([1.0, figures["P@1"], figures["P@3"]])
