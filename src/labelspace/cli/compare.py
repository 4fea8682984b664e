"""``labelspace compare``: several methods on one corpus, side by side."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from labelspace import models
from labelspace.cli import output
from labelspace.cli.evaluate import evaluate
from labelspace.cli.inputs import read_for, read_to_learn
from labelspace.cli.train import check_features, train
from labelspace.data.formats.compression import check_readable
from labelspace.data.formats.fields import Fields
from labelspace.errors import UsageError
from labelspace.store import folders

SHOWN = {name: name for name in ("P@1", "P@3", "P@5", "nDCG@5", "PSP@1", "PSP@5")}
COSTS = {
    "train s": "train_seconds",
    "CPU s": "cpu_seconds",
    "predict s": "predict_seconds",
    "peak MiB": "peak_rss_mib",
    "model MiB": "model_mib",
}


def run_compare(
    train_path: Path,
    test_path: Path,
    names: list[str],
    out: Path | None,
    *,
    features: Any = None,
    fields: Fields | None = None,
    vocabulary: Path | None = None,
    seed: int,
    n_threads: int | None,
    A: float,
    B: float,
    as_json: bool,
) -> None:
    """Train each method, evaluate it, and show the leaderboard, best P@1 first."""
    if not names:
        raise UsageError("--methods names no method: give some, separated by commas.")
    parameters = {"random_state": seed, "n_threads": n_threads}
    for name in names:
        # A misspelt name, or a package that is missing, must not cost a training first.
        models.make(name, **parameters)._validate_params()
        if out is not None:
            folders.check_replaceable(out / name)
    check_readable(test_path)
    corpus = read_to_learn(train_path, fields, vocabulary)
    check_features(corpus, train_path, ("--features", features))
    rows: list[dict[str, Any]] = []
    tested = None
    for name in names:
        tagger, cost = train(corpus, name, parameters, features)
        # All have learned from one corpus, so that labels and features have the same columns.
        tested = tested or read_for(tagger, test_path, fields)
        figures, _ = evaluate(tagger, tested, A=A, B=B)
        rows.append({**cost, **figures})
        if out is not None:
            tagger.save(out / name)
            rows[-1]["model_mib"] = round(folders.size_in_bytes(out / name) / (1 << 20), 2)
    rows.sort(key=lambda row: -row["P@1"])
    if out is not None:
        (out / "leaderboard.json").write_text(json.dumps(rows, indent=1), encoding="utf-8")
        _plot(rows, out / "leaderboard.png")
    if as_json:
        output.print_json({"train": str(train_path), "test": str(test_path), "methods": rows})
        return
    # Two tables, for both together are wider than a terminal.
    for title, shown in ((f"{train_path} → {test_path}", SHOWN), ("What it cost", COSTS)):
        there = {name: key for name, key in shown.items() if key in rows[0]}
        output.print_table(
            title,
            [
                {"method": row["method"], **{n: row[key] for n, key in there.items()}}
                for row in rows
            ],
        )
    if out is not None:
        output.say(f"Models, leaderboard.json and leaderboard.png are in {out}.")


def _plot(rows: list[dict[str, Any]], path: Path) -> None:
    try:
        from labelspace import plots
    except ImportError:
        output.say("No plot: it needs pip install 'labelspace[plots]'.")
        return
    plots.leaderboard(rows, path)
