"""The file of a queue under review: what it is, its rows, then the marks, a line for each.

A line that a crash has cut off is passed over, since nobody was told that it is there. Any other
line that the server did not write is told by its number: somebody has edited the file.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

from labelspace.server.refusal import Refusal
from labelspace.store import folders
from labelspace.store.leftovers import temporary_file

State = dict[str, Any]
_MARK = {"row": int, "label": str, "verdict": str, "who": str, "at": (int, float)}
_ROW = {"text": str, "columns": dict, "tags": list}


def read_queue(path: Path) -> tuple[State, list[State], list[State]]:
    """Return what a queue is, its rows and its marks; refuse a file that is none."""
    head: State = {}
    rows: list[State] = []
    marks: list[State] = []
    for number, line in enumerate(path.read_bytes().split(b"\n"), 1):
        try:
            told = json.loads(line, parse_constant=_no_number)
        except RecursionError:
            raise _edited(path, number) from None
        except ValueError:
            continue  # cut off by a crash
        if not isinstance(told, dict):
            raise _edited(path, number)
        if number == 1 and told.get("queue") == path.stem and isinstance(told.get("name"), str):
            head = told
        elif _has(told.get("row"), _ROW):
            rows.append(told["row"])
        elif _has(told.get("mark"), _MARK) and 0 <= told["mark"]["row"] < len(rows):
            marks.append(told["mark"])
        else:
            raise _edited(path, number)
    if not head or not rows:
        raise _edited(path, 1)
    return head, rows, marks


def write_queue(path: Path, head: State, rows: list[State], free_disk: int) -> None:
    """Write a new queue, whole or not at all."""
    lines = _line(head) + b"".join(_line({"row": row}) for row in rows)
    _check_room(path, len(lines), free_disk)
    try:
        with temporary_file(path.parent, f".{path.name}.", ".part") as (made, descriptor):
            with os.fdopen(descriptor, "wb") as file:
                file.write(lines)
                folders.flush(file)
            os.replace(made, path)
        folders.flush_folder(path.parent)
    except OSError as error:
        raise _unwritten(error) from error


def add_marks(path: Path, marks: list[State], most_bytes: int, free_disk: int) -> None:
    """Append marks, on disk when this returns, else not there."""
    lines = b"".join(_line({"mark": mark}) for mark in marks)
    size = path.stat().st_size
    if size + len(lines) > most_bytes:
        raise Refusal(507, "The queue has as many marks as it takes: begin another.")
    _check_room(path, len(lines), free_disk)
    try:
        with open(path, "r+b", buffering=0) as file:
            file.seek(-1, os.SEEK_END)
            try:
                # A crash may have left half a line, which nobody was told of.
                left = memoryview((b"" if file.read(1) == b"\n" else b"\n") + lines)
                while left:
                    left = left[file.write(left) :]
                folders.flush(file)
            except OSError:
                file.truncate(size)
                raise
    except OSError as error:
        raise _unwritten(error) from error


def _check_room(path: Path, n_bytes: int, free_disk: int) -> None:
    if shutil.disk_usage(path.parent).free < free_disk + n_bytes:
        raise Refusal(
            507,
            f"The server's disk would have less than {free_disk:,} bytes left: make room on it, or "
            "start the server with less as --min-free-disk.",
        )


def _unwritten(error: OSError) -> Refusal:
    return Refusal(507, f"The queue could not be written ({error.strerror or 'error'}).")


def _edited(path: Path, number: int) -> Refusal:
    return Refusal(
        409,
        f"Line {number} of {path.name} is none that the server wrote: take it out of the file, or "
        "remove the queue.",
    )


def _has(told: Any, kinds: dict[str, Any]) -> bool:
    return isinstance(told, dict) and all(
        isinstance(told.get(name), kind) and not isinstance(told.get(name), bool)
        for name, kind in kinds.items()
    )


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no number")


def _line(told: State) -> bytes:
    return json.dumps(told, ensure_ascii=True, allow_nan=False).encode() + b"\n"
