"""What is piped in: a corpus, whose labels are not text, or one text per line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from io import BufferedReader
from pathlib import Path
from typing import Any

from labelspace.data.formats.compression import HEAD_SIZE
from labelspace.data.formats.delimited import find_dialect, header_of
from labelspace.data.formats.fasttext import is_fasttext
from labelspace.data.formats.fields import TEXT_NAMES, Fields
from labelspace.data.formats.names import decode
from labelspace.data.formats.open_table import open_table
from labelspace.data.formats.records import first_object
from labelspace.data.formats.strangers import refuse_strangers
from labelspace.data.formats.table import Table
from labelspace.data.formats.tsv import TsvTable
from labelspace.errors import DataError

STANDARD_INPUT = Path("Standard input")


class LinesTable(Table):
    """One text per line."""

    has_fixed_columns = True

    def __init__(self, stream: BufferedReader, path: Path = STANDARD_INPUT) -> None:
        self.path = path
        self.how = "one text per line"
        self.columns = ["text"]
        self._stream = stream

    def rows(self) -> Iterator[tuple[int, Sequence[Any]]]:
        for number, raw in enumerate(self._stream, 1):
            yield number, (decode(raw, self.path, number),)


def open_piped(
    stream: BufferedReader,
    given: Fields,
    kept: Fields | None,
    is_label: Callable[[str], bool],
) -> Table:
    """Return the table in a stream: JSON lines, CSV with a header, fastText or TSV, or its lines.

    Lines of text with a tab are text and labels only if most of what follows the tabs are labels,
    as ``is_label`` says, of the model.
    """
    head = stream.peek(HEAD_SIZE)
    if head.startswith((b"PAR1", b"ARROW1", b"PK\x03\x04", b"\x1f\x8b", b"\xfd7zXZ")):
        raise DataError("What is piped in is no text: give the name of the file instead of -.")
    refuse_strangers(head, STANDARD_INPUT)
    lines = [line for line in head.split(b"\n") if line.strip()]
    first = first_object(head)
    asked = given if given.is_given or kept is None else kept
    if "features" in first:
        raise DataError("Features cannot be piped in: give the name of the file instead of -.")
    if first:
        table = open_table("jsonl", STANDARD_INPUT, head, asked, stream)
        table.has_fixed_columns = first.keys() <= {"text", "labels"}
        return table
    if _is_table(head, lines, asked, given):
        return open_table("csv", STANDARD_INPUT, head, asked, stream)
    if is_fasttext(lines):
        return open_table("fasttext", STANDARD_INPUT, head, asked, stream)
    if _has_labels(lines, is_label):
        return TsvTable(STANDARD_INPUT, stream)
    return LinesTable(stream)


def _is_table(head: bytes, lines: list[bytes], asked: Fields, given: Fields) -> bool:
    """Return whether there is a header with a column of text, and a row below it."""
    if len(lines) < 2 and not given.names:
        return False
    dialect = find_dialect(head, asked)
    if dialect is None:
        return False
    cells = [cell.strip() for cell in header_of(head, dialect)]
    known = set(asked.names) if asked.names else set()
    texts = [cell for cell in cells if cell in known or cell.casefold() in TEXT_NAMES]
    return (bool(texts) and (len(cells) > 1 or bool(given.names))) or not asked.header


def _has_labels(lines: list[bytes], is_label: Callable[[str], bool]) -> bool:
    cells = [line.rpartition(b"\t") for line in lines]
    if not cells or not all(tab for _, tab, _ in cells):
        return False
    words = [
        word.strip().strip("<>")
        for _, _, cell in cells
        for word in cell.decode("utf-8", "replace").replace("> <", ">,<").split(",")
        if word.strip()
    ]
    return 2 * sum(map(is_label, words)) > len(words)
