"""The rows that a server was taught, on disk before it says so.

``DIR.learned.jsonl`` beside the model folder ``DIR`` is a corpus like any other (JSON lines with
``text`` or ``features`` and ``labels``), so that a model can be trained on it again. Each row also
carries the request that it came with and its place in it: the rows of a request that was cut off
by a crash are dropped when the file is next opened, so a request is learned wholly or not at all.

A model remembers how many rows of which log it has learned (``mark``), so that a row is not
learned twice, whenever the process ends.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from labelspace.errors import DataError
from labelspace.store import folders

Record = dict[str, Any]
_MARK = "learned_from_"


class LearnedLog:
    """The log of one model folder.

    Examples
    --------
    >>> import tempfile
    >>> log = LearnedLog(Path(tempfile.mkdtemp()) / "model")
    >>> with log.locked():
    ...     log.append([{"text": "a red ball", "labels": ["red"]}])
    >>> [[record["labels"] for record in request] for request in log.requests_after(0)]
    [[['red']]]
    """

    def __init__(self, folder: Path) -> None:
        folder = Path(os.path.abspath(folder))
        self.path = folder.parent / f"{folder.name}.learned.jsonl"
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

    def append(self, records: list[Record]) -> None:
        """Write the rows of one request; they are on disk when this returns."""
        request = uuid.uuid4().hex[:12]
        lines = "".join(
            json.dumps(
                {**record, "request": request, "part": [at, len(records)]},
                ensure_ascii=False,
                allow_nan=False,
            )
            + "\n"
            for at, record in enumerate(records, 1)
        )
        is_new = not self.path.exists()
        descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            size = os.fstat(descriptor).st_size
            try:
                left = memoryview(lines.encode())
                while left:
                    left = left[os.write(descriptor, left) :]
                os.fsync(descriptor)
            except OSError:
                os.ftruncate(descriptor, size)
                raise
        finally:
            os.close(descriptor)
        if is_new:
            folders.flush_folder(self.path.parent)

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
                request.append(self._record(line, number))
                part, n_parts = request[-1]["part"]
                if part == n_parts:
                    self._position = number, offset
                    yield request
                    request = []

    def mark(self, model: Any, n_rows: int) -> None:
        """Let ``model`` remember that it has learned the first ``n_rows`` rows."""
        setattr(model, _MARK, {"first": self._first_request(), "rows": n_rows})

    def n_learned(self, model: Any) -> int:
        """Return how many rows of this log ``model`` has learned."""
        mark = getattr(model, _MARK, None)
        if mark is None or mark["first"] != self._first_request():
            return 0
        return int(mark["rows"])

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

    def _record(self, line: bytes, number: int) -> Record:
        try:
            record = json.loads(line)
            if not isinstance(record["part"], list) or not isinstance(record["labels"], list):
                raise KeyError("part")
            record["request"] = str(record["request"])
            return record
        except (ValueError, KeyError, TypeError):
            raise DataError(
                f"{self.path}, line {number}: this is not a row that the server wrote; mend or "
                "remove the line, or move the file away to start anew."
            ) from None

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
