"""Vectors of texts on disk, so that a corpus is encoded once however often it is learned from.

One SQLite file in the user's cache folder holds vectors of all encoders in sixteen bits, by a hash
of encoder and text: no text can be read from it. It is written in transactions, so that a run that
is killed keeps what it had done, and several runs share it. Once it is as large as it may be, the
vectors that were asked for least recently go first.

``LABELSPACE_CACHE`` names another folder, or is ``off``; ``LABELSPACE_CACHE_MIB`` is the limit.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import threading
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from labelspace.errors import LabelspaceWarning

FOLDER_VARIABLE = "LABELSPACE_CACHE"
LIMIT_VARIABLE = "LABELSPACE_CACHE_MIB"
MOST_MIB = 2048
FILE = "vectors.sqlite"
_ASKED_AT_ONCE = 500  # SQLite takes so many values in a statement everywhere
_DAY = 86_400
_TABLE = """
CREATE TABLE IF NOT EXISTS vectors (
    key BLOB PRIMARY KEY, vector BLOB NOT NULL, used INTEGER NOT NULL
)
"""


class VectorCache:
    """Vectors of one encoder, in a file that all encoders share.

    Parameters
    ----------
    path : path
        The SQLite file, which is made if it is not there.
    fingerprint : str
        What tells the encoder's vectors from others.
    dim : int
    most_mib : int
        Largest size of the file.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     cache = VectorCache(Path(folder, "vectors.sqlite"), "lengths", dim=2)
    ...     cache.put(["a cube"], np.array([[0.5, 1.0]]))
    ...     found, vectors = cache.get(["a ball", "a cube"])
    ...     cache.close()
    >>> found, vectors
    (array([1]), array([[0.5, 1. ]], dtype=float16))
    """

    def __init__(self, path: Path, fingerprint: str, dim: int, most_mib: int | None = None) -> None:
        self.path = path
        self.dim = dim
        self._seed = fingerprint.encode()
        limit = os.environ.get(LIMIT_VARIABLE, "")
        self._most = (most_mib or (int(limit) if limit.isdigit() else MOST_MIB)) << 20
        self._lock = threading.Lock()
        self._file: sqlite3.Connection | None = None
        with self._working() as _:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = sqlite3.connect(
                path, timeout=30.0, isolation_level=None, check_same_thread=False
            )
            self._file.execute("PRAGMA page_size=16384")  # a vector in a smaller one wastes it
            self._file.execute("PRAGMA journal_mode=WAL")
            self._file.execute("PRAGMA synchronous=NORMAL")
            self._file.execute(_TABLE)

    def get(self, texts: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.float16]]:
        """Return which of the texts have a vector here, and these vectors."""
        rows: dict[bytes, list[int]] = {}
        for at, text in enumerate(texts):
            rows.setdefault(self._key(text), []).append(at)
        keys, found, vectors, stale = list(rows), [], [], []
        old = int(time.time()) - _DAY
        with self._working() as file:
            for first in range(0, len(keys) if file else 0, _ASKED_AT_ONCE):
                asked = keys[first : first + _ASKED_AT_ONCE]
                places = ",".join("?" * len(asked))
                answer = file.execute(
                    f"SELECT key, vector, used FROM vectors WHERE key IN ({places})", asked
                )
                for key, vector, used in answer:
                    if len(vector) != 2 * self.dim:
                        continue
                    found.extend(rows[key])
                    vectors.extend([vector] * len(rows[key]))
                    if used < old:
                        stale.append((int(time.time()), key))
            if stale:
                file.execute("BEGIN IMMEDIATE")
                file.executemany("UPDATE vectors SET used = ? WHERE key = ?", stale)
                file.execute("COMMIT")
        made = np.frombuffer(b"".join(vectors), dtype=np.float16).reshape(-1, self.dim)
        return np.array(found, dtype=np.int64), made

    def put(self, texts: Sequence[str], vectors: NDArray[np.floating]) -> None:
        """Keep the vectors of texts; all of them, or none if the run is killed meanwhile."""
        now = int(time.time())
        halves = np.ascontiguousarray(vectors, dtype=np.float16)
        rows = [
            (self._key(text), half.tobytes(), now) for text, half in zip(texts, halves, strict=True)
        ]
        with self._working() as file:
            if file is None:
                return
            file.execute("BEGIN IMMEDIATE")
            file.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)
            self._forget_oldest(file)
            file.execute("COMMIT")

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _forget_oldest(self, file: sqlite3.Connection) -> None:
        """Drop vectors, those not used for longest, a tenth at a time until the others fit."""
        while self._size(file) > self._most:
            file.execute(
                "DELETE FROM vectors WHERE key IN (SELECT key FROM vectors ORDER BY used LIMIT "
                "(SELECT COUNT(*) / 10 + 1 FROM vectors))"
            )

    @staticmethod
    def _size(file: sqlite3.Connection) -> int:
        """Return the bytes in use; what was dropped leaves room for others."""
        names = ("page_count", "freelist_count", "page_size")
        pages, free, size = (file.execute(f"PRAGMA {name}").fetchone()[0] for name in names)
        return int((pages - free) * size)

    def _key(self, text: str) -> bytes:
        told = text.encode("utf-8", "surrogatepass")
        return hashlib.blake2b(told, digest_size=16, key=self._seed[:64]).digest()

    @contextmanager
    def _working(self) -> Iterator[sqlite3.Connection]:
        """Lend the file; what is wrong with it is said once, and then it is done without."""
        with self._lock:
            try:
                yield self._file  # type: ignore[misc]
            except (sqlite3.Error, OSError) as error:
                self.close()
                warnings.warn(
                    f"Vectors are not kept in {self.path} ({error}): set {FOLDER_VARIABLE} to a "
                    "folder that can be written to, or to 'off'.",
                    LabelspaceWarning,
                    stacklevel=3,
                )


def cache_for(fingerprint: str, dim: int) -> VectorCache | None:
    """Return the user's cache for the vectors of an encoder; None where there is to be none."""
    chosen = os.environ.get(FOLDER_VARIABLE, "")
    if chosen.lower() in ("off", "0", "none"):
        return None
    if chosen:
        folder = Path(chosen)
    else:
        from labelspace.compiling import user_cache

        of_user = user_cache()
        if of_user is None:
            return None
        folder = of_user / "labelspace"
    return VectorCache(folder / FILE, fingerprint, dim)
