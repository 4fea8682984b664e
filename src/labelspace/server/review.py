"""Review: rows of a file that people go through, several at once, without losing a mark.

A queue is a file in ``DIR.review`` beside the model folder ``DIR``: what it is, its rows with the
labels that the model gave them, then one line for each mark that somebody made. Marks are only ever
added, each with the name of who made it, so two people never overwrite each other: of the marks of
one person on one label of one row the last counts, and people who differ are shown as differing.

Marks do not change the model. What is agreed on can be exported, or taught as any other lesson.
"""

from __future__ import annotations

import json
import logging
import os
import re
import threading
import time
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from labelspace.server.batcher import Batcher
from labelspace.server.refusal import Refusal
from labelspace.server.review_file import State, add_marks, read_queue, write_queue
from labelspace.server.review_schemas import Mark, ReviewRequest
from labelspace.server.schemas import Row
from labelspace.server.served import Served
from labelspace.store import folders

MAX_QUEUES = 100
MAX_BYTES = 256 << 20  # of a queue's file
N_TAGS = 10
BLOCK = 100
_NAME = re.compile(r"[0-9a-f]{12}")

_log = logging.getLogger(__name__)


class Review:
    """The queues beside one model folder."""

    def __init__(self, folder: Path, batcher: Batcher, free_disk: int) -> None:
        folder = Path(os.path.abspath(folder))
        self._free_disk = free_disk
        self.folder = folder.parent / f"{folder.name}.review"
        self._batcher = batcher
        self._turn = threading.Lock()

    async def begin(self, asked: ReviewRequest) -> State:
        """Let the model tag rows, and keep them as a queue."""
        tagged: list[list[State]] = []
        for first in range(0, len(asked.rows), BLOCK):
            texts = [row.text for row in asked.rows[first : first + BLOCK]]
            rows = [Row.model_construct(text=text, features=None) for text in texts]
            ranked = await self._batcher.rank(rows, N_TAGS, bulk=True)
            tagged += [_tags(ranked.served, ranked.top, at) for at in range(len(rows))]
        return self._write(asked, tagged)

    def queues(self) -> list[State]:
        """Return all queues, the newest first, with how far each is.

        What is no queue of ours is left out; asked for by its name, it is told what is wrong.
        """
        found: list[tuple[float, State]] = []
        for path in self._paths():
            try:
                found.append((path.stat().st_mtime, _summary(*self._read(path.stem))))
            except (Refusal, FileNotFoundError) as error:  # edited, or removed meanwhile
                _log.warning("%s is left out of the list: %s", path, error)
        return [told for _, told in sorted(found, key=lambda one: -one[0])]

    def queue(self, name: str, after: int = 0) -> State:
        """Return a queue: its rows unless ``after`` is given, and the marks after so many."""
        head, rows, marks = self._read(name)
        told = {**_summary(head, rows, marks), "marks": marks[after:], "n_marks": len(marks)}
        return told if after else {**told, "rows": rows}

    def mark(self, name: str, marks: Sequence[Mark], after: int) -> State:
        """Add marks, on disk when this returns; return those after the first ``after``."""
        path = self._path(name)
        made = [{**mark.model_dump(), "at": round(time.time(), 3)} for mark in marks]
        with self._turn, folders.locked(path):
            _, rows, known = self._read(name)
            for mark in made:
                if not 0 <= mark["row"] < len(rows):
                    raise Refusal(404, f"The queue has no row {mark['row']}.")
            add_marks(path, made, MAX_BYTES, self._free_disk)
        known += made
        return {"marks": known[after:], "n_marks": len(known), **progress(rows, known)}

    def export(self, name: str) -> Iterator[bytes]:
        """Yield the rows as JSON lines: labels that are right and wrong, and who differs."""
        _, rows, marks = self._read(name)
        for at, row in enumerate(rows):
            said = _said(marks, at)
            told = {
                **row["columns"],
                "text": row["text"],
                "labels": _with_verdict(said, "right"),
                "rejected": _with_verdict(said, "wrong"),
                "undecided": _with_verdict(said, "undecided"),
                "disagreed": [label for label, by in said.items() if len(set(by.values())) > 1],
                "reviewers": sorted({who for by in said.values() for who in by}),
            }
            yield json.dumps(told, ensure_ascii=True, allow_nan=False).encode() + b"\n"

    def remove(self, name: str) -> None:
        """Remove a queue with its marks."""
        self._path(name).unlink(missing_ok=True)

    def _write(self, asked: ReviewRequest, tagged: list[list[State]]) -> State:
        self.folder.mkdir(mode=0o700, exist_ok=True)
        if len(self._paths()) >= MAX_QUEUES:
            raise Refusal(507, f"There are {MAX_QUEUES} queues already: remove one first.")
        name = uuid.uuid4().hex[:12]
        head = {"queue": name, "name": asked.name, "began": round(time.time(), 3)}
        rows = [
            {"text": row.text, "columns": row.columns, "tags": tags}
            for row, tags in zip(asked.rows, tagged, strict=True)
        ]
        write_queue(self.folder / f"{name}.jsonl", head, rows, self._free_disk)
        return {**_summary(head, rows, []), "marks": [], "n_marks": 0, "rows": rows}

    def _path(self, name: str) -> Path:
        path = self.folder / f"{name}.jsonl"
        if not _NAME.fullmatch(name) or not path.is_file():
            raise _no_queue()
        return path

    def _paths(self) -> list[Path]:
        """Return the files that are queues by their names."""
        found = self.folder.glob("*.jsonl") if self.folder.is_dir() else []
        return [path for path in found if _NAME.fullmatch(path.stem)]

    def _read(self, name: str) -> tuple[State, list[State], list[State]]:
        try:
            return read_queue(self._path(name))
        except FileNotFoundError:  # removed just now
            raise _no_queue() from None


