"""Which encoding a text file is in: its byte order mark, UTF-8 where it holds, or Windows' own."""

from __future__ import annotations

import codecs
import io
import re
from pathlib import Path

from labelspace.errors import DataError

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_BLOCK = 1 << 20
_NOT_WINDOWS = re.compile(rb"[\x00\x81\x8d\x8f\x90\x9d]")
NAMES = {"utf-8": "UTF-8", "utf-8-sig": "UTF-8", "utf-16": "UTF-16", "cp1252": "Windows-1252"}


def encoding_by_mark(head: bytes) -> str | None:
    """Return the encoding that a file's byte order mark says, if it has one.

    >>> encoding_by_mark(b"\\xff\\xfea\\0"), encoding_by_mark(b"abc")
    ('utf-16', None)
    """
    return next((name for mark, name in _MARKS if head.startswith(mark)), None)


def encoding_of(stream: io.BufferedReader, path: Path) -> str:
    """Return the encoding of a stream, which is read to its end.

    What is not UTF-8 is taken for Windows-1252, in which spreadsheet programs of Western Europe
    and America write; bytes that it does not have are an error.
    """
    marked = encoding_by_mark(stream.peek(4))
    if marked is not None:
        return marked
    utf8 = codecs.getincrementaldecoder("utf-8")()
    is_utf8, line, foreign = True, 1, None
    while block := stream.read(_BLOCK):
        if is_utf8:
            try:
                utf8.decode(block)
            except UnicodeDecodeError:
                is_utf8 = False
        if foreign is None and (found := _NOT_WINDOWS.search(block)):
            foreign = line + block.count(b"\n", 0, found.start())
        line += block.count(b"\n")
    if is_utf8:
        return "utf-8"
    if foreign is not None:
        raise DataError(
            f"{path}, line {foreign}: the text is neither UTF-8 nor Windows-1252; save the file as "
            "UTF-8."
        )
    return "cp1252"
