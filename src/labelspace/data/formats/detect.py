"""Which format a corpus is in, told by its first lines and never by its name."""

from __future__ import annotations

import json
import re
from pathlib import Path

from labelspace.data.formats.delimited import find_dialect, header_of, looks_like_table
from labelspace.data.formats.fasttext import is_fasttext
from labelspace.data.formats.fields import LABEL_NAMES, Fields, is_header
from labelspace.data.formats.strangers import refuse_strangers, zip_kind
from labelspace.errors import DataError, UnknownFormat

ANY_FIELDS = Fields()

_BOM = b"\xef\xbb\xbf"
_HEADER = re.compile(rb" *\d+ +\d+ +\d+[ \t]*\r?")
_FEATURE = rb"\d+:[-+.\deE]+"
_XC_ROW = re.compile(
    rb"(?:\d+(?:,\d+)*)?(?:[ \t]+" + _FEATURE + rb")*[ \t]*(?:#.*)?\r?|"
    rb"" + _FEATURE + rb"(?:[ \t]+" + _FEATURE + rb")*[ \t]*(?:#.*)?\r?"
)
_LOOKS_LIKE_XC = re.compile(rb"(?:^|[ \t,])-?\d+:\S")
_JSON_ARRAY = re.compile(rb"(?:\xef\xbb\xbf)?\s*\[\s*\{")
_COLUMN_NAME = re.compile(rb"[A-Za-z][\w.:-]{0,39}")
_TELLING_NAME = re.compile(rb"(?i)title|text|abstract|subject|label|keyword|tags|categor|descri")
_LONG_NAME = 40
_LONG_TEXT = 1 << 16
_LINE_SAMPLE = 4096


def detect_format(head: bytes, path: Path, fields: Fields = ANY_FIELDS) -> str:
    """Return the format of a corpus whose (decompressed) bytes begin with ``head``.

    Both kinds of TSV without a header are ``"tsv"``: its reader looks at the first row that has
    labels, which may come late. ``fields`` are columns that were asked for: a file that has them
    is a table.

    Examples
    --------
    >>> detect_format(b"2 5 3\\n0,2 1:0.5 4:1\\n", Path("a"))
    'xc'
    >>> detect_format(b"0,2 1:0.5 4:1\\n", Path("a"))
    'svmlight'
    >>> detect_format(b"a red ball\\tred,round\\n", Path("a"))
    'tsv'
    >>> detect_format(b'{"text": "a red ball", "labels": ["red"]}\\n', Path("a"))
    'jsonl'
    >>> detect_format(b"title;subjects\\nA red ball;red\\n", Path("a"))
    'csv'
    """
    if not head:
        raise DataError(f"{path} is empty; give a file with at least one row.")
    for magic, name in ((b"PAR1", "parquet"), (b"ARROW1", "arrow")):
        if head.startswith(magic):
            return name
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return zip_kind(head, path)
    refuse_strangers(head, path)
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        if is_table(head, fields):
            return "csv"
        raise DataError(f"{path}, line 1: the text is UTF-16; save the file as UTF-8.")
    return _format_of_text(head, path, fields)


def is_table(head: bytes, fields: Fields) -> bool:
    """Return whether a file begins with names of columns, those asked for or telling ones."""
    dialect = find_dialect(head, fields)
    if dialect is None:
        return False
    if not fields.header:
        return True
    cells = header_of(head, dialect)
    if not is_header(cells, fields.names):
        return False
    if dialect.delimiter != "\t" or is_header(cells, fields.names, LABEL_NAMES):
        return True
    # Without a header the last cell is labels, of which one may be called "categories".
    return len(cells) > 2 and all(len(cell) < _LONG_NAME for cell in cells)


def _format_of_text(head: bytes, path: Path, fields: Fields) -> str:
    lines = head.removeprefix(_BOM).split(b"\n")
    if len(lines) > 1:
        lines.pop()  # the last may be cut
    if _HEADER.fullmatch(lines[0]):
        return "xc"
    telling = [line for line in lines if line.strip() and not line.startswith(b"#")]
    if not telling:
        telling = [line for line in lines if b"\t" in line]
    if not telling:
        raise DataError(f"{path} holds no rows; give a file with at least one.")
    first = telling[0]
    if first.strip() == b"{":
        raise DataError(
            f"{path} is one JSON object over several lines; write an array of objects, or an "
            "object per line."
        )
    if _is_json(first):
        return "jsonl"
    if _JSON_ARRAY.match(head):
        return "json"
    if not fields.header and is_table(head, fields):
        return "csv"
    if _is_xc_row(first):
        return "svmlight"
    if is_table(head, fields):
        return "csv"
    if is_fasttext(telling):
        return "fasttext"
    if b"\t" in first:
        _refuse_header(telling, path)
        return "tsv"
    return _format_of_others(head, lines, telling, path)


def _format_of_others(head: bytes, lines: list[bytes], telling: list[bytes], path: Path) -> str:
    """Return what a file should have been whose first row is broken: the others tell."""
    if any(b"\t" in line and not _is_xc_row(line) for line in telling):
        return "tsv"
    if any(_LOOKS_LIKE_XC.search(line) or _is_xc_row(line) for line in telling):
        return "svmlight"
    if any(map(_is_json, telling)):
        return "jsonl"
    if len(lines) == 1 and len(head) >= _LONG_TEXT:  # its tab is yet to come
        return "tsv"
    if looks_like_table(head):
        return "csv"
    raise UnknownFormat(
        f"{path}, line 1: this is no corpus format that we know; use a table (CSV, Excel, Parquet, "
        "JSON), text<TAB>labels, fastText lines, XC text, svmlight or .npz; if it is a table, say "
        "with --text and --labels which columns to read."
    )


def _refuse_header(lines: list[bytes], path: Path) -> None:
    """Raise where the first row of text<TAB>labels looks like names of columns."""
    cells = lines[0].rstrip(b"\r").split(b"\t")
    if len(lines) < 3 or not all(map(_COLUMN_NAME.fullmatch, cells)):
        return
    if not any(map(_TELLING_NAME.search, cells)):
        return
    later = {word.strip() for line in lines[1:] for word in re.split(rb"[\t,]", line)}
    if any(b" " not in line.partition(b"\t")[0] for line in lines[1:]) or cells[-1] in later:
        return
    names = [cell.decode() for cell in cells]
    raise DataError(
        f"{path}, line 1: this looks like the names of columns ({', '.join(names)}); say which to "
        f"read, as in --text {names[0]} --labels {names[-1]}, or give --no-header --text 1 "
        f"--labels {len(names)}."
    )


def _is_json(line: bytes) -> bool:
    """Return whether a line is a JSON object; one too long to be whole is taken at its word."""
    line = line.strip()
    if not line.startswith(b"{"):
        return False
    if b"\t" not in line:
        return True
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _is_xc_row(line: bytes) -> bool:
    """Return whether a line is labels and features; only beside features is a tab a blank."""
    if len(line) > _LINE_SAMPLE:
        sample = line[:_LINE_SAMPLE]
        line = re.sub(rb"\S*\Z", b"", sample)
        if not line:  # as in languages that write without blanks; many labels may be as long
            return re.fullmatch(rb"[\d,]+", sample) is not None
    if b"\t" in line and not re.search(_FEATURE, line):
        return False
    return _XC_ROW.fullmatch(line) is not None
