"""Corpora as ``.npz``: the arrays themselves, the quickest form to read again.

========================================  =====================================================
``Y_indices``, ``Y_indptr``, ``Y_shape``  labels as CSR (``Y_data`` too; where absent, all ones)
``X_data``, ``X_indices``, ``X_indptr``,  features as CSR; absent in a corpus of text
``X_shape``
``texts``                                 UTF-8 bytes of all texts, one after another (uint8),
``texts_indptr``                          and where each begins and ends
``label_names``, ``feature_names``        names of the columns (arrays of str)
========================================  =====================================================

Nothing in the file is ever run: pickled objects are refused. One matrix saved by
``scipy.sparse.save_npz`` is not a corpus; the error says how to make one.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import zipfile
from collections.abc import Sequence
from io import BufferedReader
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.csr import canonical
from labelspace.data.corpus import Corpus, binary
from labelspace.data.formats.column_spec import ColumnSpec
from labelspace.data.formats.compression import check_unpacked, open_output
from labelspace.data.formats.names import MAX_INDEX, check_width, columns_of_ids
from labelspace.errors import DataError


def read_npz(stream: BufferedReader, path: Path, wanted: ColumnSpec) -> Corpus:
    """Read an ``.npz`` corpus, also one that was compressed once more."""
    with path.open("rb") as file:
        if file.seekable() and file.read(2) == b"PK":
            file.seek(0)
            return _read_arrays(_Arrays(file, path), path, wanted)
    # Arrays are found from the end of the file, so it has to be unpacked first.
    with tempfile.TemporaryFile() as file:
        shutil.copyfileobj(stream, file, 1 << 20)
        file.seek(0)
        return _read_arrays(_Arrays(file, path), path, wanted)


def write_npz(corpus: Corpus, path: Path) -> None:
    """Write an ``.npz`` corpus."""
    arrays: dict[str, Any] = {}
    for name, matrix in (("X", corpus.X), ("Y", corpus.Y)):
        if matrix is not None:
            arrays[f"{name}_data"] = matrix.data
            arrays[f"{name}_indices"] = matrix.indices
            arrays[f"{name}_indptr"] = matrix.indptr
            arrays[f"{name}_shape"] = np.array(matrix.shape, np.int64)
    try:
        if corpus.texts is not None:
            pieces = [text.encode() for text in corpus.texts]
            arrays["texts"] = np.frombuffer(b"".join(pieces), np.uint8)
            arrays["texts_indptr"] = np.cumsum([0, *map(len, pieces)], dtype=np.int64)
        for name, names in (
            ("label_names", corpus.label_names),
            ("feature_names", corpus.feature_names),
        ):
            if names is not None:
                "".join(names).encode()
                arrays[name] = np.array(names, dtype=np.str_)
    except UnicodeEncodeError:
        raise DataError(
            f"{path} cannot be written: a text or name has half a character; remove it."
        ) from None
    with open_output(path) as file:
        # Not numpy.savez, which seeks back in compressed files, and they cannot.
        sink: Any = _OneWay(file)
        with zipfile.ZipFile(sink, "w") as archive:
            for name, array in arrays.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, array, allow_pickle=False)


def _read_arrays(arrays: _Arrays, path: Path, wanted: ColumnSpec) -> Corpus:
    if "Y_indptr" not in arrays and {"format", "indptr", "shape"} <= set(arrays.names):
        raise DataError(
            f"{path} is one matrix saved by scipy, without its partner; "
            "write both with labelspace.data.write_corpus(Corpus(X=X, Y=Y), path)."
        )
    Y = binary(arrays.csr("Y"))
    X = canonical(arrays.csr("X").astype(np.float32)) if "X_indptr" in arrays else None
    texts = arrays.texts() if "texts" in arrays else None
    if X is None and texts is None:
        raise DataError(f"{path} has neither X_indptr nor texts; write it again with one of them.")
    label_names = arrays.strings("label_names") if "label_names" in arrays else None
    feature_names = arrays.strings("feature_names") if "feature_names" in arrays else None
    for what, size, expected in (
        ("rows in X", None if X is None else X.shape[0], Y.shape[0]),
        ("texts", None if texts is None else len(texts), Y.shape[0]),
        ("label names", None if label_names is None else len(label_names), Y.shape[1]),
        (
            "feature names",
            None if feature_names is None else len(feature_names),
            0 if X is None else X.shape[1],
        ),
    ):
        if size is not None and size != expected:
            raise DataError(f"{path} has {size} {what} instead of {expected}; write it again.")
    if X is not None and wanted.n_features is not None and X.shape[1] != wanted.n_features:
        raise DataError(
            f"{path} has {X.shape[1]} features but the model has {wanted.n_features}; "
            "use a corpus made with the features of the training corpus."
        )
    if None not in (feature_names, wanted.feature_names) and feature_names != wanted.feature_names:
        raise DataError(
            f"{path} has features of other names than the model; "
            "use a corpus made with the features of the training corpus."
        )
    if X is not None and feature_names is None:
        check_width(X.shape[1], X.indices, path, wanted.n_features, "features", "X_shape")
    if label_names is None:
        check_width(Y.shape[1], Y.indices, path, wanted.n_known_labels, told_by="Y_shape")
    placed = columns_of_ids(Y.indices, Y.shape[1], label_names, wanted.label_names, wanted.n_labels)
    columns = Y.indices if placed.column is None else placed.column[Y.indices]
    Y = csr_matrix((Y.data, columns, Y.indptr), shape=(Y.shape[0], placed.n_columns))
    return Corpus(
        X,
        Y,
        texts=texts,
        label_names=placed.names,
        feature_names=wanted.feature_names or feature_names,
    )


class _Arrays:
    """The arrays of a file that may have been damaged, or made by somebody else."""

    def __init__(self, file: Any, path: Path) -> None:
        self._path = path
        try:
            self._archive: Any = np.load(file, allow_pickle=False)
            sizes = [member.file_size for member in self._archive.zip.infolist()]
        except Exception as error:
            raise self._damaged(error) from error
        check_unpacked(sum(sizes), file.seek(0, os.SEEK_END), path)
        self.names: Sequence[str] = self._archive.files

    def __contains__(self, name: str) -> bool:
        return name in self.names

    def get(self, name: str, kinds: str, n_dimensions: int = 1) -> NDArray[Any]:
        """Return an array of one of these kinds of numpy types, or say what is wrong with it."""
        if name not in self:
            raise DataError(f"{self._path} has no array {name}; write it again with one.")
        try:
            array = self._archive[name]
        except ValueError as error:
            if "allow_pickle" not in str(error):
                raise self._damaged(error) from error
            raise DataError(
                f"{self._path}: {name} holds Python objects, which are not loaded as they could "
                "run code; save it as an array of numbers or of str."
            ) from None
        except Exception as error:  # zip, zlib, header: whatever a damaged archive can cause
            raise self._damaged(error) from error
        if not isinstance(array, np.ndarray):  # a member that does not begin as an array does
            raise DataError(f"{self._path}: {name} is no array; write it again.")
        if array.dtype.kind not in kinds or array.ndim != n_dimensions:
            raise DataError(
                f"{self._path}: {name} is an array of {array.dtype} with {array.ndim} dimensions, "
                "which is not what a corpus has there; write it again."
            )
        return np.asarray(array)

    def csr(self, name: str) -> csr_matrix:
        """Return a matrix whose parts fit together."""
        shape = self.get(f"{name}_shape", "iu")
        indptr = self.get(f"{name}_indptr", "iu")
        indices = self.get(f"{name}_indices", "iu")
        if f"{name}_data" in self or name == "X":
            data = self.get(f"{name}_data", "biuf")
        else:
            data = np.ones(len(indices), np.float32)
        problem = _csr_problem(shape, indptr, indices, data)
        if problem:
            raise DataError(f"{self._path}: {problem.format(name=name)}; write it again.")
        matrix = csr_matrix((data, indices, indptr), shape=tuple(shape.tolist()))
        return matrix

    def texts(self) -> list[str]:
        """Return the texts, stored as bytes with offsets or as an array of str."""
        if "texts_indptr" not in self:
            return self.strings("texts")
        indptr = self.get("texts_indptr", "iu").astype(np.int64)
        data = self.get("texts", "u").astype(np.uint8, copy=False).tobytes()
        if not _runs_through(indptr, len(data)):
            raise DataError(f"{self._path}: texts_indptr does not fit texts; write it again.")
        ends = indptr.tolist()
        try:
            return [data[a:b].decode() for a, b in pairwise(ends)]
        except UnicodeDecodeError:
            raise DataError(f"{self._path}: texts are not UTF-8; write it again.") from None

    def strings(self, name: str) -> list[str]:
        """Return an array of str as a list."""
        return [str(item) for item in self.get(name, "U").tolist()]

    def _damaged(self, error: Exception) -> DataError:
        return DataError(
            f"{self._path} is a damaged .npz file ({type(error).__name__}); "
            "fetch or write it again."
        )


class _OneWay:
    """A file without the way back that compressed ones promise but do not have."""

    def __init__(self, file: BinaryIO) -> None:
        self.write = file.write
        self.flush = file.flush


def _csr_problem(
    shape: NDArray[Any], indptr: NDArray[Any], indices: NDArray[Any], data: NDArray[Any]
) -> str | None:
    """Return what keeps the arrays from being a matrix, with {name} in it, or None."""
    if len(shape) != 2 or shape.min() < 0 or shape.max() > MAX_INDEX:
        return "{name}_shape is not (rows, columns)"
    if len(indptr) != int(shape[0]) + 1 or not _runs_through(indptr, len(indices)):
        return "{name}_indptr does not fit {name}_shape and {name}_indices"
    if len(data) != len(indices):
        return f"{{name}}_data has {len(data)} values for {len(indices)} {{name}}_indices"
    if len(indices) and (indices.min() < 0 or indices.max() >= shape[1]):
        return "{name}_indices go beyond the columns of {name}_shape"
    with np.errstate(over="ignore"):
        if not np.isfinite(data.astype(np.float32, copy=False)).all():
            return "{name}_data has values that are not finite in float32"
    return None


def _runs_through(indptr: NDArray[Any], size: int) -> bool:
    """Return whether offsets begin at 0, never go back, and end at ``size``."""
    return bool(
        len(indptr) and indptr[0] == 0 and indptr[-1] == size and (indptr[1:] >= indptr[:-1]).all()
    )
