"""Reading and writing corpora, whatever their format: the front door of ``labelspace.data``."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from labelspace.data.compression import HEAD_SIZE, open_input, without_compression_suffix
from labelspace.data.corpus import Corpus
from labelspace.data.detect import detect_format
from labelspace.data.wanted import Wanted
from labelspace.errors import DataError, LabelspaceWarning

FORMATS = {
    "xc": (".txt", ".xc"),
    "svmlight": (".svm", ".svmlight", ".libsvm"),
    "tsv": (".tsv",),
    "annif": (".annif",),
    "jsonl": (".jsonl", ".ndjson", ".json"),
    "npz": (".npz",),
}


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

    Returns
    -------
    Corpus

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
    wanted = Wanted(
        n_features=n_features,
        n_labels=n_labels,
        label_names=None if label_names is None else list(label_names),
        feature_names=None if feature_names is None else list(feature_names),
    )
    if wanted.feature_names is not None and n_features is None:
        wanted = Wanted(
            len(wanted.feature_names), n_labels, wanted.label_names, wanted.feature_names
        )
    with open_input(path) as stream:
        name = detect_format(stream.peek(HEAD_SIZE), path)
        if name in ("xc", "svmlight"):
            from labelspace.data.xc_text import read_xc_text

            corpus = read_xc_text(stream, path, wanted)
        elif name == "tsv":
            from labelspace.data.tsv import read_tsv

            corpus = read_tsv(stream, path, wanted)
        elif name == "jsonl":
            from labelspace.data.jsonl import read_jsonl

            corpus = read_jsonl(stream, path, wanted)
        else:
            from labelspace.data.npz import read_npz

            corpus = read_npz(stream, path, wanted)
    _warn_of_empty_rows(corpus, path)
    return corpus


def format_of(path: str | os.PathLike[str]) -> str:
    """Return the format of a corpus by its content: xc, svmlight, tsv, jsonl or npz."""
    path = Path(path)
    with open_input(path) as stream:
        return detect_format(stream.peek(HEAD_SIZE), path)


def write_corpus(corpus: Corpus, path: str | os.PathLike[str], format: str | None = None) -> None:
    """Write a corpus; the file appears, or takes an older one's place, only when it is complete.

    Parameters
    ----------
    corpus : Corpus
    path : path
        Compressed if it ends in ``.gz``, ``.xz`` or ``.bz2``. Names that the format has no room
        for go to ``labels.txt`` and ``features.txt`` beside it.
    format : {"xc", "svmlight", "tsv", "annif", "jsonl", "npz"}, optional
        By default what the suffix says: ``.txt`` XC text, ``.svm`` svmlight, ``.tsv``,
        ``.annif`` or ``.annif.tsv``, ``.jsonl``, ``.npz``.

    Notes
    -----
    XC text and ``.npz`` hold every column. The others hold only what rows use: read them with
    ``n_features`` and ``n_labels`` (or names) to get the same widths back.

    Examples
    --------
    >>> import tempfile
    >>> from scipy.sparse import csr_matrix
    >>> corpus = Corpus(None, csr_matrix([[1, 1]]), texts=["a ball"], label_names=["red", "round"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_corpus(corpus, Path(folder, "a.tsv.gz"))
    ...     read_corpus(Path(folder, "a.tsv.gz")).label_names
    ['red', 'round']
    """
    path = Path(path)
    name = format if format is not None else format_of_name(path)
    if name in ("xc", "svmlight"):
        from labelspace.data.xc_write import write_xc_text

        write_xc_text(corpus, path, header=name == "xc")
    elif name in ("tsv", "annif"):
        from labelspace.data.tsv import write_tsv

        write_tsv(corpus, path, annif=name == "annif")
    elif name == "jsonl":
        from labelspace.data.jsonl import write_jsonl

        write_jsonl(corpus, path)
    elif name == "npz":
        from labelspace.data.npz import write_npz

        write_npz(corpus, path)
    else:
        raise DataError(f'"{name}" is not a format; use one of {", ".join(FORMATS)}.')


def convert(
    source: str | os.PathLike[str], target: str | os.PathLike[str], format: str | None = None
) -> Corpus:
    """Read a corpus and write it in another format or compression; return it.

    Memory holds the corpus once, as CSR (and its texts): rows are read and written as a stream.
    """
    if format is None:
        format_of_name(Path(target))  # before the reading, which may take long
    corpus = read_corpus(source)
    write_corpus(corpus, target, format)
    return corpus


def format_of_name(path: Path) -> str:
    """Return the format that a file's name asks for.

    >>> format_of_name(Path("train.annif.tsv.gz"))
    'annif'
    """
    suffixes = [suffix.lower() for suffix in without_compression_suffix(path).suffixes]
    if suffixes[-2:] == [".annif", ".tsv"]:
        return "annif"
    for name, known in FORMATS.items():
        if suffixes and suffixes[-1] in known:
            return name
    endings = ", ".join(ending for known in FORMATS.values() for ending in known)
    raise DataError(f"{path} does not say its format; end the name in one of {endings}.")


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
