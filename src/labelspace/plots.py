"""Pictures, where people would rather look than read (extra ``plots``: matplotlib)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from numpy.typing import NDArray

matplotlib.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.patches import Circle
from matplotlib.patheffects import withStroke
from matplotlib.transforms import Bbox

from labelspace.label_layout import regions_of


def leaderboard(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Draw each method's P@k, and its accuracy against the CPU seconds that it took."""
    figure, (bars, scatter) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    measures = ("P@1", "P@3", "P@5")
    width = 0.8 / max(len(rows), 1)
    for at, row in enumerate(rows):
        places = [place + at * width for place in range(len(measures))]
        bars.bar(places, [row[name] for name in measures], width, label=row["method"])
        cost = max(row["cpu_seconds"], 1e-3)
        scatter.plot(cost, row["P@1"], "o")
        scatter.annotate(
            row["method"], (cost, row["P@1"]), xytext=(5, 4), textcoords="offset points"
        )
    bars.set_xticks([place + 0.4 - width / 2 for place in range(len(measures))], measures)
    bars.set_ylabel("percent")
    bars.legend(fontsize="small")
    scatter.set_xscale("log")
    scatter.set_xlabel("training, CPU seconds")
    scatter.set_ylabel("P@1")
    figure.savefig(path, dpi=130)
    plt.close(figure)


def tuning(
    outcomes: Sequence[Any], n_learned: int, metric: str, chosen: Mapping[str, float], path: Path
) -> None:
    """Draw the figure of each trial over time, small where it learned from few rows.

    ``outcomes`` are those of a ``labelspace.Tuner``; the first is the default.
    """
    figure, axes = plt.subplots(figsize=(9, 4.5), layout="constrained")
    measured = [one for one in outcomes if one.figures]
    for method in dict.fromkeys(one.configuration.method for one in measured):
        of_method = [one for one in measured if one.configuration.method == method]
        axes.scatter(
            [one.spent for one in of_method],
            [one.figures[metric] for one in of_method],
            s=[60 * max(one.n_rows / n_learned, 0.15) for one in of_method],
            label=method,
            alpha=0.8,
            linewidths=0,
        )
    on_all = [one for one in measured if one.n_rows == n_learned]
    if on_all:
        axes.axhline(on_all[0].figures[metric], color="0.5", ls=":", label="default")
        best = np.maximum.accumulate([one.figures[metric] for one in on_all])
        axes.step([one.spent for one in on_all], best, where="post", color="0.3", lw=1)
    if metric in chosen:
        axes.axhline(chosen[metric], color="tab:red", ls="--", lw=1, label="chosen")
    axes.set_xlabel("seconds")
    axes.set_ylabel(f"{metric} on rows held out")
    axes.legend(fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    figure.savefig(path, dpi=130)
    plt.close(figure)


def label_map(
    places: NDArray[np.floating[Any]],
    counts: NDArray[np.integer[Any]],
    names: Sequence[str],
    path: Path,
    *,
    disk: bool,
    title: str,
    n_named: int = 60,
) -> None:
    """Draw labels in the unit disk as the server's page does.

    They are coloured by region and the larger the more frequent. Regions are named, and of the
    other labels the most frequent where there is room.
    """
    colours = _page_colours()
    regions = regions_of(np.asarray(places, dtype=np.float64), np.asarray(counts, np.int64))
    figure, axes = plt.subplots(figsize=(10, 10), layout="constrained", facecolor=colours["card"])
    topics = [colour for name, colour in colours.items() if name.startswith("topic-")]
    order = np.argsort(counts, kind="stable")
    logs = np.log1p(counts[order])
    share = (logs - logs.min(initial=np.inf)) / max(float(np.ptp(logs)) if logs.size else 0.0, 1e-9)
    few = min(3.0, np.sqrt(max(1.0, 4000 / max(len(order), 1))))
    axes.scatter(
        places[order, 0],
        places[order, 1],
        c=[topics[region % len(topics)] for region in regions.of_labels[order]],
        s=(few * (1.4 + 5 * share**1.5)) ** 2,
        alpha=0.85,
        linewidths=0,
    )
    if disk:
        axes.add_patch(Circle((0, 0), 1, fill=False, color=colours["line"]))
    axes.set(xlim=(-1.03, 1.03), ylim=(-1.03, 1.03))
    axes.set_aspect("equal")
    axes.set_axis_off()
    axes.set_title(title, color=colours["ink"], loc="left", fontsize=12)
    halo = [withStroke(linewidth=3, foreground=colours["card"])]
    figure.draw_without_rendering()  # only now is it settled which names would lie on others
    taken: list[Bbox] = []

    def write(at: int, place: Any, **style: Any) -> None:
        # Dollar signs would be read as formulas.
        text = names[at].replace("$", r"\$")
        name = axes.annotate(text, place, path_effects=halo, textcoords="offset points", **style)
        box = name.get_window_extent()
        if box.count_overlaps(taken):
            name.remove()
        else:
            taken.append(box)

    for at, place in zip(regions.foremost, regions.places, strict=True):
        write(at, place, xytext=(0, 0), ha="center", va="center", fontsize=11, fontweight="bold",
              color=colours["ink"])  # fmt: skip
    for at in order[::-1][: 4 * n_named]:
        if len(taken) < n_named and at not in regions.foremost:
            write(at, places[at], xytext=(4, -2), fontsize=7, color=colours["quiet"])
    figure.savefig(path, dpi=130, facecolor=colours["card"])
    plt.close(figure)


def _page_colours() -> dict[str, str]:
    """Return the light colours of the server's page by their names."""
    sheet = resources.files("labelspace.server").joinpath("static").joinpath("style.css")
    light = sheet.read_text(encoding="utf-8").partition("}")[0]
    return dict(re.findall(r"--([\w-]+):\s*(#\w{6})", light))
