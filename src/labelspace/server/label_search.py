"""Finding labels by a part of their name.

All names, folded to one case, stand in one string with line ends between them, so that a search
is one scan at the speed of the C library, for a million labels a few milliseconds.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray


class LabelSearch:
    """An index of names.

    Examples
    --------
    >>> search = LabelSearch(["Apple", "pineapple", "apple tree"], np.array([1, 9, 5]))
    >>> search.find("apple")
    [0, 2, 1]
    """

    def __init__(self, names: Sequence[str], counts: NDArray[np.int64]) -> None:
        self.n_labels = len(names)
        self._counts = counts
        self._by_frequency = np.argsort(-counts, kind="stable")
        folded = [_folded(name) for name in names]
        self._text = "\n" + "\n".join(folded) + "\n"
        # Where each name begins in the text.
        self._begins = list(accumulate((len(name) + 1 for name in folded), initial=1))

    def find(self, query: str) -> list[int]:
        """Return labels whose name holds ``query``.

        Names equal to it come first, then those that begin with it, then those with a word that
        does, then the others; among equals the more frequent.
        """
        wanted = _folded(query).strip()
        if not wanted:
            return self._by_frequency.tolist()
        kind: dict[int, int] = {}
        for found in re.finditer(re.escape(wanted), self._text):
            at = found.start()
            label = bisect_right(self._begins, at) - 1
            if self._text[at - 1] == "\n":
                here = 0 if self._text[found.end()] == "\n" else 1
            else:
                here = 3 if self._text[at - 1].isalnum() else 2
            kind[label] = min(here, kind.get(label, 3))
        return sorted(kind, key=lambda label: (kind[label], -self._counts[label], label))


def _folded(name: str) -> str:
    plain = unicodedata.normalize("NFKD", name).casefold()
    return "".join(
        letter for letter in plain if not unicodedata.combining(letter) and letter != "\n"
    )
