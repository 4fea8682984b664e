"""What the attributes of a stored part have to be, so that no kernel is led outside its arrays.

A model folder may come from a stranger, whose checksums are right and whose arrays are not. Each
class that can be stored says beside its attributes what they are: a ``_schema`` with a check for
each. Sizes have names: the same name is the same number within a part, and a part that holds other
parts ties their sizes to its own. All that is needed of an array is its least and largest value,
so that a check costs a fraction of reading the file; a folder of one's own can be ``trusted``,
which leaves the values out.

>>> check = array("float32", "n_keys", "dim")
>>> sizes = Sizes()
>>> check(np.zeros((3, 2), dtype=np.float32), sizes)
>>> sizes.known
{'n_keys': 3, 'dim': 2}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.store.scalars import (
    FLAG,
    STORAGE,
    integer,
    number,
    numbers_by_name,
    option,
    text,
    texts,
)
from labelspace.store.sizes import LARGEST, Check, Mismatch, Size, Sizes, plus, up_to

__all__ = [
    "FLAG",
    "STORAGE",
    "Check",
    "Mismatch",
    "Schema",
    "Sizes",
    "State",
    "anything",
    "array",
    "check_attributes",
    "check_csr",
    "check_unique",
    "csr",
    "either",
    "fitted",
    "integer",
    "layers",
    "list_of",
    "maybe",
    "names",
    "number",
    "numbers_by_name",
    "offsets",
    "option",
    "optional",
    "part",
    "plus",
    "size",
    "text",
    "texts",
    "tuple_of",
    "up_to",
]

State = dict[str, Any]
Schema = Mapping[str, Check]


def check_attributes(schema: Schema, state: Mapping[str, Any], sizes: Sizes) -> None:
    """Raise Mismatch if ``state`` lacks an attribute, has one too many, or a wrong one."""
    for name, check in schema.items():
        try:
            if name in state:
                check(state[name], sizes)
            elif not isinstance(check, _Maybe):
                raise Mismatch("is missing")
        except Mismatch as error:
            raise Mismatch(f"{name} {error}") from None
    if unknown := state.keys() - schema.keys():
        raise Mismatch(f"{min(unknown, key=str)!s:.40} is not an attribute that it has")


def array(
    kinds: str,
    *shape: Size,
    low: float | None = None,
    below: Size = None,
    end: str | None = None,
    unique: bool = False,
) -> Check:
    """Return the check of an array of one of some types, whose numbers are finite.

    Its values are ``low`` at least and less than the size ``below``; one more than the largest of
    them is the size ``end``.
    """

    def check(value: Any, sizes: Sizes) -> None:
        if not isinstance(value, np.ndarray) or value.dtype.name not in kinds.split():
            raise Mismatch(f"is no array of {kinds}")
        if value.ndim != len(shape):
            raise Mismatch(f"has {value.ndim} dimensions instead of {len(shape)}")
        for size, found in zip(shape, value.shape, strict=True):
            sizes.settle(size, found)
        if sizes.trusted:
            return
        least, largest = _range(value)
        if low is not None and least < low:
            raise Mismatch(f"holds {least:g}, which is too small")
        if below is not None and value.size:
            limit = sizes.known[below] if isinstance(below, str) else below
            if isinstance(limit, int) and largest >= limit:
                raise Mismatch(f"holds {largest:g}, which is too large")
        if end is not None:
            sizes.settle(end, int(largest) + 1 if value.size else 0)
        if unique:
            check_unique(value)

    return check


def check_unique(numbers: NDArray[Any]) -> None:
    """Raise if a number is there twice."""
    in_order = np.sort(numbers)
    if np.any(in_order[1:] == in_order[:-1]):
        raise Mismatch("holds a number twice")


def offsets(n: Size, n_entries: Size, first: int = 0, kinds: str = "int64") -> Check:
    """Return the check of an array that tells where each of ``n`` lists begins and ends."""

    def check(value: Any, sizes: Sizes) -> None:
        array(kinds, None)(value, sizes)
        if not value.size:
            raise Mismatch("is empty")
        sizes.settle(n, value.size - 1)
        sizes.settle(n_entries, int(value[-1]))
        if value[0] != first or (not sizes.trusted and np.any(value[1:] < value[:-1])):
            raise Mismatch("does not rise from the first entry to the last")

    return check


def csr(kinds: str, n_rows: Size, n_columns: Size) -> Check:
    """Return the check of a sparse matrix, whose own arrays were checked when it was read."""

    def check(value: Any, sizes: Sizes) -> None:
        if not isinstance(value, csr_matrix) or value.dtype.name not in kinds.split():
            raise Mismatch(f"is no sparse matrix of {kinds}")
        sizes.settle(n_rows, value.shape[0])
        sizes.settle(n_columns, value.shape[1])
        if not sizes.trusted:
            _range(value.data)

    return check


def check_csr(matrix: Any) -> None:
    """Raise if a sparse matrix, put together from stored arrays, points outside of them."""
    n_rows, n_columns = matrix.shape
    sizes = Sizes()
    sizes.known = {"n_rows": n_rows, "n_entries": matrix.data.size, "n_columns": n_columns}
    offsets("n_rows", "n_entries", kinds="int32 int64")(matrix.indptr, sizes)
    array("int32 int64", "n_entries", low=0, below="n_columns")(matrix.indices, sizes)
    if matrix.indices.dtype != matrix.indptr.dtype or matrix.data.ndim != 1:
        raise Mismatch("has arrays of types that do not go together")


def part(*names: str, **ties: Size) -> Check:
    """Return the check of a part of one of some classes, whose sizes are tied to ours."""

    def check(value: Any, sizes: Sizes) -> None:
        if id(value) not in sizes.parts or type(value).__name__ not in names:
            raise Mismatch(f"is no {' or '.join(names)}")
        known = sizes.of(value)
        for name, size in ties.items():
            if name in known:
                try:
                    sizes.settle(size, known[name])
                except Mismatch as error:
                    raise Mismatch(f"does not fit to the rest: {name} {error}") from None

    return check


def fitted(value: Any, sizes: Sizes) -> None:
    """Check an estimator: it has learned, and its rows and features are as many as ours."""
    known = sizes.of(value) if id(value) in sizes.parts else {}
    for name in ("n_examples", "n_features", "n_labels"):
        if name not in known:
            raise Mismatch("is no estimator that has learned")
        sizes.settle(name, known[name])


def list_of(item: Check, least: int = 0, length: Size = None) -> Check:
    """Return the check of a list, of each of whose items the same is asked."""

    def check(value: Any, sizes: Sizes) -> None:
        if not isinstance(value, list) or len(value) < least:
            raise Mismatch(f"is no list of {least} or more")
        sizes.settle(length, len(value))
        for one in value:
            item(one, sizes)

    return check


def tuple_of(*items: Check) -> Check:
    """Return the check of a tuple with one check for each place."""

    def check(value: Any, sizes: Sizes) -> None:
        if not isinstance(value, tuple) or len(value) != len(items):
            raise Mismatch(f"is no tuple of {len(items)}")
        for item, one in zip(items, value, strict=True):
            item(one, sizes)

    return check


def layers(value: Any, sizes: Sizes) -> None:
    """Check a list of (weights, bias), each of which takes what the one before gives.

    The sizes ``inputs`` and ``outputs`` are those of the first and of the last, if there is any.
    """
    if not isinstance(value, list):
        raise Mismatch("is no list")
    for at, layer in enumerate(value):
        inside = Sizes(sizes.trusted)
        weights = array("float32", "inputs", "outputs")
        tuple_of(weights, array("float32", "outputs"))(layer, inside)
        if at == 0:
            sizes.settle("inputs", inside.known["inputs"])
        elif inside.known["inputs"] != sizes.known["outputs"]:
            raise Mismatch("has layers that do not fit to each other")
        sizes.known["outputs"] = inside.known["outputs"]


def size(name: str, least: int = 0, most: int = 1 << 40) -> Check:
    """Return the check of a whole number that is one of the sizes."""

    def check(value: Any, sizes: Sizes) -> None:
        integer(least, most)(value, sizes)
        sizes.settle(name, value)

    return check


def either(*checks: Check) -> Check:
    """Return the check of what is None, or passes one of some checks."""

    def check(value: Any, sizes: Sizes) -> None:
        for at, one in enumerate(checks, 1):
            try:
                return None if value is None else one(value, sizes)
            except Mismatch:
                if at == len(checks):
                    raise

    return check


def optional(check: Check) -> Check:
    """Return the check of what may be None."""
    return lambda value, sizes: None if value is None else check(value, sizes)


class _Maybe:
    def __init__(self, check: Check) -> None:
        self._check = check

    def __call__(self, value: Any, sizes: Sizes) -> None:
        self._check(value, sizes)


def maybe(check: Check) -> Check:
    """Return the check of an attribute that may be missing."""
    return _Maybe(check)


def names(length: Size) -> Check:
    """Return the check of a list of texts that is so long."""

    def check(value: Any, sizes: Sizes) -> None:
        texts(value, sizes)
        sizes.settle(length, len(value))

    return check


def anything(value: Any, sizes: Sizes) -> None:
    """Check nothing: for what is only looked at by who made it."""


def _range(values: NDArray[Any]) -> tuple[float, float]:
    """Return the least and the largest value; raise if a number is not finite, or as good as."""
    if not values.size or values.dtype.kind not in "iuf" or values.dtype.itemsize == 1:
        return 0, -1
    least, largest = values.min().item(), values.max().item()
    if values.dtype.kind == "f" and not (least >= -LARGEST and largest <= LARGEST):
        raise Mismatch("holds numbers that are not finite, or too large")
    return least, largest
