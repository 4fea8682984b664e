"""Small changes of files that parsers have not been made for, drawn by a seeded generator."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

Random = np.random.Generator

TOKENS = (
    *(b"\t", b",", b";", b"|", b":", b" ", b"\n", b"\r", b"\r\n", b"\0", b'"', b"'", b"\\", b"#"),
    *(b"{", b"}", b"[", b"]", b"<", b">", b"<>", b'""', b'"a', b"[]", b"{}", b"null", b"true"),
    *(b"-1", b"0", b"007", b"1e39", b"-1e39", b"1e-50", b"nan", b"-inf", b"1.5", b"+", b"1e", b"."),
    *(b"2147483647", b"2147483648", b"99999999999999999999", b"9" * 5000, b"1" * 400),
    *(b"\xff", b"\xc3", b"\xed\xb0\x80", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\xc2\xa0"),
    *(b"\xe2\x80\xa8", b"\x0b", b"\x0c", b"\x1c", b"\x85", b"\x1a", b"\xf0\x9f\x8c\xb9"),
    *(b"\\ud800", b"\\u0000", b"__label__", b"__label__a", b"0 1:1\n", b"3 5 3\n", b"a\tb\n"),
    *(b"text", b"labels", b"title,labels\n", b"<http://a.org/1>", b"https://a.org/2", b"=1+1"),
    *(
        b'{"text": "a", "labels": ["b"]}\n',
        b'{"features": {"1": 1}}\n',
        b"[" * 3000,
        b'{"a":' * 900,
    ),
)
EXTREMES = (b"0", b"-1", b"1", b"2147483647", b"2147483648", b"4294967296", b"18446744073709551616")
SCALARS: tuple[Any, ...] = (
    *(None, True, False, "", " ", "x", "\ud800", "\0", "a\nb", "a" * 3000, "<a>", "1", "-1"),
    *(0, -1, 1, 2**31, 2**63, 10**30, 0.5, 1e300, -1e39, float("nan"), float("inf")),
    *([], {}, [1], ["a"], [[]], [["a", 1]], {"id": "a"}, {"name": {"id": 1}}, {"1": 1}, [None]),
)


def changed_bytes(content: bytes, random: Random) -> bytes:
    """Return a file with one to four small changes."""
    for _ in range(int(random.choice([1, 1, 1, 2, 3, 4]))):
        content = _WAYS[random.integers(len(_WAYS))](content, random)
    return content[: 1 << 20]


def changed_json(content: bytes, random: Random, is_lines: bool = True) -> bytes:
    """Return JSON with a value changed somewhere, still JSON."""
    text = content.decode()
    values = [json.loads(line) for line in text.splitlines()] if is_lines else json.loads(text)
    found = list(places(values))
    holder, key = found[random.integers(len(found))]
    way = random.integers(4)
    if way == 0:
        del holder[key]
    elif way == 1 and isinstance(holder, dict):
        names = ["text", "labels", "features", "x", "", "target_ind", "title", "id"]
        holder[str(random.choice(names))] = _value(random)
    else:
        holder[key] = _value(random)
    if is_lines:
        return b"".join(json.dumps(value).encode() + b"\n" for value in values)
    return json.dumps(values).encode()


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every list or dict inside of a value with each of its keys."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in list(items):
        yield value, key
        if isinstance(item, (dict, list)):
            yield from places(item)


def _value(random: Random) -> Any:
    if random.random() < 0.1:
        value: Any = "a"
        for _ in range(int(random.choice([3, 50, 400, 900, 2000]))):
            value = [value] if random.random() < 0.5 else {"id": value}
        try:
            json.dumps(value)
        except RecursionError:
            return []
        return value
    return SCALARS[random.integers(len(SCALARS))]


def _flip(content: bytes, random: Random) -> bytes:
    if not content:
        return content
    changed = bytearray(content)
    changed[min(_at(content, random), len(changed) - 1)] ^= 1 << int(random.integers(8))
    return bytes(changed)


def _set(content: bytes, random: Random) -> bytes:
    at = _at(content, random)
    return content[:at] + bytes([random.integers(256)]) + content[at + 1 :]


def _insert(content: bytes, random: Random) -> bytes:
    at = _at(content, random)
    return content[:at] + TOKENS[random.integers(len(TOKENS))] + content[at:]


def _overwrite(content: bytes, random: Random) -> bytes:
    at, token = _at(content, random), TOKENS[random.integers(len(TOKENS))]
    return content[:at] + token + content[at + len(token) :]


def _delete(content: bytes, random: Random) -> bytes:
    start, end = _span(content, random)
    return content[:start] + content[end:]


def _repeat(content: bytes, random: Random) -> bytes:
    start, end = _span(content, random)
    return content[:start] + content[start:end] * int(random.choice([2, 3, 100])) + content[end:]


def _move(content: bytes, random: Random) -> bytes:
    start, end = _span(content, random)
    rest = content[:start] + content[end:]
    at = _at(rest, random)
    return rest[:at] + content[start:end] + rest[at:]


def _cut(content: bytes, random: Random) -> bytes:
    at = _at(content, random)
    return content[:at] if random.random() < 0.7 else content[at:]


def _number(content: bytes, random: Random) -> bytes:
    found = list(re.finditer(rb"\d+", content))
    if not found:
        return content
    match = found[random.integers(len(found))]
    new = EXTREMES[random.integers(len(EXTREMES))]
    return content[: match.start()] + new + content[match.end() :]


def _lines(content: bytes, random: Random) -> bytes:
    lines = content.split(b"\n")
    way = random.integers(4)
    at, other = random.integers(len(lines), size=2)
    if way == 0:
        lines[at], lines[other] = lines[other], lines[at]
    elif way == 1:
        lines.insert(at, lines[other])
    elif way == 2:
        del lines[at]
    else:
        lines[at] = b""
    return b"\n".join(lines)


def _at(content: bytes, random: Random) -> int:
    if random.random() < 0.2:  # where headers and magic numbers are
        return int(random.integers(min(len(content), 16) + 1)) if content else 0
    return int(random.integers(len(content) + 1)) if len(content) > 1 else 0


def _span(content: bytes, random: Random) -> tuple[int, int]:
    start = _at(content, random)
    return start, start + int(random.choice([1, 2, 4, 16, 64, 1000]))


_WAYS: tuple[Callable[[bytes, Random], bytes], ...] = (
    *(_flip, _set, _insert, _insert, _overwrite, _delete, _repeat, _move, _cut, _number, _lines),
)
