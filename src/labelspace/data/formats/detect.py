"""Which format a corpus is in, told by its first lines and never by its name."""

from __future__ import annotations

import json
import re
from pathlib import Path

from labelspace.errors import DataError

_BOM = b"\xef\xbb\xbf"
_HEADER = re.compile(rb" *\d+ +\d+ +\d+[ \t]*\r?")
_FEATURE = rb"\d+:[-+.\deE]+"
_XC_ROW = re.compile(
    rb"(?:\d+(?:,\d+)*)?(?:[ \t]+" + _FEATURE + rb")*[ \t]*(?:#.*)?\r?|"
    rb"" + _FEATURE + rb"(?:[ \t]+" + _FEATURE + rb")*[ \t]*(?:#.*)?\r?"
)
_LOOKS_LIKE_XC = re.compile(rb"(?:^|[ \t,])-?\d+:\S")
_LONG_TEXT = 1 << 16
_LINE_SAMPLE = 4096


def detect_format(head: bytes, path: Path) -> str:
    """Return the format of a corpus whose (decompressed) bytes begin with ``head``.

    Both kinds of TSV are ``"tsv"``: its reader looks at the first row that has labels, which may
    come late.

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
    """
    if not head:
        raise DataError(f"{path} is empty; give a file with at least one row.")
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return "npz"
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise DataError(f"{path}, line 1: the text is UTF-16; save the file as UTF-8.")
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
    if _is_json(first):
        return "jsonl"
    if _is_xc_row(first):
        return "svmlight"
    if b"\t" in first:
        return "tsv"
    # The first row is broken: the others tell what it should have been.
    if any(b"\t" in line and not _is_xc_row(line) for line in telling):
        return "tsv"
    if any(_LOOKS_LIKE_XC.search(line) or _is_xc_row(line) for line in telling):
        return "svmlight"
    if any(map(_is_json, telling)):
        return "jsonl"
    if len(lines) == 1 and len(head) >= _LONG_TEXT:  # its tab is yet to come
        return "tsv"
    hint = "write one JSON object per line" if first.lstrip().startswith(b"[") else "see the docs"
    raise DataError(
        f"{path}, line 1: this is no corpus format that we know; use XC text, svmlight, "
        f"text<TAB>labels, JSON lines or .npz ({hint})."
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
        line = re.sub(rb"\S*\Z", b"", line[:_LINE_SAMPLE])
    if b"\t" in line and not re.search(_FEATURE, line):
        return False
    return _XC_ROW.fullmatch(line) is not None
