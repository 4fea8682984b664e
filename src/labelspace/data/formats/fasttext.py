"""fastText's lines: labels are words that begin with ``__label__``, the others are the text.

::

    __label__gardening __label__roses Growing roses in dry climates
"""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from labelspace.data.formats.compression import open_input
from labelspace.data.formats.names import decode
from labelspace.data.formats.ranges import CutByLines
from labelspace.data.formats.table import Table
from labelspace.errors import DataError

PREFIX = "__label__"
_LABEL = re.compile(rb"(?:^|[ \t])__label__\S")
_SUBJECTS = re.compile(rb"\t\s*<[^<>\s]+>(?:\s+<[^<>\s]+>)*\s*\Z")


def is_fasttext(lines: Sequence[bytes]) -> bool:
    """Return whether at least half of these lines have a label.

    A text of Annif's may begin like one: what has subjects after a tab is Annif's.

    >>> is_fasttext([b"__label__red a red ball", b"a ball"]), is_fasttext([b"a red ball"])
    (True, False)
    >>> is_fasttext([b"__label__red is how fastText writes labels\\t<http://example.org/labels>"])
    False
    """
    n_labelled = sum(
        _LABEL.search(line) is not None and _SUBJECTS.search(line) is None for line in lines
    )
    return 2 * n_labelled >= len(lines) > 0


class FastTextTable(CutByLines, Table):
    """Lines of words and labels as a table of two columns."""

    has_fixed_columns = True

    def __init__(self, path: Path, stream: io.BufferedReader | None = None) -> None:
        self.path = path
        self.how = "fastText lines"
        self.columns = ["text", "labels"]
        self._open: Callable[[], Any] = lambda: open_input(path)
        if stream is not None:
            self._open = lambda: contextlib.nullcontext(stream)

    def rows(self) -> Iterator[tuple[int, Sequence[Any]]]:
        with self._open() as stream:
            for number, raw in enumerate(stream, 1):
                words = decode(raw, self.path, number).split()
                if not words:
                    continue
                if PREFIX in words:
                    raise DataError(
                        f'{self.path}, line {number}: "{PREFIX}" has no label after it; write '
                        f"{PREFIX}name, without blanks."
                    )
                labels = [word[len(PREFIX) :] for word in words if word.startswith(PREFIX)]
                text = " ".join(word for word in words if not word.startswith(PREFIX))
                yield number, (text, labels)
