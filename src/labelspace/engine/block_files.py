"""One file for one value: arrays, sparse matrices, parts of models, and plain data around them.

A file begins with a line that says what it is and with a header in JSON, then come the arrays,
each where memory can be mapped onto it, and last the sha256 of all before. Nothing is pickled.
Arrays are mapped, so that all processes of a machine share one copy of the rows they learn from.
"""

from __future__ import annotations

import hashlib
import json
import math
import mmap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_matrix, csr_matrix, issparse

from labelspace import registry
from labelspace.csr import empty_csr
from labelspace.errors import EngineError
from labelspace.store import Storable

MAGIC = b"labelspace block 1\n"
_ALIGNED = 64
_DIGEST = 32
_LENGTH = 8  # bytes that tell the header's length


class BlockContent:
    """A value as the bytes of a block's file, of which arrays are not copied.

    Examples
    --------
    >>> content = BlockContent({"rows": np.arange(3), "C": 0.5})
    >>> content.digest[:8], content.n_bytes
    ('...', ...)
    """

    def __init__(self, value: Any) -> None:
        self._arrays: list[NDArray[Any]] = []
        self._places: list[list[Any]] = []
        self._end = 0
        tree = self._encoded(value)
        header = json.dumps({"value": tree, "arrays": self._places}, ensure_ascii=False).encode()
        self._head = MAGIC + len(header).to_bytes(_LENGTH, "little") + header
        self._head += bytes(-len(self._head) % _ALIGNED)
        digest = hashlib.sha256()
        for part in self._parts():
            digest.update(part)
        self._sum = digest.digest()

    @property
    def digest(self) -> str:
        """The sha256 of the content, which is the fingerprint of the value."""
        return self._sum.hex()

    @property
    def n_bytes(self) -> int:
        return len(self._head) + self._end + _DIGEST

    def parts(self) -> Iterator[Any]:
        """Yield the bytes of the file, piece by piece."""
        yield from self._parts()
        yield self._sum

    def _parts(self) -> Iterator[Any]:
        yield self._head
        for array in self._arrays:
            yield array.reshape(-1).view(np.uint8).data
            yield bytes(-array.nbytes % _ALIGNED)

    def _encoded(self, value: Any) -> Any:
        """Return a value as JSON, with numbers for its arrays."""
        if isinstance(value, np.generic):
            return {"$scalar": self._kept(np.asarray(value))}
        if isinstance(value, float) and not math.isfinite(value):
            return {"$float": repr(value)}
        if value is None or isinstance(value, (str, int, float, bool)):
            return value
        if isinstance(value, np.ndarray) and value.dtype.kind in "biufU":
            return {"$array": self._kept(value)}
        if issparse(value):
            sparse: Any = value  # may be any kind of sparse matrix or array
            kind = "$csc" if sparse.format == "csc" else "$csr"
            matrix: Any = csc_matrix(sparse) if kind == "$csc" else csr_matrix(sparse)
            parts = [self._kept(part) for part in (matrix.data, matrix.indices, matrix.indptr)]
            return {kind: parts, "shape": [int(side) for side in matrix.shape]}
        if isinstance(value, Storable):
            name = registry.storable_name(type(value))
            if name is not None:
                return {"$object": name, "state": self._encoded(value._to_state())}
        if isinstance(value, (list, tuple)):
            items = [self._encoded(item) for item in value]
            return items if isinstance(value, list) else {"$tuple": items}
        if isinstance(value, dict):
            return {"$dict": [[key, self._encoded(item)] for key, item in value.items()]}
        raise EngineError(
            f"A {type(value).__name__} cannot be part of a block: make it plain data, an array or "
            "a part that models store."
        )

    def _kept(self, array: NDArray[Any]) -> int:
        array = np.ascontiguousarray(array).reshape(array.shape)
        self._places.append([array.dtype.str, list(array.shape), self._end])
        self._arrays.append(array)
        self._end += array.nbytes + -array.nbytes % _ALIGNED
        return len(self._arrays) - 1


def read_block(path: Path, *, check: bool = True) -> Any:
    """Return the value in a file, its arrays mapped into memory.

    Raises ValueError where the file is not whole; ``check`` also compares its checksum.
    """
    with open(path, "rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    view = memoryview(mapped)
    begin = len(MAGIC) + _LENGTH
    if len(view) < begin + _DIGEST or view[: len(MAGIC)] != MAGIC:
        raise ValueError(f"{path} is no block of this version")
    if check and hashlib.sha256(view[:-_DIGEST]).digest() != view[-_DIGEST:]:
        raise ValueError(f"{path} is damaged")
    n_header = int.from_bytes(view[len(MAGIC) : begin], "little")
    first = begin + n_header
    first += -first % _ALIGNED
    try:
        header = json.loads(bytes(view[begin : begin + n_header]))
        arrays = [_mapped(mapped, first, *place) for place in header["arrays"]]
        return _decoded(header["value"], arrays)
    except (
        KeyError,
        TypeError,
        IndexError,
        AttributeError,
        RecursionError,
        OverflowError,
    ) as error:
        raise ValueError(f"{path} is no block of this version: {error}") from None


def _mapped(content: mmap.mmap, first: int, kind: str, shape: list[int], at: int) -> NDArray[Any]:
    """Return an array of a file; one of objects would be addresses that somebody has written."""
    dtype = np.dtype(kind)
    if dtype.kind not in "biufU" or at < 0:
        raise TypeError(f"an array of {kind!s:.20} at {at}")
    return np.ndarray(shape, dtype, buffer=content, offset=first + at)


def _decoded(value: Any, arrays: list[NDArray[Any]]) -> Any:
    if isinstance(value, list):
        return [_decoded(item, arrays) for item in value]
    if not isinstance(value, dict):
        return value
    if "$scalar" in value:
        return arrays[value["$scalar"]][()]
    if "$float" in value:
        return float(value["$float"])
    if "$array" in value:
        return arrays[value["$array"]]
    if "$csr" in value:
        n_rows, n_columns = value["shape"]
        matrix = empty_csr(n_rows, n_columns, arrays[value["$csr"][0]].dtype)
        matrix.data, matrix.indices, matrix.indptr = (arrays[part] for part in value["$csr"])
        return matrix
    if "$csc" in value:
        return csc_matrix(tuple(arrays[part] for part in value["$csc"]), shape=value["shape"])
    if "$tuple" in value:
        return tuple(_decoded(item, arrays) for item in value["$tuple"])
    if "$dict" in value:
        return {key: _decoded(item, arrays) for key, item in value["$dict"]}
    kind: type[Storable] = registry.storable_class(value["$object"])
    return kind._from_state(_decoded(value["state"], arrays))
