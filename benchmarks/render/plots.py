"""Plots for the documentation: what a point of precision costs in CPU seconds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.render.rows import Row

STYLES = {
    "own": {"color": "#1f5fa8", "marker": "o"},
    "peer": {"color": "#c2571a", "marker": "s"},
    "earlier": {"color": "#8a8a8a", "marker": "^"},
}
NAMES = {"own": "labelspace", "peer": "peers", "earlier": "reported earlier"}


def cost_plot(rows: Sequence[Row], corpus: str, path: Path) -> bool:
    """Draw P@1 against CPU seconds of training; return whether there was anything to draw.

    Baselines that do not learn would squeeze the rest into one corner, so rows more than 25 points
    below the best are left out.
    """
    known = [row for row in rows if {"P@1", "train_cpu_s"} <= row.figures.keys()]
    if not known:
        return False
    best = max(row.figures["P@1"].mean for row in known)
    shown = [row for row in known if row.figures["P@1"].mean > best - 25.0]

    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "labelspace"
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7.0, 4.2), layout="constrained")
    for kind, style in STYLES.items():
        of_kind = [row for row in shown if row.kind == kind]
        if of_kind:
            seconds = [max(row.figures["train_cpu_s"].mean, 0.01) for row in of_kind]
            precision = [row.figures["P@1"].mean for row in of_kind]
            axes.scatter(seconds, precision, s=36, label=NAMES[kind], **style)  # type: ignore[arg-type]
    for row in shown:
        place = (max(row.figures["train_cpu_s"].mean, 0.01), row.figures["P@1"].mean)
        axes.annotate(
            row.title, place, xytext=(5, 4), textcoords="offset points", fontsize=8, alpha=0.9
        )
    axes.set(xscale="log", xlabel="training, CPU seconds", ylabel="P@1", title=corpus)
    axes.margins(x=0.18, y=0.12)
    axes.grid(alpha=0.25)
    axes.legend(loc="lower right", fontsize=8, frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
    return True
