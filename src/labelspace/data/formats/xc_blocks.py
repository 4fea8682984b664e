"""XC text in pieces: cut at line ends, parsed side by side, with a sentence for what cannot be."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from labelspace import engine, threads
from labelspace.data.formats import _xc_kernels as kernels
from labelspace.data.formats.ranges import FileRange
from labelspace.data.formats.row_blocks import line_parts
from labelspace.errors import shortened

BLOCK_SIZE = 1 << 20


@dataclass(frozen=True)
class ColumnLimits:
    """What the numbers of a file must stay below, and who says so."""

    n_labels: int
    n_features: int
    reason: str  # ends an error's sentence


class ParsedRows(NamedTuple):
    """Rows of a part of the file, each end counted from the part's beginning."""

    labels: NDArray[np.int32]
    label_ends: NDArray[np.int64]
    features: NDArray[np.int32]
    values: NDArray[np.float32]
    feature_ends: NDArray[np.int64]
    max_label: int
    max_feature: int


@dataclass
class Block:
    """Rows parsed from one piece of the file; the arrays are longer than what is in them."""

    text: bytes
    n_lines: int
    status: int
    report: NDArray[np.int64]
    labels: NDArray[np.int32]
    label_ends: NDArray[np.int64]
    features: NDArray[np.int32]
    values: NDArray[np.float32]
    feature_ends: NDArray[np.int64]

    @property
    def rows(self) -> ParsedRows:
        """The rows, without what is behind them in the arrays."""
        n_rows, n_labels = self.report[kernels.N_ROWS], self.report[kernels.N_LABELS]
        n_features = self.report[kernels.N_FEATURES]
        return ParsedRows(
            self.labels[:n_labels],
            self.label_ends[:n_rows],
            self.features[:n_features],
            self.values[:n_features],
            self.feature_ends[:n_rows],
            int(self.report[kernels.MAX_LABEL]),
            int(self.report[kernels.MAX_FEATURE]),
        )


def rows_by_engine(path: Path, limits: ColumnLimits, has_header: bool) -> list[ParsedRows] | None:
    """Let the engine in use parse a file in parts; None where it is small, packed or has mistakes.

    Mistakes are told by reading in order, so that the line is right.
    """
    ranges = line_parts(path)
    if len(ranges) < 2:
        return None
    state = path.stat()
    about = {
        "path": str(path.resolve()),
        "file": [state.st_size, state.st_mtime_ns],
        "limits": [limits.n_labels, limits.n_features],
        "has_header": has_header,
    }
    parts = engine.run_blocks(parse_range, about, ranges, f"Reading {path}, parts")
    return None if any(part is None for part in parts) else [ParsedRows(*part) for part in parts]


def parse_range(inputs: dict[str, Any], block: tuple[int, int]) -> tuple[Any, ...] | None:
    """Parse the rows in a range of a file: what a worker does. None if there is a mistake."""
    start, end = block
    n_labels, n_features = inputs["limits"]
    limits = ColumnLimits(n_labels, n_features, "")
    parts: list[ParsedRows] = []
    opened: Any = BufferedReader(FileRange(Path(inputs["path"]), start, end))
    with opened as stream, threads.limit(1):
        if start == 0:
            skip_mark(stream)
            if inputs["has_header"]:
                stream.readline()
        for one in parse_blocks(stream, limits, blank_is_row=inputs["has_header"]):
            if one.status != kernels.OK:
                return None
            parts.append(one.rows)
    return tuple(_joined(parts))


def skip_mark(stream: BufferedReader) -> None:
    """Go on behind the mark that some programs begin UTF-8 with."""
    if stream.peek(3).startswith(b"\xef\xbb\xbf"):
        stream.read(3)


def _joined(parts: list[ParsedRows]) -> ParsedRows:
    """Put rows of parts together."""

    def ends(which: str, of: str) -> NDArray[np.int64]:
        before = np.cumsum([0, *(len(getattr(one, of)) for one in parts)])
        moved = [getattr(one, which) + n for one, n in zip(parts, before, strict=False)]
        return np.concatenate([np.zeros(0, np.int64), *moved])

    def items(which: str, kind: Any) -> NDArray[Any]:
        return np.concatenate([np.zeros(0, kind), *(getattr(one, which) for one in parts)])

    return ParsedRows(
        items("labels", np.int32),
        ends("label_ends", "labels"),
        items("features", np.int32),
        items("values", np.float32),
        ends("feature_ends", "features"),
        max((one.max_label for one in parts), default=-1),
        max((one.max_feature for one in parts), default=-1),
    )


