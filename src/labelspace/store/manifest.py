"""Model folders: ``manifest.json`` and one ``.npy`` file per array.

Loading checks every file against its sha256 and maps the arrays into memory. Nothing is pickled,
and a manifest names nothing but what is in ``labelspace.registry``, so that loading a stranger's
file runs no code of theirs and imports no module of their choice.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, issparse

import labelspace
from labelspace import registry
from labelspace.csr import empty_csr
from labelspace.errors import ModelFileError
from labelspace.store.folders import MANIFEST, existing, flush, flush_folder, replacing
from labelspace.store.storable import Storable

FORMAT = 2
_KEYS = {"format", "class", "parameters", "label_names", "versions", "model", "files"}


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
        _write(model, folder)


def load(path: str | os.PathLike[str]) -> Any:
    """Read the model in folder ``path``: an estimator or a ``Tagger``."""
    folder = existing(Path(path))
    while True:
        before = _identity(folder)
        try:
            loaded = _load(folder)
        except (ModelFileError, OSError):
            if _identity(folder) == before:
                raise
        else:
            if _identity(folder) == before:
                return loaded
        # A save has put another model here meanwhile: what was read may be of both.


def _identity(folder: Path) -> tuple[int, int] | None:
    """Return what changes when the model in ``folder`` is replaced."""
    try:
        found = os.stat(folder / MANIFEST)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns


def _load(folder: Path) -> Any:
    manifest = read_manifest(folder)
    _verify(folder, manifest)
    try:
        return _decode(manifest["model"], folder)
    except (KeyError, TypeError, ValueError, AttributeError, OSError) as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(
            f"{folder}: the model does not fit this version of labelspace "
            f"({labelspace.__version__}): {error}; train it again or install the version that "
            "its manifest.json names."
        ) from error


def read_manifest(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the manifest of the model in folder ``path``, without loading the model."""
    folder = existing(Path(path))
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ModelFileError(
            f"{folder} has no {MANIFEST}: give a folder that 'labelspace train' or save() made."
        ) from None
    except (OSError, ValueError, RecursionError) as error:
        raise ModelFileError(
            f"{folder / MANIFEST} is damaged ({error}); restore the folder from a copy or train "
            "the model again."
        ) from None
    if not isinstance(manifest, dict) or not {"format", "model", "files"} <= manifest.keys():
        raise ModelFileError(
            f"{folder / MANIFEST} is not a labelspace manifest; train the model again."
        )
    if manifest["format"] != FORMAT:
        raise ModelFileError(
            f"{folder} has model format {manifest['format']} but this labelspace reads format "
            f"{FORMAT}: train it again, or install a labelspace that reads it (format 1 is 0.1's)."
        )
    if not _is_whole(manifest):
        raise ModelFileError(
            f"{folder / MANIFEST} lacks what a manifest holds; restore the folder from a copy or "
            "train the model again."
        )
    return manifest


def _is_whole(manifest: dict[str, Any]) -> bool:
    """Tell whether a manifest has all its parts, each of the right kind."""
    files, model = manifest["files"], manifest["model"]
    return (
        manifest.keys() >= _KEYS
        and isinstance(files, dict)
        and all(
            isinstance(one, dict) and {"sha256", "bytes"} <= one.keys() for one in files.values()
        )
        and isinstance(model, dict)
        and isinstance(model.get("state"), dict)
    )


def _write(model: Storable, folder: Path) -> None:
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
    text = json.dumps(manifest, ensure_ascii=False, allow_nan=False)
    with open(folder / MANIFEST, "w", encoding="utf-8") as file:
        file.write(text)
        flush(file)
    flush_folder(folder)


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


def _decode(value: Any, folder: Path) -> Any:
    if isinstance(value, list):
        return [_decode(item, folder) for item in value]
    if not isinstance(value, dict):
        return value
    if "$float" in value:
        return float(value["$float"])
    if "$array" in value:
        return _read_array(folder, value["$array"])
    if "$objects" in value:
        return np.array([_decode(item, folder) for item in value["$objects"]], dtype=object)
    if "$csr" in value:
        parts = {part: _read_array(folder, file) for part, file in value["$csr"].items()}
        return _csr(parts["data"], parts["indices"], parts["indptr"], *value["shape"])
    if "$tuple" in value:
        return tuple(_decode(item, folder) for item in value["$tuple"])
    if "$dict" in value:
        return {key: _decode(item, folder) for key, item in value["$dict"]}
    state = {key: _decode(part, folder) for key, part in value["state"].items()}
    return _class(value["$object"])._from_state(state)


def _csr(data: Any, indices: Any, indptr: Any, n_rows: int, n_columns: int) -> csr_matrix:
    """Put a matrix together without the scan and copy that the constructor would make."""
    matrix = empty_csr(n_rows, n_columns, data.dtype)
    matrix.data, matrix.indices, matrix.indptr = data, indices, indptr
    matrix.has_sorted_indices = True
    matrix.has_canonical_format = True
    return matrix


def _class_name(kind: type) -> str:
    name = registry.storable_name(kind)
    if name is None:
        raise ModelFileError(f"{kind.__name__} is not in the registry of what can be saved.")
    return name


def _class(name: Any) -> type[Storable]:
    try:
        return registry.storable_class(name)
    except (KeyError, TypeError):
        raise ModelFileError(
            f"The model names {str(name)[:80]!r}, which is not a part that can be stored."
        ) from None
    except (ImportError, AttributeError) as error:
        raise ModelFileError(
            f"The model needs {name}, which could not be loaded ({error}); install the extra that "
            "its method needs, or the version of labelspace in its manifest.json."
        ) from None


def _write_array(array: Any, folder: Path, name: str, files: dict[str, Any]) -> str:
    file_name = f"{name}.npy"
    with open(folder / file_name, "wb") as file:
        np.save(file, np.ascontiguousarray(array), allow_pickle=False)
        flush(file)
    files[file_name] = {
        "sha256": _sha256(folder / file_name),
        "bytes": (folder / file_name).stat().st_size,
    }
    return file_name


def _read_array(folder: Path, name: str) -> Any:
    if Path(name).name != name:
        raise ModelFileError(f"{folder} names the file {name}, which is not in it; train again.")
    # Mapped copy-on-write, and seen as plain arrays: compiled kernels then take them as they take
    # fresh ones, instead of being compiled a second time for read-only input.
    return np.load(folder / name, mmap_mode="c", allow_pickle=False).view(np.ndarray)


def _verify(folder: Path, manifest: dict[str, Any]) -> None:
    for name, expected in manifest["files"].items():
        file = folder / name
        if Path(name).name != name or not file.is_file():
            raise ModelFileError(
                f"{folder} lacks its file {name}; restore the folder from a copy or train again."
            )
        if file.stat().st_size != expected["bytes"] or _sha256(file) != expected["sha256"]:
            raise ModelFileError(
                f"{file} is damaged (its checksum differs from the manifest's); restore the "
                "folder from a copy or train the model again."
            )


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 22):
            digest.update(block)
    return digest.hexdigest()
