"""Plots for the documentation: what a point of precision costs in CPU seconds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.render.rows import Row

STYLES = {
    "own": {"color": "#1f5fa8", "marker": "o"},
    "peer": {"color": "#c2571a", "marker": "s"},
    "earlier": {"color": "#8a8a8a", "marker": "^"},
}
NAMES = {"own": "labelspace", "peer": "peers", "earlier": "reported earlier"}

# Sizes of a label in parts of the axes, for a font of 8 points.
LETTER_WIDTH, LETTER_HEIGHT, GAP = 0.0092, 0.029, 0.012
# How far a label may be from its point, in its own heights and in parts of the axes.
MOST_STEPS, ASIDES = 10, (GAP + 0.004, 0.05, 0.1, 0.16)

Box = tuple[float, float, float, float]


def cost_plot(rows: Sequence[Row], corpus: str, path: Path) -> bool:
    """Draw P@1 against CPU seconds of training; return whether there was anything to draw.

    Baselines that do not learn would squeeze the rest into one corner, so rows more than 25 points
    below the best are left out.
    """
    known = [row for row in rows if {"P@1", "train_cpu_s"} <= row.figures.keys()]
    if all(row.kind == "earlier" for row in known):
        return False
    best = max(row.figures["P@1"].mean for row in known)
    shown = [row for row in known if row.figures["P@1"].mean > best - 25.0]

    pyplot = svg_pyplot()
    figure, axes = pyplot.subplots(figsize=(8.0, 6.2), layout="constrained")
    places = {row.title: (_seconds(row), row.figures["P@1"].mean) for row in shown}
    for kind, style in STYLES.items():
        points = [places[row.title] for row in shown if row.kind == kind]
        if points:
            seconds, precision = zip(*points, strict=True)
            axes.scatter(seconds, precision, s=36, label=NAMES[kind], **style)
    axes.set(xscale="log", xlabel="training, CPU seconds", ylabel="P@1", title=corpus)
    axes.margins(x=0.2, y=0.12)
    axes.grid(alpha=0.25)
    axes.legend(loc="upper left", bbox_to_anchor=(0.0, -0.1), ncols=3, fontsize=8, frameon=False)
    figure.draw_without_rendering()  # settles the limits, which the labels' places depend on
    to_axes = axes.transData + axes.transAxes.inverted()
    spots = {title: tuple(to_axes.transform(place)) for title, place in places.items()}
    for title, (x, y) in place_labels(spots).items():
        axes.text(x, y, title, transform=axes.transAxes, fontsize=8, va="center")
        (at, height), end = spots[title], x + LETTER_WIDTH * len(title)
        near = x if at < x else end
        if math.hypot(at - near, height - y) > 2.5 * GAP:
            line = {"color": "#b0b0b0", "linewidth": 0.6, "zorder": 0}
            axes.plot([at, near], [height, y], transform=axes.transAxes, **line)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
    return True


def svg_pyplot() -> Any:
    """Return matplotlib's pyplot, set so that the same lines give the same file."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "labelspace"
    from matplotlib import pyplot

    return pyplot


def place_labels(spots: dict[str, tuple[float, float]]) -> dict[str, tuple[float, float]]:
    """Return where each label starts (all in parts of the axes), beside its point and in the clear.

    >>> place_labels({"a": (0.5, 0.5), "b": (0.5, 0.5)})["a"] > (0.5, 0.5)
    True
    """
    taken: list[Box] = [(x - GAP, y - GAP, x + GAP, y + GAP) for x, y in spots.values()]
    found = {}
    for title, (x, y) in sorted(spots.items(), key=lambda item: -item[1][1]):
        width = LETTER_WIDTH * len(title)
        starts = [
            (x + aside if right else x - aside - width, y + 0.9 * step * LETTER_HEIGHT)
            for step in range(-MOST_STEPS, MOST_STEPS + 1)
            for right in (True, False)
            for aside in ASIDES
        ]
        boxes = [
            (at, low - LETTER_HEIGHT / 2, at + width, low + LETTER_HEIGHT / 2) for at, low in starts
        ]
        costs = [sum(_overlap(box, other) for other in taken) + _outside(box) for box in boxes]
        asides = (min(abs(box[0] - x), abs(box[2] - x)) for box in boxes)
        far = [math.hypot(aside, at[1] - y) for aside, at in zip(asides, starts, strict=True)]
        # In the clear first, then near; to the right and above where that is the same.
        choice = min(
            range(len(boxes)),
            key=lambda one: (round(costs[one], 4), round(far[one], 4), starts[one][0] < x),
        )
        found[title] = starts[choice]
        taken.append(boxes[choice])
    return found


def _seconds(row: Row) -> float:
    return max(row.figures["train_cpu_s"].mean, 0.01)


def _overlap(one: Box, other: Box) -> float:
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    return max(width, 0.0) * max(height, 0.0)


def _outside(box: Box) -> float:
    return 0.0 if min(box) >= 0.0 and max(box) <= 1.0 else 1.0
