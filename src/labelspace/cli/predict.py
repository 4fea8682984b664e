"""``labelspace predict``: the best labels of each row of a corpus, or of each line of stdin."""

from __future__ import annotations

import hashlib
import io
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from labelspace import progress
from labelspace.calibration import checked_threshold
from labelspace.cli import output
from labelspace.cli.engine_options import EngineChoice
from labelspace.cli.inputs import load_tagger, read_for
from labelspace.cli.options import Shown
from labelspace.cli.reasons import explained, label_text, lines_about
from labelspace.cli.tagged_table import job_of, write_tagged
from labelspace.data.formats.compression import HEAD_SIZE, check_readable
from labelspace.data.formats.fields import Fields, find_roles
from labelspace.data.formats.table import CellReader, Table
from labelspace.data.piped import LinesTable, open_piped
from labelspace.data.read import stream_table
from labelspace.data.rows import count_rows
from labelspace.errors import DataError, UsageError
from labelspace.label_choice import LabelChoice
from labelspace.tagger import Tagger
from labelspace.topk import TopK

STANDARD_INPUT = "-"


def run_predict(
    model: Path,
    source: str,
    out: Path | None = None,
    *,
    fields: Fields | None = None,
    k: int | None,
    threshold: str | None,
    explain: bool = False,
    shown: Shown = Shown(),
    vocabulary: Path | None = None,
    encoder: str | None = None,
    n_threads: int | None,
    engine: EngineChoice = EngineChoice(),
    as_json: bool,
) -> None:
    """Print, or write to the file ``out``, what a model gives to the rows of ``source``."""
    if engine.engine is not None:
        _check_reached(encoder)
        how = {"k": k, "threshold": checked_threshold(threshold), "shown": shown}
        run_in_parts(model, source, out, engine, as_json, explain, vocabulary, fields=fields, **how)
        return
    tagger = load_tagger(model, n_threads, vocabulary, encoder)
    choice = tagger.choice(k, checked_threshold(threshold), *shown)
    about = {"k": choice.k, "threshold": choice.least}
    given = fields or Fields()
    if out is not None and explain:
        raise UsageError("--out writes tags without reasons: leave --out or --explain out.")
    if out is not None:
        n_rows = _write(model, tagger, source, out, given, choice, vocabulary)
        if as_json:
            output.print_json({"n": n_rows, **about, "out": str(out)})
        else:
            print(f"{out}: {n_rows:,} rows with their tags")
        return
    ids: list[str] = []
    read = _rows(tagger, source, given, ids)
    rows: Iterator[list[dict[str, Any]]] = (
        [
            {**choice.about(label), "score": round(score, 6)}
            for label, score in choice.given(top, row)
        ]
        for top in _ranked(tagger, read, choice.n_ranked)
        for row in range(len(top))
    )
    if explain:
        rows = explained(tagger, read, choice)
    if as_json:
        found = list(rows)
        told = {"n": len(found), **about, "predictions": found}
        output.print_json({**told, "ids": ids} if ids else told)
        return
    for labels in rows:
        if explain:
            about_all = (line for one in labels for line in lines_about(one))
            output.print_line("\n".join(about_all) + "\n")
            continue
        printed = (f"{label_text(label)}\t{label['score']:.4f}" for label in labels)
        output.print_line("\t".join(printed), flush=source == STANDARD_INPUT)


def run_in_parts(
    model: Path,
    source: str,
    out: Path | None,
    chosen: EngineChoice,
    as_json: bool,
    explain: bool,
    vocabulary: Path | None,
    **how: Any,
) -> None:
    """Write what a model gives to the rows of a huge file into part files in a folder."""
    from labelspace import bulk

    if out is None or source == STANDARD_INPUT or explain:
        raise UsageError(
            "--engine tags a file into the part files of a folder: give a file and --out FOLDER, "
            "without --explain."
        )
    check_readable(Path(source))
    folder = chosen.workdir or str(bulk.own_workdir(out))
    began = time.perf_counter()
    with chosen._replace(workdir=folder).used() as used:
        done = bulk.tag_file(model, Path(source), out, vocabulary=vocabulary, **how)
    told = {"n": done["rows"], "n_poison": done["poison"], "n_parts": len(done["parts"])}
    if as_json:
        output.print_json({**told, "out": str(out), **used.figures()})
        return
    rate = done["rows"] / max(time.perf_counter() - began, 1e-9)
    print(f"{out}: {done['rows']:,} rows in {len(done['parts']):,} parts, {rate:,.0f} a second")
    if done["poison"]:
        print(f"{done['poison']:,} rows could not be read or tagged: see poison-*.jsonl in {out}")


def _check_reached(encoder: str | None) -> None:
    if encoder is not None:
        raise UsageError(
            "--engine starts processes that --encoder does not reach: set "
            f"LABELSPACE_TRUSTED={encoder} instead."
        )


def _write(
    model: Path,
    tagger: Tagger,
    source: str,
    out: Path,
    fields: Fields,
    choice: LabelChoice,
    vocabulary: Path | None,
) -> int:
    job = None
    if source == STANDARD_INPUT:
        table = _piped(tagger, fields)
    else:
        path = Path(source)
        if not path.is_dir():
            check_readable(path)
        found = stream_table(path, fields, tagger.fields_)
        if found is None:
            raise DataError(
                f"{source} holds features, which --out cannot give back as a table: leave --out "
                "out, or add --json."
            )
        table = found
        settings = {"fields": repr(fields), **choice.settings()}
        if vocabulary is not None:
            settings["vocabulary"] = hashlib.sha256(vocabulary.read_bytes()).hexdigest()
        job = job_of(model, path, settings)
    return write_tagged(tagger, table, out, choice, job, fields=fields)


def _ranked(tagger: Tagger, rows: Any, k: int) -> Iterator[TopK]:
    if not isinstance(rows, Iterator):
        n_rows = count_rows(rows)
        with progress.task(f"Ranking labels for {n_rows or 0:,} rows", n_rows) as advance:
            for top in tagger.ranked(rows, k):
                yield top
                advance(len(top))
        return
    # At a terminal each line is answered as it is typed; a pipe is read in larger blocks.
    yield from tagger.ranked(rows, k, block=1 if sys.stdin.isatty() else 1024)


def _rows(tagger: Tagger, source: str, fields: Fields, ids: list[str]) -> Any:
    """Return the rows, piped ones as they come; their ids, where they have any, go to ``ids``."""
    if source != STANDARD_INPUT:
        corpus = read_for(tagger, source, fields, needs_labels=False)
        ids.extend(corpus.ids or ())
        return corpus.rows
    table = _piped(tagger, fields)
    kept = None if table.has_fixed_columns else tagger.fields_
    roles = find_roles(table.columns, fields, kept, table.path, needs_labels=False)
    reader = CellReader(roles, table.columns)

    def texts() -> Iterator[str]:
        for _, cells in table.rows():
            if roles.id is not None:
                ids.append(reader.id(cells) or "")
            yield reader.text(cells)

    return texts()


def _piped(tagger: Tagger, fields: Fields) -> Table:
    """Return what is piped in: a corpus as a table, or one text per line."""
    raw: Any = getattr(sys.stdin.buffer, "raw", sys.stdin.buffer)
    stream = io.BufferedReader(raw, HEAD_SIZE)
    if sys.stdin.isatty():
        return LinesTable(stream)
    table = open_piped(
        stream, fields, tagger.fields_, lambda word: tagger.labels_.find(word) is not None
    )
    if not isinstance(table, LinesTable):
        output.say(f"{table.path} is read as a corpus ({table.how}); its labels are left out.")
    return table
