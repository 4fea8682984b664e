"""Tagging of huge files: parts of the file become part files of a folder, whoever does them.

Each part is a block of the engine in use: ranges of bytes that are cut at line ends, or row groups
of Parquet. A row that cannot be read or tagged goes to a file beside its part, with the reason. A
run that was stopped goes on with the parts that are not there, and a manifest is written last.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from labelspace import engine
from labelspace.calibration import Threshold
from labelspace.data.formats.fields import Fields, find_roles
from labelspace.data.formats.table import CellReader, Table
from labelspace.data.read import stream_table
from labelspace.data.tagged import TaggedFormat, TaggedParquet, TaggedRow, tagged_format
from labelspace.errors import DataError
from labelspace.label_choice import LabelChoice
from labelspace.store.folders import MANIFEST, flush
from labelspace.store.leftovers import temporary_file
from labelspace.store.manifest import sha256_of
from labelspace.tagger import Tagger

FORMAT = "labelspace tagged parts 1"
# Bytes of a part; a larger file has larger ones, so that they do not become too many.
LEAST_PART, MOST_PART, PARTS = 1 << 22, 1 << 26, 4096
_OWN_BLOCKS = ".blocks"
_SUFFIXES = {"CSV": ".csv", "TSV": ".tsv", "Parquet": ".parquet"}

Row = tuple[int, Sequence[Any]]


def tag_file(
    model: Path,
    source: Path,
    out: Path,
    *,
    k: int | None = None,
    threshold: Threshold = None,
    shown: Sequence[Any] = (),
    fields: Fields | None = None,
    vocabulary: Path | None = None,
) -> dict[str, Any]:
    """Tag the rows of a file into part files in the folder ``out``; return its manifest.

    To be called where an engine is in use. ``shown`` are ``language``, ``broader``, ``allow`` and
    ``exclude`` of :meth:`labelspace.Tagger.tag_many`.
    """
    told = fields or Fields()
    tagger = _tagger(str(model), _sum_of(model), None if vocabulary is None else str(vocabulary))
    table = _table(source, told, tagger)
    states = [file.stat() for file in table.files()]
    size = sum(state.st_size for state in states)
    ranges = table.cut(min(max(LEAST_PART, size // PARTS), MOST_PART))
    made_of = {
        "model": str(model.resolve()),
        "model_sha256": _sum_of(model),
        "source": str(source.resolve()),
        "bytes": size,
        "time": max(state.st_mtime_ns for state in states),
        "k": k,
        "threshold": threshold,
        "shown": list(shown),
        "fields": told,
        "vocabulary": None if vocabulary is None else str(vocabulary.resolve()),
        "vocabulary_sha256": None if vocabulary is None else sha256_of(vocabulary),
        "out": str(out.resolve()),
        "suffix": _SUFFIXES.get(table.how.split(",")[0], ".jsonl"),
    }
    _check_folder(out, made_of)
    parts = engine.run_blocks(
        tag_part,
        made_of,
        [(number, *one) for number, one in enumerate(ranges)],
        f"Tagging {source}, parts",
        is_whole=lambda part: _is_there(out, part),
    )
    return _finished(out, made_of, parts)


def own_workdir(out: Path) -> Path:
    """Return where blocks are kept unless another folder is given."""
    return out / _OWN_BLOCKS


def tag_part(inputs: dict[str, Any], block: tuple[int, int, int]) -> dict[str, Any]:
    """Tag the rows of a range, write them to a part file, and return what is in it."""
    number, start, end = block
    tagger = _tagger(inputs["model"], inputs["model_sha256"], inputs["vocabulary"])
    choice = tagger.choice(inputs["k"], inputs["threshold"], *inputs["shown"])
    table = _table(Path(inputs["source"]), inputs["fields"], tagger)
    kept = None if table.has_fixed_columns else tagger.fields_
    roles = find_roles(table.columns, inputs["fields"], kept, table.path, needs_labels=False)
    poison: list[dict[str, Any]] = []
    read = list(_readable(table, start, end, CellReader(roles, table.columns), poison))
    folder, name = Path(inputs["out"]), f"part-{number:06d}{inputs['suffix']}"
    usual = tagger.fields_.label_separator if tagger.fields_ is not None else None
    written = tagged_format(folder / name, table, tagger.label_names_ or (), usual)
    with temporary_file(folder, f".{name}.", ".part") as (path, descriptor):
        with os.fdopen(descriptor, "wb") as file:
            n_rows = _write(written, file, tagger, choice, read)
            flush(file)
        told = {"file": name, "rows": n_rows, "bytes": path.stat().st_size}
        told |= {"sha256": sha256_of(path), "poison": len(poison)}
        os.replace(path, folder / name)
    side = folder / f"poison-{number:06d}.jsonl"
    if poison:
        _put(side, "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in poison))
    return told


def _write(
    written: TaggedFormat, file: Any, tagger: Tagger, choice: LabelChoice, read: list[Any]
) -> int:
    texts = [text for text, _ in read]
    cells = (cells for _, cells in read)
    if not isinstance(written, TaggedParquet):
        written.join(file, [])  # the header, where a format has one

    def rows() -> Iterator[TaggedRow]:
        for top in tagger.ranked(texts, choice.n_ranked):
            for row in range(len(top)):
                given = choice.given(top, row)
                about = [choice.about(label) for label, _ in given]
                ids = [str(one.get("key", one["label"])) for one in about]
                tags = [str(one.get("name", one["label"])) for one in about]
                yield TaggedRow(next(cells), tags, ids, [score for _, score in given])

    written.write_part(file, rows())
    return len(read)


def _readable(
    table: Table, start: int, end: int, reader: CellReader, poison: list[dict[str, Any]]
) -> Iterator[tuple[str, Sequence[Any]]]:
    """Yield texts and cells of the rows in a range; those that cannot be read go to ``poison``."""
    try:
        rows: list[Row] = list(table.part(start, end).rows())
    except DataError as error:
        halves = table.halves(start, end)
        if len(halves) == 1:
            poison.append({"range": [start, end], "reason": str(error)})
            return
        for half in halves:
            yield from _readable(table, *half, reader, poison)
        return
    for number, cells in rows:
        try:
            yield reader.text(cells), cells
        except ValueError as error:
            where = {"range": [start, end], "row": number}
            poison.append({**where, "reason": str(error), "cells": [str(one) for one in cells]})


@lru_cache(maxsize=1)
def _tagger(model: str, manifest: str, vocabulary: str | None) -> Tagger:
    """Load a model once for all parts that a worker does; ``manifest`` tells one from another."""
    tagger = Tagger.load(model)
    if _sum_of(Path(model)) != manifest:
        raise DataError(f"{model} has been replaced meanwhile: start again.")
    if vocabulary is not None:
        tagger.use_vocabulary(vocabulary)
    tagger.estimator_.n_threads = 1
    return tagger


def _table(source: Path, fields: Fields, tagger: Tagger) -> Table:
    table = stream_table(source, fields, tagger.fields_)
    if table is None:
        raise DataError(f"{source} holds features, which cannot be tagged in parts: give texts.")
    return table


def _sum_of(model: Path) -> str:
    return hashlib.sha256((model / MANIFEST).read_bytes()).hexdigest()


def _check_folder(out: Path, made_of: dict[str, Any]) -> None:
    """Make the folder; one that has parts of other rows is refused, not mixed."""
    out.mkdir(parents=True, exist_ok=True)
    about = _about(made_of)
    mark = out / "job.json"
    if not mark.exists():
        _put(mark, json.dumps(about, ensure_ascii=False))
    elif _said(mark) != about:
        raise DataError(
            f"{out} has parts of another model, file or choice of labels: give an empty folder."
        )


def _said(mark: Path) -> Any:
    """Return what the parts of a folder are of; None if that cannot be told."""
    if not mark.is_file():  # a pipe would be waited for
        return None
    try:
        return json.loads(mark.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        return None


def _about(made_of: dict[str, Any]) -> dict[str, Any]:
    return {**made_of, "fields": repr(made_of["fields"])}


def _is_there(out: Path, part: dict[str, Any]) -> bool:
    """Tell whether a part that was done is still in its place."""
    file = out / part["file"]
    return file.exists() and file.stat().st_size == part["bytes"]


def _finished(out: Path, made_of: dict[str, Any], parts: list[dict[str, Any]]) -> dict[str, Any]:
    manifest = {
        "format": FORMAT,
        "made_of": _about(made_of),
        "rows": sum(part["rows"] for part in parts),
        "poison": sum(part["poison"] for part in parts),
        "parts": parts,
    }
    _put(out / MANIFEST, json.dumps(manifest, ensure_ascii=False, indent=1))
    return manifest


def _put(path: Path, text: str) -> None:
    with temporary_file(path.parent, f".{path.name}.", ".part") as (written, descriptor):
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            flush(file)
        os.replace(written, path)
