"""Writing corpora in the format that a file's name asks for, and from one format to another."""

from __future__ import annotations

import os
from pathlib import Path

from labelspace.data.corpus import Corpus
from labelspace.data.formats.compression import without_compression_suffix
from labelspace.data.formats.fields import Fields
from labelspace.data.read import read_corpus
from labelspace.errors import DataError

FORMATS = {
    "xc": (".txt", ".xc"),
    "svmlight": (".svm", ".svmlight", ".libsvm"),
    "tsv": (".tsv",),
    "annif": (".annif",),
    "jsonl": (".jsonl", ".ndjson", ".json"),
    "npz": (".npz",),
    "csv": (".csv",),
    "xlsx": (".xlsx",),
    "parquet": (".parquet",),
    "arrow": (".arrow", ".feather"),
}


def write_corpus(corpus: Corpus, path: str | os.PathLike[str], format: str | None = None) -> None:
    """Write a corpus; the file appears, or takes an older one's place, only when it is complete.

    Parameters
    ----------
    corpus : Corpus
    path : path
        Compressed if it ends in ``.gz``, ``.xz`` or ``.bz2``. Names that the format has no room
        for go to ``labels.txt`` and ``features.txt`` beside it.
    format : {"xc", "svmlight", "tsv", "annif", "jsonl", "npz", "csv", "xlsx", "parquet", \
"arrow"}, optional
        By default what the suffix says: ``.txt`` XC text, ``.svm`` svmlight, ``.tsv``,
        ``.annif`` or ``.annif.tsv``, ``.jsonl``, ``.npz``, and as tables with the columns ``id``,
        ``text`` and ``labels`` ``.csv``, ``.xlsx``, ``.parquet``, ``.arrow`` or ``.feather``.

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
        from labelspace.data.formats.xc_write import write_xc_text

        write_xc_text(corpus, path, header=name == "xc")
    elif name in ("tsv", "annif"):
        from labelspace.data.formats.tsv import write_tsv

        write_tsv(corpus, path, annif=name == "annif")
    elif name == "jsonl":
        from labelspace.data.formats.jsonl import write_jsonl

        write_jsonl(corpus, path)
    elif name == "npz":
        from labelspace.data.formats.npz import write_npz

        write_npz(corpus, path)
    elif name in ("csv", "xlsx", "parquet", "arrow"):
        from labelspace.data.formats.table_write import write_table

        write_table(corpus, path, name)
    else:
        raise DataError(f'"{name}" is not a format; use one of {", ".join(FORMATS)}.')


def convert(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    format: str | None = None,
    fields: Fields | None = None,
) -> Corpus:
    """Read a corpus and write it in another format or compression; return it.

    ``fields`` say which columns of a table are read.

    Memory holds the corpus once, as CSR (and its texts): rows are read and written as a stream.
    """
    if format is None:
        format_of_name(Path(target))  # before the reading, which may take long
    corpus = read_corpus(source, fields=fields)
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
