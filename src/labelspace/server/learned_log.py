"""The rows that a server was taught, on disk before it says so.

``DIR.learned.jsonl`` beside the model folder ``DIR`` is a corpus like any other (JSON lines with
``text`` or ``features`` and ``labels``), so that a model can be trained on it again. Each row also
carries the request that it came with and its place in it: the rows of a request that was cut off
by a crash are dropped when the file is next opened, so a request is learned wholly or not at all.

A model remembers how many rows of which log it has learned (``mark``), so that a row is not
learned twice, whenever the process ends.

Rows that cannot be learned again are copied to ``DIR.learned.aside.jsonl`` and passed over. The
last request can be taken back: its rows then go to ``DIR.learned.undone.jsonl``, whose size tells
other workers that something was.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from labelspace.errors import DataError
from labelspace.store import folders

Record = dict[str, Any]
_MARK = "learned_from_"


class Taught(NamedTuple):
    """How much of a log a model has learned: rows, and labels that were new."""

    rows: int
    labels: int


class LearnedLog:
    """The log of one model folder.

    Examples
    --------
    >>> import tempfile
    >>> log = LearnedLog(Path(tempfile.mkdtemp()) / "model")
    >>> with log.locked():
    ...     request = log.append([{"text": "a red ball", "labels": ["red"]}])
    >>> [[record["labels"] for record in request] for request in log.requests_after(0)]
    [[['red']]]
    """

    def __init__(self, folder: Path) -> None:
        folder = Path(os.path.abspath(folder))
        self.path = folder.parent / f"{folder.name}.learned.jsonl"
        self.aside = folder.parent / f"{folder.name}.learned.aside.jsonl"
        self.undone = folder.parent / f"{folder.name}.learned.undone.jsonl"
        self._mended = False
        self._position = (0, 0)  # rows, bytes: where reading may go on

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other workers from appending."""
        with folders.locked(self.path):
            if not self._mended:
                self._drop_cut_off()
                self._mended = True
            yield

    def append(self, records: Sequence[Record]) -> str:
        """Write the rows of a request, on disk when this returns, else not there; return its id."""
        request = uuid.uuid4().hex[:12]
        lines = _lines(records, request)
        descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            size = os.fstat(descriptor).st_size
            try:
                left = memoryview(lines)
                while left:
                    left = left[os.write(descriptor, left) :]
                os.fsync(descriptor)
                if not size:  # the file may be new
                    folders.flush_folder(self.path.parent)
            except OSError:
                self._mended = False  # lest it cannot be cut either
                os.ftruncate(descriptor, size)
                raise
        finally:
            os.close(descriptor)
        return request

    def last_request(self) -> list[Record]:
        """Return the rows of the request that was learned last, if there is any."""
        found: list[Record] = []
        self._position = (0, 0)
        for request in self.requests_after(0):
            found = request
        return found

    def take_back(self, request: Sequence[Record]) -> None:
        """Take the rows of the last request out of the log, and keep them beside it."""
        lines = _as_json(request)
        with open(self.undone, "ab") as file:
            file.write(lines)
            folders.flush(file)
        with open(self.path, "r+b") as file:
            file.seek(-len(lines), os.SEEK_END)
            if file.read() != lines:
                raise DataError(f"{self.path} does not end with its last request.")
            file.truncate(self.size - len(lines))
            folders.flush(file)
        self._position = (0, 0)

    @property
    def n_undone(self) -> int:
        """Bytes of what was taken back: another number means that something was."""
        return self.undone.stat().st_size if self.undone.exists() else 0

    def holds(self, model: Any) -> bool:
        """Tell whether the log still has all that ``model`` has learned of it."""
        taught = self.taught(model)
        if not taught.rows:
            return not getattr(model, _MARK, {}).get("rows")
        self._position = (0, 0)
        n_rows = 0
        for request in self.requests_after(0):
            n_rows += len(request)
            if n_rows == taught.rows:
                last = getattr(model, _MARK).get("last")
                return last is None or last == request[-1]["request"]
        return False

    def requests_after(self, n_rows: int) -> Iterator[list[Record]]:
        """Yield the rows after the first ``n_rows``, those of a request together."""
        if not self.path.exists():
            return
        known_rows, offset = self._position if self._position[0] <= n_rows else (0, 0)
        request: list[Record] = []
        with open(self.path, "rb") as file:
            file.seek(offset)
            for number, line in enumerate(file, known_rows + 1):
                offset += len(line)
                if number <= n_rows:
                    continue
                if not line.endswith(b"\n"):
                    return  # cut off, or being written
                request.append(self._record(line, number, request))
                part, n_parts = request[-1]["part"]
                if part == n_parts:
                    self._position = number, offset
                    yield request
                    request = []

    def check(self, model: Any) -> None:
        """Raise a sentence about the first line beyond ``model`` that the server did not write."""
        for _ in self.requests_after(self.n_learned(model)):
            pass

    def match(self, model: Any) -> bool:
        """Let ``model`` forget rows that are no longer in the log; tell whether there were any.

        Else it would take as many new ones for rows that it knows.
        """
        taught = self.taught(model)
        if not taught.rows:
            return False
        with open(self.path, "rb") as file:
            n_rows = sum(1 for _ in file)
        if n_rows < taught.rows:
            self.mark(model, n_rows - taught.rows, 0)
        return n_rows < taught.rows

    def set_aside(self, request: Sequence[Record]) -> None:
        """Keep a request that cannot be learned where a person finds it, once."""
        lines = _as_json(request)
        if self.aside.exists() and lines in self.aside.read_bytes():
            return
        with open(self.aside, "ab") as file:
            file.write(lines)
            folders.flush(file)

    def mark(self, model: Any, n_rows: int, n_labels: int, last: str | None = None) -> None:
        """Let ``model`` remember that it has learned so many more rows and new labels.

        ``last`` is the request that they came with.
        """
        before = self.taught(model)
        after = {"rows": before.rows + n_rows, "labels": before.labels + n_labels, "last": last}
        setattr(model, _MARK, {"first": self._first_request(), **after})

    def n_learned(self, model: Any) -> int:
        """Return how many rows of this log ``model`` has learned."""
        return self.taught(model).rows

    def taught(self, model: Any) -> Taught:
        """Return how much of this log ``model`` has learned."""
        mark = getattr(model, _MARK, None)
        if not isinstance(mark, dict) or mark.get("first") != self._first_request():
            return Taught(0, 0)
        taught = Taught(mark.get("rows", 0), mark.get("labels", 0))
        return taught if all(map(_is_count, taught)) else Taught(0, 0)

    @staticmethod
    def size_of(records: Sequence[Record]) -> int:
        """Return the bytes that rows take in the file."""
        return len(_lines(records, "0" * 12))

    @property
    def size(self) -> int:
        """Bytes of the file."""
        try:
            return self.path.stat().st_size
        except FileNotFoundError:
            return 0

    def _first_request(self) -> str | None:
        """Return what tells this log from one that was begun anew."""
        if not self.path.exists():
            return None
        with open(self.path, "rb") as file:
            line = file.readline()
        return self._record(line, 1)["request"] if line.endswith(b"\n") else None

    def _record(self, line: bytes, number: int, before: Sequence[Record] = ()) -> Record:
        """Return a row, which comes after others of the same request."""
        try:
            record = json.loads(line)
            whole = _is_row(record) and (
                not before
                or (
                    record["request"] == before[-1]["request"]
                    and record["part"] == [before[-1]["part"][0] + 1, before[-1]["part"][1]]
                )
            )
        except (ValueError, RecursionError):
            whole = False
        if not whole:
            raise DataError(
                f"{self.path}, line {number}: this is not a row that the server wrote; mend or "
                "remove the line, or move the file away to start anew."
            )
        return record

    def _drop_cut_off(self) -> None:
        """Cut the file after the last request that was written wholly."""
        if not self.path.exists():
            return
        whole = position = 0
        with open(self.path, "rb") as file:
            for number, line in enumerate(file, 1):
                position += len(line)
                if not line.endswith(b"\n"):
                    break
                part, n_parts = self._record(line, number)["part"]
                if part == n_parts:
                    whole = position
        if whole < self.size:
            os.truncate(self.path, whole)


