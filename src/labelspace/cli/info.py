"""``labelspace info``: what a corpus or a model folder holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from labelspace import data, progress, store
from labelspace.cli import output
from labelspace.data.read import format_of
from labelspace.store import folders


def run_info(path: Path, *, as_json: bool) -> None:
    """Describe the corpus or the model at ``path``."""
    description = _of_model(path) if path.is_dir() else _of_corpus(path)
    if as_json:
        output.print_json(description)
        return
    tables = {name: value for name, value in description.items() if isinstance(value, list)}
    plain = {name: value for name, value in description.items() if name not in tables}
    output.print_table(
        str(path), [{"": name.replace("_", " "), "value": _text(v)} for name, v in plain.items()]
    )
    for name, rows in tables.items():
        if rows:
            output.print_table(name.replace("_", " "), rows)


def _of_model(path: Path) -> dict[str, Any]:
    manifest = store.read_manifest(path)
    names = manifest["label_names"]
    return {
        "class": manifest["class"],
        "parameters": manifest["parameters"],
        "n_named_labels": 0 if names is None else len(names),
        **_calibration(manifest["model"]),
        "versions": manifest["versions"],
        "model_mib": round(folders.size_in_bytes(path) / (1 << 20), 2),
        "files": [{"file": name, **about} for name, about in manifest["files"].items()],
    }


def _calibration(model: dict[str, Any]) -> dict[str, Any]:
    """Return how far probabilities were off on rows held out, where the model knows."""
    state = model["state"]
    state = state.get("estimator_", {}).get("state", state)
    measured = (state.get("calibration_") or {}).get("state")
    if measured is None:
        return {}
    return {"calibration_error": measured["error"], "calibration_rows": measured["n_rows"]}


def _of_corpus(path: Path) -> dict[str, Any]:
    with progress.task(f"Reading {path}"):
        return {"format": format_of(path)} | data.describe(data.read_corpus(path)).as_dict()


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}={item}" for name, item in value.items())
    if isinstance(value, float):
        return f"{value:,.4g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
