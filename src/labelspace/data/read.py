"""Reading corpora, whatever their format: the front door of ``labelspace.data``."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from io import BufferedReader
from pathlib import Path

import numpy as np

from labelspace.data.corpus import Corpus
from labelspace.data.formats.annif import AnnifFolder, documents_in
from labelspace.data.formats.column_spec import ColumnSpec
from labelspace.data.formats.compression import HEAD_SIZE, open_input
from labelspace.data.formats.detect import detect_format
from labelspace.data.formats.fields import Fields
from labelspace.data.formats.many_files import ManyFiles, table_files
from labelspace.data.formats.names import LABELS_FILE, names_beside
from labelspace.data.formats.open_table import TABLES, open_table
from labelspace.data.formats.records import first_object
from labelspace.data.formats.table import Reading, Table, read_table
from labelspace.data.formats.xc_json import TARGETS
from labelspace.errors import DataError, LabelspaceWarning


def read_corpus(
    path: str | os.PathLike[str],
    *,
    n_features: int | None = None,
    n_labels: int | None = None,
    label_names: Sequence[str] | None = None,
    feature_names: Sequence[str] | None = None,
    fields: Fields | None = None,
    kept_fields: Fields | None = None,
    needs_labels: bool = True,
    labels_by_number: bool = False,
) -> Corpus:
    """Read a corpus of any format, plain or compressed, both told by its content.

    Parameters
    ----------
    path : path
        A table (CSV, TSV, Excel, Parquet, Arrow, JSON), XC text, svmlight, text and labels with a
        tab between, fastText lines, Annif's TSV, CSV or folder, ``.npz``, or a folder of tables
        with the same columns; text formats as they are or as gz, xz or bz2. ``labels.txt`` and
        ``features.txt`` beside it give names to ids.
    n_features : int, optional
        Width of ``X`` (a trained model's). A corpus with other features is an error.
    n_labels : int, optional
        Least width of ``Y``. Labels beyond it are kept, in columns after it.
    label_names, feature_names : sequence of str, optional
        Names of the first columns of ``Y`` and of those of ``X`` (a trained model's). Other labels
        get new columns at the end; other features are left out.
    fields, kept_fields : Fields, optional
        Which columns of a table hold text, labels and ids, by their names if not given, and those
        of a trained model, for what ``fields`` does not say.
    needs_labels, labels_by_number : bool
        Whether a table without labels is an error, and whether labels that are words are.

    Warns
    -----
    LabelspaceWarning
        Once, with their number, if rows have no labels or no features. They are kept.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "train.csv")
    ...     _ = path.write_text("title;subjects\\nGrowing roses, everywhere;roses, gardening\\n")
    ...     corpus = read_corpus(path)
    >>> corpus.texts, corpus.labels_of(0)
    (['Growing roses, everywhere'], ['gardening', 'roses'])
    """
    wanted = ColumnSpec(
        n_features=len(feature_names) if n_features is None and feature_names else n_features,
        n_labels=n_labels,
        label_names=None if label_names is None else list(label_names),
        feature_names=None if feature_names is None else list(feature_names),
        fields=kept_fields,
        labels_by_number=labels_by_number,
    )
    corpus = _read_within_memory(Path(path), fields or Fields(), wanted, needs_labels)
    _warn_of_empty_rows(corpus, Path(path), needs_labels)
    return corpus


def stream_table(path: Path, given: Fields, kept: Fields | None) -> Table | None:
    """Open the table in a file to go through its rows; None if it is none.

    Text with a tab and labels after it is seen as a table of two columns here.
    """
    if path.is_dir():
        return _folder(path, _asked(given, kept))
    with open_input(path) as stream:
        head = stream.peek(HEAD_SIZE)
    name = format_of_head(head, path, given, kept)
    if name == "tsv":
        from labelspace.data.formats.tsv import TsvTable

        return TsvTable(path)
    has_text_only = name == "jsonl-rows" and "features" not in first_object(head)
    if name not in TABLES and not has_text_only:
        return None
    table = open_table("jsonl" if has_text_only else name, path, head, _asked(given, kept))
    table.has_fixed_columns = table.has_fixed_columns or has_text_only
    return table


def format_of(path: str | os.PathLike[str]) -> str:
    """Return the format of a corpus by its content, such as xc, csv or parquet."""
    path = Path(path)
    if path.is_dir():
        return "annif" if documents_in(path) else "folder"
    with open_input(path) as stream:
        return detect_format(stream.peek(HEAD_SIZE), path)


def format_of_head(head: bytes, path: Path, given: Fields, kept: Fields | None) -> str:
    """Return the format of a file, with JSON lines in our own form told from other ones."""
    name = detect_format(head, path, _asked(given, kept))
    if name == "tsv" and given.names:
        return "csv"
    if name == "jsonl":
        first = first_object(head)
        if TARGETS in first and given.labels is None:
            return "xc-json"
        ours = {"text", "features", "labels"}
        plain = first.keys() <= ours and not isinstance(first.get("labels"), str)
        return "jsonl-rows" if "features" in first or plain else name
    if name not in TABLES and given.names:
        raise DataError(
            f"{path} has no columns with names ({_HOW[name]}): leave --text, --labels and --id out."
        )
    return name


def _read_within_memory(path: Path, given: Fields, wanted: ColumnSpec, needs: bool) -> Corpus:
    try:
        return _read(path, given, wanted, needs)
    except MemoryError:
        raise DataError(
            f"{path} does not fit into memory, as a small file that unpacks to a large one may "
            "not: check what it holds, or read a part of it."
        ) from None


def _read(path: Path, given: Fields, wanted: ColumnSpec, needs_labels: bool) -> Corpus:
    kept = wanted.fields
    if kept is not None and not given.is_given:
        given = Fields(header=kept.header)
    if path.is_dir():
        return read_table(_folder(path, _asked(given, kept)), given, wanted, needs_labels)
    with open_input(path) as stream:
        head = stream.peek(HEAD_SIZE)
        name = format_of_head(head, path, given, kept)
        if name not in TABLES:
            corpus = _reader(name)(stream, path, wanted)
            corpus.reading = Reading(_HOW[name])
            if wanted.labels_by_number and name in ("tsv", "jsonl-rows"):
                _refuse_words(corpus, path)
            return corpus
    table = open_table(name, path, head, _asked(given, kept))
    corpus = read_table(table, given, wanted, needs_labels)
    if wanted.labels_by_number and not table.labels_are_columns:
        _refuse_words(corpus, path)
    return corpus


def _folder(path: Path, fields: Fields) -> Table:
    """Return the table in a folder: documents with their subjects, or files that are tables."""
    if not documents_in(path) and table_files(path):
        return ManyFiles(path, fields)
    return AnnifFolder(path)


def _refuse_words(corpus: Corpus, path: Path) -> None:
    """Raise if labels are words; a file beside the corpus may say which columns they are."""
    names, beside = corpus.label_names, names_beside(path, LABELS_FILE)
    if names and beside is not None and names[: len(beside.names)] == beside.names:
        return
    if names and corpus.Y.nnz:
        raise DataError(
            f"{path} has labels with names, such as '{names[0][:80]}', but the model was trained "
            "on labels by number: give the numbers of its columns, or a labels.txt beside the file "
            "with a line for each column."
        )


def _asked(given: Fields, kept: Fields | None) -> Fields:
    return given if given.is_given or kept is None else kept


_HOW = {
    "xc": "XC-repository text",
    "svmlight": "multi-label svmlight",
    "tsv": "text, a tab, labels; no header",
    "jsonl-rows": "JSON lines with text or features, and labels",
    "npz": "NumPy arrays",
}


def _reader(name: str) -> Callable[[BufferedReader, Path, ColumnSpec], Corpus]:
    """Return what reads a format; only that one is imported."""
    if name in ("xc", "svmlight"):
        from labelspace.data.formats.xc import read_xc_text

        return read_xc_text
    if name == "tsv":
        from labelspace.data.formats.tsv import read_tsv

        return read_tsv
    if name == "jsonl-rows":
        from labelspace.data.formats.jsonl import read_jsonl

        return read_jsonl
    from labelspace.data.formats.npz import read_npz

    return read_npz


def _warn_of_empty_rows(corpus: Corpus, path: Path, needs_labels: bool) -> None:
    missing = {}
    if needs_labels or corpus.Y.nnz:
        missing["labels"] = int((np.diff(corpus.Y.indptr) == 0).sum())
    if corpus.X is not None:
        missing["features"] = int((np.diff(corpus.X.indptr) == 0).sum())
    if corpus.texts is not None:
        missing["text"] = sum(not text.strip() for text in corpus.texts)
    problems = [f"{n} of {len(corpus)} rows without {what}" for what, n in missing.items() if n]
    if problems:
        warnings.warn(
            f"{path} has {' and '.join(problems)}; they are kept.",
            LabelspaceWarning,
            stacklevel=3,
        )
