"""What has been tried, written down line by line, so that a search can be stopped at any moment.

The first line says what is tuned; each later one is a trial that is over, or the end. A line that a
killed process left unfinished is cut off. What the trials on all rows said of the rows held out is
beside it, for blends to be chosen from.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from labelspace import __version__
from labelspace.data.formats.compression import open_output
from labelspace.errors import UsageError
from labelspace.store import folders
from labelspace.topk import TopK
from labelspace.tuning.space import Configuration

JOURNAL, ANSWERS = "journal.jsonl", "answers"
FORMAT = 1


@dataclass(frozen=True)
class Outcome:
    """A trial that is over: what was tried, on how many rows, and what came of it.

    ``figures`` is empty and ``error`` a sentence where it failed; ``spent`` are the seconds of all
    trials up to its end.
    """

    number: int
    configuration: Configuration
    rung: int
    n_rows: int
    figures: dict[str, float]
    seconds: float
    spent: float
    error: str | None = None


class Journal:
    """Outcomes in memory and, with a folder, on disk.

    Parameters
    ----------
    folder : path, optional
        Where the journal is kept; one that is there is gone on with.
    tuned : dict
        What is tuned; a journal of something else is an error.
    """

    def __init__(self, folder: Path | None, tuned: dict[str, Any]) -> None:
        self.folder = folder
        self.outcomes: list[Outcome] = []
        self.end: dict[str, Any] | None = None
        self._answers: dict[int, TopK] = {}
        self._lock: Any = None
        if folder is None:
            return
        check_folder(folder)
        (folder / ANSWERS).mkdir(parents=True, exist_ok=True)
        self._lock = _locked(folder)
        tuned = {"format": FORMAT, "version": __version__, **tuned}
        if not self._read(tuned):
            self._append(tuned)

    @property
    def spent(self) -> float:
        """Seconds of all trials so far."""
        return self.outcomes[-1].spent if self.outcomes else 0.0

    def close(self) -> None:
        """Let another process go on with it."""
        if self._lock is not None:
            self._lock.release()

    def find(self, configuration: Configuration, rung: int) -> Outcome | None:
        """Return what came of a trial, if it is over."""
        wanted = configuration.key, rung
        found = (one for one in self.outcomes if (one.configuration.key, one.rung) == wanted)
        return next(found, None)

    def add(self, outcome: Outcome, answer: TopK | None = None) -> None:
        """Write down a trial, with what it said of the rows held out if it learned from all."""
        if answer is not None and self.folder is not None:
            target = self.folder / ANSWERS / f"{outcome.number}.npz"
            with open_output(target) as file:
                np.savez(file, labels=answer.labels.astype(np.int32), scores=answer.scores)
        elif answer is not None:
            self._answers[outcome.number] = answer
        self._append(asdict(outcome))
        self.outcomes.append(outcome)

    def add_end(self, end: dict[str, Any]) -> None:
        """Write down that a model was made."""
        self._append({"end": end})
        self.end = end

    def answer(self, outcome: Outcome) -> TopK | None:
        """Return what a trial on all rows said of the rows held out."""
        if self.folder is None:
            return self._answers.get(outcome.number)
        try:
            with np.load(self.folder / ANSWERS / f"{outcome.number}.npz") as arrays:
                return TopK(arrays["labels"].astype(np.int64), arrays["scores"])
        except FileNotFoundError:
            return None

    def _append(self, line: dict[str, Any]) -> None:
        if self.folder is None:
            return
        path = self.folder / JOURNAL
        size = path.stat().st_size if path.exists() else 0
        try:
            with open(path, "ab") as file:
                file.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
                folders.flush(file)
        except OSError:
            if path.exists():
                os.truncate(path, size)
            raise

    def _read(self, tuned: dict[str, Any]) -> bool:
        """Read what is there, up to a line that is not whole; tell whether there is anything."""
        assert self.folder is not None
        path = self.folder / JOURNAL
        whole, _, torn = (path.read_bytes() if path.exists() else b"").rpartition(b"\n")
        if torn:
            os.truncate(path, len(whole) + 1 if whole else 0)
        if not whole:
            return False
        try:
            first, *lines = [json.loads(line) for line in whole.split(b"\n")]
            _check_same(first, json.loads(json.dumps(tuned)), self.folder)
            for line in lines:
                self._take(line)
        except (ValueError, TypeError, KeyError) as error:
            if isinstance(error, UsageError):
                raise
            raise UsageError(
                f"{path} is damaged: remove the folder, or give another one."
            ) from None
        return True

    def _take(self, line: dict[str, Any]) -> None:
        if "end" in line:
            self.end = line["end"]
            return
        self.outcomes.append(
            Outcome(**{**line, "configuration": Configuration(**line["configuration"])})
        )


def check_folder(folder: Path) -> None:
    """Raise if a folder holds something else than a journal, or cannot be made."""
    if folder.is_dir() and not (folder / JOURNAL).exists():
        ours = {ANSWERS, f".{JOURNAL}.lock"}
        if any(one.name not in ours for one in folder.iterdir()):
            raise UsageError(
                f"{folder} has files in it that are not of tuning: give an empty or new folder."
            )
        return
    if not folder.exists():
        folders.check_replaceable(folder)
    elif not folder.is_dir():
        raise UsageError(f"{folder} is a file: give a folder.")


def _check_same(there: dict[str, Any], here: dict[str, Any], folder: Path) -> None:
    for name in here:
        if there.get(name) == here[name]:
            continue
        what = {
            "corpus": "another corpus, or other rows of it held out",
            "format": "another version of labelspace",
            "version": f"labelspace {there.get('version')}",
        }.get(name, f"other {name} ({there.get(name)})")
        raise UsageError(
            f"{folder} was begun with {what}: give the same again to go on, or another folder."
        )


def _locked(folder: Path) -> Any:
    from filelock import FileLock, Timeout

    lock = FileLock(folder / f".{JOURNAL}.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise UsageError(
            f"Another process is tuning in {folder}: wait for it, or give another folder."
        ) from None
    return lock
