"""``labelspace predict --out``: the rows of a table with all their columns, and their tags."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from labelspace import progress
from labelspace.cli import output
from labelspace.data.formats.fields import Fields, find_roles
from labelspace.data.formats.table import CellReader, Table
from labelspace.data.parts import ROWS, TableParts
from labelspace.data.tagged import TaggedRow, tagged_format
from labelspace.errors import DataError
from labelspace.label_choice import LabelChoice
from labelspace.store.folders import MANIFEST
from labelspace.tagger import Tagger


def write_tagged(
    tagger: Tagger,
    table: Table,
    target: Path,
    choice: LabelChoice,
    job: dict[str, Any] | None,
    *,
    fields: Fields,
) -> int:
    """Write the rows of ``table`` with their tags, and return how many there are.

    ``job`` is what the tags follow from: a run that was killed goes on if it is the same; None
    where the rows cannot be read again.
    """
    usual = tagger.fields_.label_separator if tagger.fields_ is not None else None
    written = tagged_format(target, table, tagger.label_names_ or (), usual)
    kept = None if table.has_fixed_columns else tagger.fields_
    roles = find_roles(table.columns, fields, kept, table.path, needs_labels=False)
    reader = CellReader(roles, table.columns)
    total = table.count() if job is not None else None
    with TableParts(target, job or {"once": secrets.token_hex(8)}) as parts:
        n_rows = 0
        rows = table.rows()
        with progress.task(f"Tagging {table.path}", total) as advance:
            if parts.n_done:
                n_rows = sum(1 for _ in islice(rows, parts.n_done * ROWS))
                output.say(f"Going on after {n_rows:,} rows that are tagged already.")
                advance(n_rows)
            while block := list(islice(rows, ROWS)):
                texts = _texts(reader, table, block)
                tagged = _tagged(tagger, texts, block, choice, advance)
                parts.add(partial(written.write_part, rows=tagged))
                n_rows += len(block)
        with progress.task(f"Writing {target}"):
            parts.finish(written.join)
        return n_rows


def job_of(model: Path, source: Path, settings: dict[str, Any]) -> dict[str, Any]:
    """Return what tags follow from: the model, the file as it is now, and the settings."""
    manifest = hashlib.sha256((model / MANIFEST).read_bytes()).hexdigest()
    found = source.stat()
    about = {"source": str(source.resolve()), "bytes": found.st_size, "time": found.st_mtime_ns}
    return {"model": manifest, **about, **settings}


def _texts(reader: CellReader, table: Table, block: list[Any]) -> list[str]:
    texts = []
    for number, cells in block:
        try:
            texts.append(reader.text(cells))
        except ValueError as error:
            raise DataError(f"{table.path}, {table.place} {number}: {error}") from None
    return texts


def _tagged(
    tagger: Tagger,
    texts: list[str],
    block: list[Any],
    choice: LabelChoice,
    advance: Callable[[int], None],
) -> Iterator[TaggedRow]:
    at = 0
    for top in tagger.ranked(texts, choice.n_ranked):
        for row in range(len(top)):
            given = choice.given(top, row)
            about = [choice.about(label) for label, _ in given]
            ids = [str(one.get("key", one["label"])) for one in about]
            tags = [str(one.get("name", one["label"])) for one in about]
            yield TaggedRow(block[at][1], tags, ids, [score for _, score in given])
            at += 1
        advance(len(top))
