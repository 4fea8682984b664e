"""Reading corpora, whatever their format: the front door of ``labelspace.data``."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from io import BufferedReader
from pathlib import Path

import numpy as np

from labelspace.data.corpus import Corpus
from labelspace.data.formats.column_spec import ColumnSpec
from labelspace.data.formats.compression import HEAD_SIZE, open_input
from labelspace.data.formats.detect import detect_format
from labelspace.errors import LabelspaceWarning


def read_corpus(
    path: str | os.PathLike[str],
    *,
    n_features: int | None = None,
    n_labels: int | None = None,
    label_names: Sequence[str] | None = None,
    feature_names: Sequence[str] | None = None,
) -> Corpus:
    """Read a corpus of any format, plain or compressed, both told by its content.

    Parameters
    ----------
    path : path
        XC text, svmlight, TSV, Annif TSV, JSON lines or ``.npz``, as it is or as gz, xz or bz2.
        ``labels.txt`` and ``features.txt`` beside it give names to ids.
    n_features : int, optional
        Width of ``X`` (a trained model's). A corpus with other features is an error.
    n_labels : int, optional
        Least width of ``Y``. Labels beyond it are kept, in columns after it.
    label_names : sequence of str, optional
        Names of the first columns of ``Y`` (a trained model's). Labels that have names go to the
        columns of these; names that are not among them get new columns at the end.
    feature_names : sequence of str, optional
        Names of the columns of ``X``, for corpora whose features are words; others are left out.

    Warns
    -----
    LabelspaceWarning
        Once, with their number, if rows have no labels or no features. They are kept.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "train.txt")
    ...     _ = path.write_text("2 5 3\\n0,2 1:0.5 4:1\\n1 0:0.25\\n")
    ...     corpus = read_corpus(path)
    >>> corpus.Y.toarray()
    array([[1., 0., 1.],
           [0., 1., 0.]], dtype=float32)
    """
    path = Path(path)
    if feature_names is not None and n_features is None:
        n_features = len(feature_names)
    wanted = ColumnSpec(
        n_features=n_features,
        n_labels=n_labels,
        label_names=None if label_names is None else list(label_names),
        feature_names=None if feature_names is None else list(feature_names),
    )
    with open_input(path) as stream:
        corpus = _reader(detect_format(stream.peek(HEAD_SIZE), path))(stream, path, wanted)
    _warn_of_empty_rows(corpus, path)
    return corpus


def format_of(path: str | os.PathLike[str]) -> str:
    """Return the format of a corpus by its content: xc, svmlight, tsv, jsonl or npz."""
    path = Path(path)
    with open_input(path) as stream:
        return detect_format(stream.peek(HEAD_SIZE), path)


def _reader(name: str) -> Callable[[BufferedReader, Path, ColumnSpec], Corpus]:
    """Return what reads a format; only that one is imported."""
    if name in ("xc", "svmlight"):
        from labelspace.data.formats.xc import read_xc_text

        return read_xc_text
    if name == "tsv":
        from labelspace.data.formats.tsv import read_tsv

        return read_tsv
    if name == "jsonl":
        from labelspace.data.formats.jsonl import read_jsonl

        return read_jsonl
    from labelspace.data.formats.npz import read_npz

    return read_npz


def _warn_of_empty_rows(corpus: Corpus, path: Path) -> None:
    missing = {"labels": int((np.diff(corpus.Y.indptr) == 0).sum())}
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
