"""Pictures, where people would rather look than read (extra ``plots``: matplotlib)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from numpy.typing import NDArray

matplotlib.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.patches import Circle
from matplotlib.transforms import Bbox

# From orange to dark red: the palest of a whole colour map can't be seen on white.
_SUNSET = LinearSegmentedColormap.from_list(
    "sunset", matplotlib.colormaps["YlOrRd"](np.linspace(0.35, 1, 64))
)


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
    n_named: int = 40,
) -> None:
    """Draw labels in the unit disk, light if rare and dark if frequent, the commonest named
    where there is room."""
    figure, axes = plt.subplots(figsize=(9, 9), layout="constrained")
    order = np.argsort(counts, kind="stable")
    dots = axes.scatter(
        places[order, 0],
        places[order, 1],
        c=np.log10(np.maximum(counts[order], 1)),
        cmap=_SUNSET,
        s=np.clip(20_000 / max(len(order), 1), 3, 40),
        linewidths=0,
    )
    if disk:
        axes.add_patch(Circle((0, 0), 1, fill=False, color="0.6"))
        axes.set(xlim=(-1.03, 1.03), ylim=(-1.03, 1.03))
    axes.set_aspect("equal")
    axes.set_axis_off()
    axes.set_title(title)
    bar = figure.colorbar(dots, ax=axes, shrink=0.5, label="rows with the label")
    low, high = bar.mappable.get_clim()
    ticks = [tick for tick in range(10) if low <= tick <= high]
    bar.set_ticks(ticks, labels=[f"{10**tick:,.0f}" for tick in ticks])
    figure.draw_without_rendering()  # only now is it settled which names would lie on others
    taken: list[Bbox] = []
    for at in order[::-1][: 3 * n_named]:
        # Dollar signs would be read as formulas.
        name = axes.annotate(
            names[at].replace("$", r"\$"),
            places[at],
            xytext=(3, 3),
            textcoords="offset points",
            fontsize=7,
        )
        box = name.get_window_extent()
        if len(taken) == n_named or box.count_overlaps(taken):
            name.remove()
        else:
            taken.append(box)
    figure.savefig(path, dpi=130, bbox_inches="tight")
    plt.close(figure)
