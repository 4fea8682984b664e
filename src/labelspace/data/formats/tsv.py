"""Text and labels with a tab between: TSV, and the TSV of Annif.

::

    a red and green ball<TAB>red,green                          TSV
    a red ball<TAB><http://example.org/red>                     Annif TSV

The last tab of a line is the one that counts. A label's name is what stands between commas,
without the blanks around it (Annif: between angle brackets). Labels that are all whole numbers
are ids. Lines of nothing are no rows. The format has no quotes: on writing, tabs and line breaks
inside a text become blanks, and texts that make the file look like another format are refused.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Sequence
from io import BufferedReader
from pathlib import Path
from typing import Any

import numpy as np

from labelspace.data.corpus import Corpus, build_csr
from labelspace.data.formats.column_spec import ColumnSpec
from labelspace.data.formats.compression import HEAD_SIZE, open_input, open_output
from labelspace.data.formats.detect import detect_format
from labelspace.data.formats.names import LABELS_FILE, decode, names_kept_beside
from labelspace.data.formats.ranges import CutByLines
from labelspace.data.formats.row_blocks import line_rows
from labelspace.data.formats.table import Table
from labelspace.data.formats.word_rows import WordRows, words_to_write
from labelspace.errors import DataError

_SUBJECT = re.compile(r"<[^<>]+>")
_ANNIF_CELL = re.compile(r"<[^<>\s]+>(?:\s|\Z)")
_NOT_IN_ANNIF = r"\A\Z|[\s<>]"
_NOT_IN_TSV = rf"\A\Z|\A\s|\s\Z|[,\t\r\n]|\A{_ANNIF_CELL.pattern}"


def read_tsv(stream: BufferedReader, path: Path, wanted: ColumnSpec) -> Corpus:
    """Read TSV or Annif TSV, whichever the first row with labels is, line by line."""
    texts: Sequence[str]
    if (found := line_rows("tsv", path)) is not None:
        texts, _, rows = found
    else:
        texts, rows = [], WordRows()
        for _, (text, labels) in TsvTable(path, stream).rows():
            texts.append(text)
            rows.add(labels)
    labels_of_rows, placed = rows.place(path, LABELS_FILE, wanted.label_names, wanted.n_labels)
    _, indptr = rows.arrays()
    ones = np.ones(len(labels_of_rows), np.float32)
    Y = build_csr(ones, labels_of_rows, indptr, placed.n_columns)
    Y.sum_duplicates()
    return Corpus(None, Y, texts=texts, label_names=placed.names)


class TsvTable(CutByLines, Table):
    """Lines of text and labels as a table of two columns."""

    has_fixed_columns = True

    def __init__(self, path: Path, stream: BufferedReader | None = None) -> None:
        self.path = path
        self.how = "text, a tab, labels; no header"
        self.columns = ["text", "labels"]
        self._open: Callable[[], Any] = lambda: open_input(path)
        if stream is not None:
            self._open = lambda: contextlib.nullcontext(stream)
        self._split: Callable[[str], tuple[str, list[str]]] | None = None

    def part(self, start: int, end: int) -> TsvTable:
        if self._split is None:  # what labels look like is told by the first of the whole file
            for _, (_, labels) in self.rows():
                if labels:
                    break
        made = super().part(start, end)
        made._split = self._split
        return made

    def rows(self) -> Iterator[tuple[int, Sequence[Any]]]:
        path, split = self.path, self._split
        with self._open() as stream:
            for number, raw in enumerate(stream, 1):
                line = decode(raw, path, number)
                if "\t" not in line:
                    if not line.strip():
                        continue
                    raise DataError(
                        f"{path}, line {number}: there is no tab; write text, a tab, then the "
                        "labels (nothing after the tab if there are none)."
                    )
                if split is None and (cell := line.rpartition("\t")[2].strip()):
                    split = _split_annif if _ANNIF_CELL.match(cell) else _split_commas
                    self._split = split
                try:
                    yield number, split(line) if split else (line.rpartition("\t")[0], [])
                except ValueError as error:
                    raise DataError(f"{path}, line {number}: {error}") from None


def write_tsv(corpus: Corpus, path: Path, annif: bool = False) -> None:
    """Write TSV (or Annif TSV), with names where they fit and ids plus ``labels.txt`` elsewhere."""
    if corpus.texts is None:
        raise DataError(
            f"{path} cannot be written: the corpus has features but no text, which this format "
            "needs; write .txt, .jsonl or .npz."
        )
    forbidden = _NOT_IN_ANNIF if annif else _NOT_IN_TSV
    Y = corpus.Y
    head = bytearray()
    words, beside = words_to_write(corpus.label_names, Y, forbidden, path, LABELS_FILE)
    with names_kept_beside(path, {LABELS_FILE: beside}), open_output(path) as file:
        for row, text in enumerate(corpus.texts):
            ids = Y.indices[Y.indptr[row] : Y.indptr[row + 1]].tolist()
            labels = [words[label] if words is not None else str(label) for label in ids]
            cell = " ".join(f"<{label}>" for label in labels) if annif else ",".join(labels)
            line = encode(re.sub(r"[\t\r\n]", " ", text) + "\t" + cell + "\n", path, row)
            file.write(line)
            if len(head) < HEAD_SIZE:
                head += line
        _refuse_other_format(bytes(head[:HEAD_SIZE]), path)


def encode(line: str, path: Path, row: int) -> bytes:
    """Return a line as UTF-8."""
    try:
        return line.encode()
    except UnicodeEncodeError as error:
        raise DataError(
            f"{path} cannot be written: row {row} has half a character, "
            f"{line[error.start]!r}; remove it from the text."
        ) from None


def _refuse_other_format(head: bytes, path: Path) -> None:
    """Raise if a file that begins with ``head`` would be read as something else than TSV."""
    try:
        name = detect_format(head, path) if head else "tsv"
    except DataError:
        name = "none that we know"
    if name != "tsv":
        raise DataError(
            f"{path} cannot be written: by its first texts it would be read as another format "
            f"({name}); write .jsonl or .csv, which hold any text."
        )


def _split_commas(line: str) -> tuple[str, list[str]]:
    text, _, cell = line.rpartition("\t")
    labels = [label.strip() for label in cell.split(",")] if cell.strip() else []
    if not all(labels):
        raise ValueError("there is nothing between two commas; write labels as first,second.")
    return text, labels


def _split_annif(line: str) -> tuple[str, list[str]]:
    text, _, cell = line.rpartition("\t")
    if text.endswith(">") and "\t<" in text:  # subjects with tabs between
        text, _, cell = line.partition("\t<")
        cell = "<" + cell
    labels = cell.split()
    for label in labels:
        if not _SUBJECT.fullmatch(label):
            raise ValueError(f'"{label[:40]}" is not a subject; write <uri> <uri> after the tab.')
    return text, [label[1:-1] for label in labels]
