"""A model folder as MLflow takes models: an ``MLmodel`` file that names this module as its loader.

Written without MLflow, which has many dependencies: ``mlflow.pyfunc.load_model(folder)`` reads it,
and needs labelspace beside it.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

import labelspace
from labelspace.errors import UsageError
from labelspace.store import read_manifest
from labelspace.store.folders import MANIFEST
from labelspace.store.leftovers import temporary_folder
from labelspace.store.manifest import verify_files

FOLDER = "model"
_MLMODEL = """\
flavors:
  python_function:
    loader_module: labelspace.export.mlflow_model
    data: {folder}
    env:
      virtualenv: python_env.yaml
    python_version: {python}
  labelspace:
    version: {version}
mlflow_version: 2.0.0
model_uuid: {uuid}
"""
_ENVIRONMENT = """\
python: {python}
dependencies:
- -r requirements.txt
"""


def export_mlflow(model: str | os.PathLike[str], target: str | os.PathLike[str]) -> None:
    """Write the model in a folder as a folder that MLflow can load, serve and register."""
    source, made = Path(model), Path(target)
    manifest = read_manifest(source)
    verify_files(source, manifest)
    if made.exists():
        raise UsageError(f"{made} is there already: give a new folder.")
    python = ".".join(map(str, sys.version_info[:3]))
    told = {"folder": FOLDER, "python": python, "version": labelspace.__version__}
    told["uuid"] = manifest["sha256"][:32]
    texts = {
        "MLmodel": _MLMODEL.format(**told),
        "python_env.yaml": _ENVIRONMENT.format(python=python),
        "requirements.txt": f"labelspace=={labelspace.__version__}\n",
    }
    made.parent.mkdir(parents=True, exist_ok=True)
    with temporary_folder(made.parent, f".{made.name}.exporting-") as folder:
        (folder / FOLDER).mkdir()
        for name in (*manifest["files"], MANIFEST):  # and nothing else that a folder may hold
            shutil.copyfile(source / name, folder / FOLDER / name)
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
        os.rename(folder, made)


def _load_pyfunc(path: str) -> LoadedModel:
    """Return what MLflow asks for predictions; it looks for this name."""
    return LoadedModel(path)


class LoadedModel:
    """Tags the rows that MLflow passes: texts, or a frame with one column of them."""

    def __init__(self, path: str) -> None:
        from labelspace.tagger import Tagger

        self._tagger = Tagger.load(path)

    def predict(self, model_input: Any, params: dict[str, Any] | None = None) -> Any:
        """Return a list of labels for each row, each with ``name`` and ``score``.

        ``params`` are options of ``Tagger.tag_many``, such as ``k`` and ``threshold``.
        """
        rows = model_input
        if hasattr(rows, "columns") and len(rows.columns) == 1:
            rows = rows[rows.columns[0]]
        tagged = self._tagger.tag_many(rows, **(params or {}))
        return [[{"name": tag.name, "score": tag.score} for tag in tags] for tags in tagged]
