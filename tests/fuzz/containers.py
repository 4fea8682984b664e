"""Changes of files that hold others: arrays, tables with types, workbooks, JSON.

A changed byte of such a file is mostly found by its own checksums; so what is inside is changed,
and the file made anew around it.
"""

from __future__ import annotations

import datetime
import decimal
import io
import zipfile
from typing import Any

import numpy as np

from tests.fuzz.folder_cases import changed_array
from tests.fuzz.mutations import Random, changed_bytes, changed_json
from tests.fuzz.samples import npz_arrays


def changed_content(content: bytes, name: str, random: Random) -> bytes:
    """Return the content of a file of a format, with something changed in it."""
    if random.random() < 0.4:
        return changed_bytes(content, random)
    if name in ("jsonl", "records", "xc-json", "json", "json-ld") and content[:1] in b"{[":
        return changed_json(content, random, is_lines=name not in ("json", "json-ld"))
    if name == "npz":
        return _arrays(random)
    if name == "xlsx":
        return _workbook(content, random)
    if name in ("parquet", "feather"):
        return _typed_table(name, random)
    return changed_bytes(content, random)


def _arrays(random: Random) -> bytes:
    arrays = npz_arrays()
    members = {}
    for name, array in arrays.items():
        file = io.BytesIO()
        np.save(file, array)
        members[f"{name}.npy"] = file.getvalue()
    for _ in range(int(random.integers(1, 4))):
        names = list(members)
        name = names[random.integers(len(names))]
        way = random.random()
        if way < 0.15:
            del members[name]
        elif way < 0.25:
            members[name] = members[names[random.integers(len(names))]]
        elif members[name]:
            try:
                members[name] = changed_array(members[name], random)[0]
            except Exception:  # what was changed before is no array any more
                members[name] = changed_bytes(members[name], random)
    return _zipped(members, random)


def _workbook(content: bytes, random: Random) -> bytes:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    telling = [name for name in members if "sheet1" in name or "sharedStrings" in name]
    names = telling if random.random() < 0.7 else list(members)
    name = names[random.integers(len(names))]
    if random.random() < 0.1:
        del members[name]
    else:
        members[name] = changed_bytes(members[name], random)
    return _zipped(members, random)


def _zipped(members: dict[str, bytes], random: Random) -> bytes:
    file = io.BytesIO()
    way = zipfile.ZIP_DEFLATED if random.random() < 0.5 else zipfile.ZIP_STORED
    with zipfile.ZipFile(file, "w", way) as archive:
        for name, member in members.items():
            archive.writestr(name, member)
    return file.getvalue()


_CELLS: tuple[tuple[Any, ...], ...] = (
    (1, 2, None),
    (1.5, float("nan"), float("inf")),
    (True, False, None),
    ("a", "", "\0"),
    (b"a", b"\xff", None),
    (["a"], [], None),
    ([["a"]], [[]], None),
    ([1, None], [2**62], []),
    ({"id": "a"}, {"id": None}, None),
    ([{"name": "a"}], [], None),
    (None, None, None),
    (datetime.datetime(1, 1, 1), datetime.datetime(9999, 12, 31), None),
    (datetime.timedelta(days=9**5), None, None),
    (decimal.Decimal("1.50"), decimal.Decimal("1E+30"), None),
)


def _typed_table(name: str, random: Random) -> bytes:
    import pyarrow
    from pyarrow import feather, parquet

    columns: dict[str, Any] = {
        "id": [1, 2, 3],
        "title": ["a", "b", "c"],
        "labels": [["x"], [], ["y"]],
    }
    for key in list(columns):
        if random.random() < 0.5:
            columns[key] = _CELLS[random.integers(len(_CELLS))]
    if random.random() < 0.2:
        del columns[list(columns)[random.integers(3)]]
    arrays = [pyarrow.array(list(values)) for values in columns.values()]
    for at, array in enumerate(arrays):
        if random.random() < 0.15:
            arrays[at] = _retyped(array, random)
    names = list(columns)
    if random.random() < 0.1:
        names[-1] = names[0]
    table = pyarrow.Table.from_arrays(arrays, names=names)
    if random.random() < 0.1:
        table = table.slice(0, 0)
    file = io.BytesIO()
    try:
        if name == "parquet":
            parquet.write_table(table, file)
        else:
            way = ["uncompressed", "lz4", "zstd"][random.integers(3)]
            feather.write_feather(table, file, compression=way)
    except (pyarrow.ArrowException, ValueError, OverflowError):  # what the format does not hold
        return b""
    content = file.getvalue()
    return changed_bytes(content, random) if random.random() < 0.3 else content


def _retyped(array: Any, random: Random) -> Any:
    """Return an array as a type that says other things of the same numbers."""
    import pyarrow

    if pyarrow.types.is_integer(array.type):
        kinds = [pyarrow.timestamp("s"), pyarrow.timestamp("ns", "Mars/Base"), pyarrow.time64("us")]
        kinds += [pyarrow.duration("s"), pyarrow.date64(), pyarrow.uint64()]
        extreme = pyarrow.array([2**62, -(2**62), None])
        return extreme.view(kinds[random.integers(len(kinds))])
    if pyarrow.types.is_string(array.type):
        return pyarrow.array([b"\xff\xfe", b"a", b""]).view(pyarrow.string())
    return array.dictionary_encode() if not pyarrow.types.is_nested(array.type) else array
