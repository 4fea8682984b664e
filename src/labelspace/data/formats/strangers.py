"""Files that are no corpus: what they are, in a sentence, instead of a complaint about a byte."""

from __future__ import annotations

from pathlib import Path

from labelspace.errors import DataError

_AS_TABLE = "save it as .csv or .xlsx"
_MAGIC: tuple[tuple[bytes, str, str], ...] = (
    (b"%PDF", "a PDF document", "take its text out first, into a table with a row per document"),
    (b"\xd0\xcf\x11\xe0", "an Excel file of before 2007, or an old Word file", _AS_TABLE),
    (b"{\\rtf", "a Rich Text document", _AS_TABLE),
    (b"SQLite format 3", "a SQLite database", "export the table as .csv"),
    (b"\x89HDF", "an HDF5 file", "write its table as .parquet or .csv"),
    (b"\x89PNG", "a picture", "give a corpus of text or features"),
    (b"\xff\xd8\xff", "a picture", "give a corpus of text or features"),
    (b"GIF8", "a picture", "give a corpus of text or features"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstandard", "unpack it, or compress it with gzip or xz"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", "unpack it and give one of the files in it"),
    (b"Rar!", "a RAR archive", "unpack it and give one of the files in it"),
    (b"ORC", "an ORC file", "write its table as .parquet"),
    (b"Obj\x01", "an Avro file", "write its table as .parquet"),
    (b"\x93NUMPY", "a single NumPy array", "write a corpus as .npz, with labelspace.write_corpus"),
    (b"\x80\x04\x95", "a Python pickle", "write its table as .parquet or .csv"),
    (b"\x80\x05\x95", "a Python pickle", "write its table as .parquet or .csv"),
    (b"\x80\x03", "a Python pickle", "write its table as .parquet or .csv"),
)
_MARKUP = (
    (b"<!doctype html", "an HTML page", "take its text out first, into a table"),
    (b"<html", "an HTML page", "take its text out first, into a table"),
    (b"<rdf:rdf", "RDF, such as a vocabulary", "give it as --vocabulary, beside a corpus"),
    (b"@prefix", "Turtle, such as a vocabulary", "give it as --vocabulary, beside a corpus"),
    (b"<?xml", "an XML document", "take out what is needed, into a table"),
)
_ZIPPED = (
    (b"word/", "a Word document", _AS_TABLE),
    (b"ppt/", "a PowerPoint document", _AS_TABLE),
    (b"opendocument.spreadsheet", "an OpenDocument spreadsheet", _AS_TABLE),
    (b"opendocument", "an OpenDocument file", _AS_TABLE),
    (b"epub", "an e-book", "take its text out first, into a table"),
)


def refuse_strangers(head: bytes, path: Path) -> None:
    """Raise with what the file is, if its first bytes tell that it is no corpus.

    Examples
    --------
    >>> refuse_strangers(b"%PDF-1.7 and so on", Path("a.csv"))
    Traceback (most recent call last):
    labelspace.errors.DataError: a.csv is a PDF document; take its text out first, ...
    """
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:64].lower()
    for magic, what, remedy in _MAGIC:
        if head.startswith(magic):
            raise _stranger(path, what, remedy)
    for magic, what, remedy in _MARKUP:
        if start.startswith(magic):
            raise _stranger(path, what, remedy)
    if head[257:262] == b"ustar":
        raise _stranger(path, "a tar archive", "unpack it and give one of the files in it")


def zip_kind(head: bytes, path: Path) -> str:
    """Return what a zip archive is, by the names at its beginning: "xlsx" or "npz"."""
    if b".npy" in head[:4096]:
        return "npz"
    for mark, what, remedy in _ZIPPED:
        if mark in head:
            raise _stranger(path, what, remedy)
    if b"xl/" in head or b"[Content_Types].xml" in head:
        return "xlsx"
    if len(head) > 30 and b"/" in head[30:200]:
        raise _stranger(path, "a zip archive", "unpack it and give one of the files in it")
    return "npz"


def _stranger(path: Path, what: str, remedy: str) -> DataError:
    return DataError(f"{path} is {what}; {remedy}.")
