"""The beginnings of training texts, so that an explanation can show the neighbours that voted.

Kept as one block of UTF-8 and the place where each excerpt ends: two arrays, which a model folder
maps into memory instead of reading them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from labelspace.store import Storable, schema


class Excerpts(Storable):
    """The first characters of texts.

    Parameters
    ----------
    length : int
        Characters kept of each text.

    Examples
    --------
    >>> excerpts = Excerpts(8)
    >>> excerpts.extend(["a red ball", "a cube"])
    >>> len(excerpts), excerpts[0], excerpts[1]
    (2, 'a red b…', 'a cube')
    """

    _schema: ClassVar[schema.Schema] = {
        "length": schema.integer(1),
        "_block": schema.array("uint8", "n_bytes"),
        "_ends": schema.offsets("n_texts", "n_bytes"),
    }

    def __init__(self, length: int) -> None:
        self.length = length
        self._block: NDArray[np.uint8] = np.zeros(0, dtype=np.uint8)
        self._ends: NDArray[np.int64] = np.zeros(1, dtype=np.int64)

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __getitem__(self, row: int) -> str:
        return (
            self._block[self._ends[row] : self._ends[row + 1]].tobytes().decode("utf-8", "replace")
        )

    def extend(self, texts: Iterable[str]) -> None:
        """Keep the beginnings of more texts."""
        for _ in self.keeping(texts):
            pass

    def keeping(self, texts: Iterable[str]) -> Iterator[str]:
        """Yield texts on to who needs them whole; their beginnings are kept at the end."""
        kept: list[bytes] = []
        for text in texts:
            kept.append(self._shortened(text))
            yield text
        ends = self._ends[-1] + np.cumsum([len(part) for part in kept], dtype=np.int64)
        self._ends = np.concatenate((self._ends, ends))
        self._block = np.concatenate((self._block, np.frombuffer(b"".join(kept), dtype=np.uint8)))

    def _shortened(self, text: str) -> bytes:
        if not isinstance(text, str):
            return b""  # who takes the texts says what is wrong
        # Twice the length leaves room for runs of blanks, which are shown as one.
        plain = " ".join(text[: 2 * self.length].split())
        if len(plain) > self.length or len(text) > 2 * self.length:
            plain = plain[: self.length - 1] + "…"
        return plain.encode("utf-8", "replace")


def kept(texts: Iterable[str], excerpts: Excerpts | None) -> Iterable[str]:
    """Return texts that leave an excerpt when they are gone through, if there is where to."""
    if excerpts is None or isinstance(texts, (str, bytes)) or not isinstance(texts, Iterable):
        return texts
    return excerpts.keeping(texts)