def _lines(records: Sequence[Record], request: str) -> bytes:
    """Return the rows of a new request, as they stand in the file."""
    return _as_json(
        [
            {**record, "request": request, "part": [at, len(records)]}
            for at, record in enumerate(records, 1)
        ]
    )


def _as_json(records: Sequence[Record]) -> bytes:
    lines = (json.dumps(record, ensure_ascii=False, allow_nan=False) for record in records)
    return "".join(f"{line}\n" for line in lines).encode()


def _is_row(record: Any) -> bool:
    """Tell whether a line has what the server writes: a row, its labels, its place in a request."""
    if not isinstance(record, dict) or not isinstance(record.get("request"), str):
        return False
    part, labels = record.get("part"), record.get("labels")
    if not isinstance(part, list) or len(part) != 2 or not all(map(_is_count, part)):
        return False
    if not 1 <= part[0] <= part[1] or not isinstance(labels, list):
        return False
    rejected = record.get("rejected") or []
    if not isinstance(rejected, list) or not all(map(_is_label, labels + rejected)):
        return False
    text, features = record.get("text"), record.get("features")
    if features is None:
        return isinstance(text, str)
    pairs = list(features.items()) if isinstance(features, dict) else features
    return text is None and isinstance(pairs, list) and all(map(_is_feature, pairs))


def _is_label(label: Any) -> bool:
    return _is_count(label) or (isinstance(label, str) and bool(label))


def _is_feature(pair: Any) -> bool:
    if not isinstance(pair, list | tuple) or len(pair) != 2:
        return False
    name, value = pair
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and abs(value) <= 1e9 and (isinstance(name, str) or _is_count(name))


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 31
