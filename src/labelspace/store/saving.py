"""From a model to a folder: arrays become files, all else becomes the manifest."""

from __future__ import annotations

import math
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, issparse

import labelspace
from labelspace import registry
from labelspace.errors import ModelFileError
from labelspace.store.folders import flush, replacing
from labelspace.store.manifest import FORMAT, sha256_of, write_manifest
from labelspace.store.storable import Storable


def save(model: Storable, path: str | os.PathLike[str]) -> None:
    """Write ``model`` to the folder ``path``, replacing a model that is there.

    Examples
    --------
    >>> import tempfile, labelspace
    >>> from labelspace.models import MostCommon
    >>> model = MostCommon().fit([[1.0], [2.0]], [[0], [0, 1]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(folder + "/model")
    ...     labelspace.load(folder + "/model").predict_topk([[3.0]], k=2).labels
    array([[0, 1]])
    """
    with replacing(Path(path)) as folder:
        write_model(model, folder)


def write_model(model: Storable, folder: Path) -> None:
    """Write a model into a folder that is there and empty; see ``save`` for one that replaces."""
    files: dict[str, Any] = {}
    encoded = _encode(model, folder, "model", files)
    names = getattr(model, "label_names_", None)
    if names is None:  # those of an estimator are with its labels
        names = getattr(getattr(model, "_labels", None), "names", None)
    manifest = {
        "format": FORMAT,
        "class": _class_name(type(model)),
        "parameters": _parameters(model),
        "label_names": None if names is None else [str(name) for name in names],
        "versions": _versions(),
        "model": encoded,
        "files": files,
    }
    write_manifest(manifest, folder)


def _parameters(model: Any) -> dict[str, Any]:
    """Return the constructor's parameters as a person would read them."""
    if not hasattr(model, "get_params"):
        return {}
    plain = (str, int, float, bool, type(None))
    return {
        name: value if isinstance(value, plain) else repr(value)
        for name, value in model.get_params(deep=False).items()
    }


def _versions() -> dict[str, str]:
    from importlib.metadata import version

    used = ("numpy", "scipy", "scikit-learn", "numba", "faiss-cpu")
    found = {"labelspace": labelspace.__version__, "python": sys.version.split()[0]}
    return found | {name: version(name) for name in used}


def _encode(value: Any, folder: Path, name: str, files: dict[str, Any]) -> Any:
    """Turn ``value`` into JSON, its arrays into files in ``folder`` called after ``name``."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return {"$float": repr(value)}
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    if isinstance(value, np.ndarray) and value.dtype != object:
        return {"$array": _write_array(value, folder, name, files)}
    if isinstance(value, np.ndarray):
        return {"$objects": [_encode(item, folder, name, files) for item in value.tolist()]}
    if issparse(value):
        matrix: Any = value  # may be any kind of sparse matrix or array
        matrix = csr_matrix(matrix)
        parts = {
            part: _write_array(getattr(matrix, part), folder, f"{name}.{part}", files)
            for part in ("data", "indices", "indptr")
        }
        return {"$csr": parts, "shape": [int(side) for side in matrix.shape]}
    if isinstance(value, Storable):
        state = {
            key: _encode(part, folder, key if name == "model" else f"{name}.{key}", files)
            for key, part in value._to_state().items()
        }
        return {"$object": _class_name(type(value)), "state": state}
    if isinstance(value, (list, tuple)):
        items = [_encode(item, folder, f"{name}.{at}", files) for at, item in enumerate(value)]
        return items if isinstance(value, list) else {"$tuple": items}
    if isinstance(value, dict):
        return {
            "$dict": [
                [key, _encode(item, folder, f"{name}.{key}", files)] for key, item in value.items()
            ]
        }
    if isinstance(value, (np.random.RandomState, np.random.Generator)):
        return None  # the stream of random numbers has been used up by fitting
    raise ModelFileError(
        f"'{name}' is a {type(value).__name__}, which cannot be saved: "
        "make it plain data, an array or a Storable."
    )


def _class_name(kind: type) -> str:
    name = registry.storable_name(kind)
    if name is None:
        raise ModelFileError(f"{kind.__name__} is not in the registry of what can be saved.")
    return name


def _write_array(array: Any, folder: Path, name: str, files: dict[str, Any]) -> str:
    file_name = f"{name}.npy"
    with open(folder / file_name, "wb") as file:
        np.save(file, np.ascontiguousarray(array), allow_pickle=False)
        flush(file)
    files[file_name] = {
        "sha256": sha256_of(folder / file_name),
        "bytes": (folder / file_name).stat().st_size,
    }
    return file_name
