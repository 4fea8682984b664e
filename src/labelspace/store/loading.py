"""From a folder to a model: what is stored there is input, and is checked like other input.

Loading checks every file against its sha256 and maps the arrays into memory. Nothing is pickled,
a manifest names nothing but what is in ``labelspace.registry``, and each part has to be what its
class says (``store.schema``), so that a stranger's folder runs no code of theirs, imports no module
of their choice and leads no kernel outside its arrays.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

import labelspace
from labelspace import registry
from labelspace.csr import empty_csr
from labelspace.errors import ModelFileError
from labelspace.store.folders import MANIFEST, existing
from labelspace.store.manifest import plain_file, read_manifest, verify_files
from labelspace.store.schema import Mismatch, Sizes, check_csr
from labelspace.store.storable import Storable

# Parts in parts: ours have ten levels, and far more would exhaust Python's.
_DEEPEST = 64


def load(path: str | os.PathLike[str], *, trusted: bool = False) -> Any:
    """Read the model in folder ``path``: an estimator or a ``Tagger``.

    A folder that is ``trusted``, since nobody else has written to it, is read without looking at
    the values of all arrays; checksums, types and shapes are checked in any case.
    """
    folder = existing(Path(path))
    while True:
        before = _identity(folder)
        try:
            loaded = _load(folder, trusted)
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


def _load(folder: Path, trusted: bool) -> Any:
    manifest = read_manifest(folder)
    verify_files(folder, manifest)
    try:
        loaded = _Decoder(folder, manifest["files"], trusted).decode(manifest["model"], "model")
        if not isinstance(loaded, Storable):
            raise Mismatch("model is none")
        return loaded
    except (ModelFileError, KeyboardInterrupt):
        raise
    except Mismatch as error:
        raise ModelFileError(
            f"{folder} holds no model that can be used: {error}; restore the folder from a copy or "
            "train the model again."
        ) from None
    except Exception as error:  # whatever a manifest of a stranger's making can cause
        raise ModelFileError(
            f"{folder}: the model does not fit this version of labelspace "
            f"({labelspace.__version__}): {_one_line(error)}; train it again or install the "
            "version that its manifest.json names."
        ) from error


class _Decoder:
    """Makes objects again from the manifest and the arrays of a folder."""

    def __init__(self, folder: Path, files: dict[str, Any], trusted: bool) -> None:
        self._folder = folder
        self._files = files
        self._trusted = trusted
        self._parts: dict[int, Sizes] = {}
        self._kept: list[Any] = []  # so that no two parts have the same id

    def decode(self, value: Any, where: str, depth: int = 0) -> Any:
        """Return what an entry of the manifest, found at ``where``, stands for."""
        if depth > _DEEPEST:
            raise Mismatch(f"{where[:80]} has too many levels")
        if isinstance(value, list):
            return [self.decode(item, where, depth + 1) for item in value]
        if not isinstance(value, dict):
            return value
        if "$float" in value:
            return float(value["$float"])
        if "$array" in value:
            return self._array(value["$array"])
        if "$objects" in value:
            items = self.decode(value["$objects"], where, depth + 1)
            return np.array([str(item) for item in items], dtype=object)
        if "$csr" in value:
            return self._csr(value, where)
        if "$tuple" in value:
            return tuple(self.decode(value["$tuple"], where, depth + 1))
        if "$dict" in value:
            return {
                key: self.decode(item, f"{where}.{key}", depth + 1) for key, item in value["$dict"]
            }
        state = {
            key: self.decode(part, f"{where}.{key}", depth + 1)
            for key, part in value["state"].items()
        }
        return self._part(_class(value["$object"]), state, where)

    def _part(self, kind: type[Storable], state: dict[str, Any], where: str) -> Any:
        sizes = Sizes(self._trusted, self._parts)
        try:
            kind._check_state(state, sizes)
            made = kind._from_state(state)
        except Mismatch as error:
            raise Mismatch(f"{where}.{error}") from None
        self._parts[id(made)] = sizes
        self._kept.append(made)
        return made

    def _csr(self, value: dict[str, Any], where: str) -> csr_matrix:
        """Put a matrix together without the copy that the constructor would make."""
        data, indices, indptr = (
            self._array(value["$csr"][part]) for part in ("data", "indices", "indptr")
        )
        n_rows, n_columns = value["shape"]
        if type(n_rows) is not int or type(n_columns) is not int or n_rows != indptr.size - 1:
            raise Mismatch(f"{where} has a shape that does not fit to its arrays")
        matrix = empty_csr(n_rows, n_columns, data.dtype)
        matrix.data, matrix.indices, matrix.indptr = data, indices, indptr
        if self._trusted:
            matrix.has_sorted_indices = matrix.has_canonical_format = True
            return matrix
        try:
            check_csr(matrix)
        except Mismatch as error:
            raise Mismatch(f"{where} {error}") from None
        return matrix

    def _array(self, name: Any) -> Any:
        if name not in self._files:
            raise ModelFileError(
                f"{self._folder} names the file {name!s:.80}, which is not in it; train again."
            )
        # Mapped copy-on-write, and seen as plain arrays: compiled kernels then take them as they
        # take fresh ones, instead of being compiled a second time for read-only input.
        mapped = np.load(plain_file(self._folder, name), mmap_mode="c", allow_pickle=False)
        array = mapped.view(np.ndarray)
        is_plain = array.flags.c_contiguous and array.flags.aligned and array.dtype.isnative
        if not is_plain or array.dtype.kind not in "biufU":
            raise Mismatch(f"{name} is laid out as no array of ours is")
        return array


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


def _one_line(error: Exception) -> str:
    return " ".join(f"{error}".split())[:200] or type(error).__name__
