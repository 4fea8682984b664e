"""Pictures, where people would rather look than read (extra ``plots``: matplotlib)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot as plt


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