def parse_blocks(
    stream: BufferedReader, limits: ColumnLimits, blank_is_row: bool
) -> Iterator[Block]:
    """Yield the stream's rows in order, parsed on several threads while this one reads on."""

    def parse(text: bytes) -> Block:
        data = np.frombuffer(text, np.uint8)
        n_lines = int(kernels.count_lines(data))
        block = Block(
            text=text,
            n_lines=n_lines,
            status=kernels.OK,
            report=np.zeros(kernels.REPORT_SIZE, np.int64),
            labels=np.empty(len(text) // 2 + 1, np.int32),  # "1," is the shortest label
            label_ends=np.empty(n_lines, np.int64),
            features=np.empty(len(text) // 4 + 1, np.int32),  # " 1:1" is the shortest feature
            values=np.empty(len(text) // 4 + 1, np.float32),
            feature_ends=np.empty(n_lines, np.int64),
        )
        block.status = kernels.parse_rows(
            data,
            blank_is_row,
            limits.n_labels,
            limits.n_features,
            block.labels,
            block.label_ends,
            block.features,
            block.values,
            block.feature_ends,
            block.report,
        )
        return block

    n_threads = threads.current()
    if n_threads == 1:
        yield from map(parse, text_blocks(stream))
        return
    with ThreadPoolExecutor(n_threads) as pool:
        waiting: deque[Future[Block]] = deque()
        for text in text_blocks(stream):
            waiting.append(pool.submit(parse, text))
            if len(waiting) > n_threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def text_blocks(stream: BufferedReader) -> Iterator[bytes]:
    """Yield the stream in pieces of about ``BLOCK_SIZE`` that end where a line ends.

    >>> import io
    >>> list(text_blocks(io.BufferedReader(io.BytesIO(b"0 1:1"))))
    [b'0 1:1\\n']
    """
    pieces: list[bytes] = []
    while data := stream.read(BLOCK_SIZE):
        cut = data.rfind(b"\n") + 1
        if cut == 0:
            pieces.append(data)
            continue
        yield b"".join([*pieces, data[:cut]])
        pieces = [data[cut:]]
    rest = b"".join(pieces)
    if rest:
        yield rest + b"\n"


def parse_error(block: Block, limits: ColumnLimits) -> tuple[int, str]:
    """Return the line of a block (from 1) that could not be parsed, and what to do about it."""
    offset = int(block.report[kernels.OFFSET])
    line = block.text.count(b"\n", 0, offset) + 1
    word = rb"[^\s,]*" if block.status <= kernels.LABEL_TOO_LARGE else rb"\S*"
    match = re.compile(word).match(block.text, offset)
    token = match.group().decode(errors="replace") if match else ""
    index = shortened(token.partition(":")[0])
    token = token if len(token) <= 40 else token[:37] + "..."
    if block.status == kernels.BAD_VALUE and re.search(r":[+-]?(nan|inf)", token, re.IGNORECASE):
        return line, f'the value of "{token}" is not finite; replace it or leave it out.'
    return line, {
        kernels.BAD_LABEL: f'"{token}" is not a label number; write labels as 3,17 before the '
        "first blank, or begin the line with a blank if it has none.",
        kernels.NEGATIVE_LABEL: f'label "{token}" is negative; number the labels from 0.',
        kernels.LABEL_TOO_LARGE: f"label {token} is too large: {limits.reason}",
        kernels.BAD_FEATURE: f'"{token}" is not a feature; write it as number:value.',
        kernels.NEGATIVE_FEATURE: f'feature "{token}" is negative; number the features from 0.',
        kernels.FEATURE_TOO_LARGE: f"feature {index} is too large: {limits.reason}",
        kernels.BAD_VALUE: f'"{token}" has no number after its colon; write it as number:value.',
        kernels.NOT_FINITE: f'the value of "{token}" is beyond what a float32 can hold; '
        "scale it down or leave it out.",
    }[block.status]