def progress(rows: Sequence[State], marks: Sequence[State]) -> State:
    """Return how many rows were looked at, and how often people agree.

    >>> marks = [{"row": 0, "label": "a", "verdict": "right", "who": who} for who in ("x", "y")]
    >>> progress([{}, {}], marks)
    {'n_rows': 2, 'n_reviewed': 1, 'n_compared': 1, 'agreement': 1.0}
    """
    last: dict[tuple[int, str], dict[str, str]] = {}
    for mark in marks:
        last.setdefault((mark["row"], mark["label"]), {})[mark["who"]] = mark["verdict"]
    said = [[one for one in by.values() if one != "none"] for by in last.values()]
    compared = [set(verdicts) for verdicts in said if len(verdicts) > 1]
    reviewed = {row for (row, _), by in last.items() if any(one != "none" for one in by.values())}
    n_same = sum(len(verdicts) == 1 for verdicts in compared)
    return {
        "n_rows": len(rows),
        "n_reviewed": len(reviewed),
        "n_compared": len(compared),
        "agreement": round(n_same / len(compared), 4) if compared else None,
    }


def _summary(head: State, rows: Sequence[State], marks: Sequence[State]) -> State:
    return {**head, **progress(rows, marks)}


def _said(marks: Sequence[State], row: int) -> dict[str, dict[str, str]]:
    """Return for each label of a row the last word of everybody who said something."""
    said: dict[str, dict[str, str]] = {}
    for mark in marks:
        if mark["row"] == row:
            said.setdefault(mark["label"], {})[mark["who"]] = mark["verdict"]
    return {
        label: kept
        for label, by in said.items()
        if (kept := {who: verdict for who, verdict in by.items() if verdict != "none"})
    }


def _with_verdict(said: dict[str, dict[str, str]], verdict: str) -> list[str]:
    """Return the labels of which everybody who said something says this."""
    return [label for label, by in said.items() if set(by.values()) == {verdict}]


def _tags(served: Served, top: Any, at: int) -> list[State]:
    return [
        {**served.about(label), "probability": round(served.probability(score), 4)}
        for label, score in top.given(at)
    ]


def _no_queue() -> Refusal:
    return Refusal(404, "There is no such queue: it may have been removed.")
