"""The table of the server on the page of benchmarks."""

from __future__ import annotations

from benchmarks.corpora import ROOT
from benchmarks.render.tables import markdown
from benchmarks.studies.lines import Measured
from benchmarks.studies.study import Figures

PAGE = ROOT / "docs" / "benchmarks.md"


def tables(lines: list[Measured]) -> dict[str, str]:
    """Return the figures of the newest line."""
    return {"server load": _table(lines[-1].figures)} if lines else {}


def _table(figures: Figures) -> str:
    """Return the figures as they stand on the page."""
    steady, lasting, full = figures["steady"], figures["lasting"], figures["overload"]
    model = figures["model"]
    refused = full["statuses"].get("429", 0)
    rows = [
        ("model", f"`{model['method']}`, {model['n_labels']:,} labels"),
        (f"{steady['connections']} connections", f"{steady['per_second']:,.0f} requests/s"),
        ("latency p50 / p99", f"{steady['p50_ms']:.1f} / {steady['p99_ms']:.1f} ms"),
        ("requests in a row", f"{lasting['requests']:,}, {lasting['errors']} errors"),
        (
            "memory before / after",
            f"{lasting['memory_mib'][0]:.0f} / {lasting['memory_mib'][-1]:.0f} MiB",
        ),
        (
            f"{full['connections']} connections",
            f"{full['per_second']:,.0f} answers/s, {refused / max(1, full['requests']):.0%} "
            f"refused (429), {full['errors']} errors",
        ),
        ("recovery", f"{full['recovery_s']:.2f} s"),
    ]
    return markdown(["", ""], rows, numbers=False)
