"""Annif's full-text folders: a ``.txt`` file per document, its subjects in ``.key`` or ``.tsv``.

::

    1.txt    the text
    1.tsv    <http://example.org/roses><TAB>roses     a subject per line: its URI, its name
    1.key    roses                                    or its name alone

The subject is the URI where there is one. Annif's CSV is a table like any other (columns ``text``
and ``subject_uris``), and its short TSV is in ``tsv``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from labelspace.data.formats.encoding import encoding_by_mark
from labelspace.data.formats.table import Table
from labelspace.errors import DataError

_NOT_DOCUMENTS = {"labels.txt", "features.txt"}


class AnnifFolder(Table):
    """A folder of documents as a table: name of the file, text, subjects."""

    place = "document"
    has_fixed_columns = True

    def __init__(self, path: Path) -> None:
        self.path = path
        self.how = "folder of documents (Annif)"
        self.columns = ["document_id", "text", "subjects"]
        self._documents = documents_in(path)
        self.n_rows = len(self._documents)
        if not self._documents:
            raise DataError(
                f"{path} is a folder without documents; give a corpus file, or a folder with "
                ".txt files and their subjects in .key or .tsv files beside them."
            )

    def rows(self) -> Iterator[tuple[int, Sequence[Any]]]:
        for number, document in enumerate(self._documents, 1):
            yield number, (document.stem, _content(document), _subjects(document))


def documents_in(folder: Path) -> list[Path]:
    """Return the documents of a folder by name; none if no document has subjects beside it."""
    documents = sorted(
        path for path in folder.glob("*.txt") if path.name not in _NOT_DOCUMENTS and path.is_file()
    )
    has_subjects = any(
        document.with_suffix(suffix).is_file() for document in documents for suffix in _SUFFIXES
    )
    others = any((folder / name).exists() for name in _NOT_DOCUMENTS)
    return documents if has_subjects or not others else []


_SUFFIXES = (".tsv", ".key")


def _content(path: Path) -> str:
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror}); leave it out.") from None
    encoding = encoding_by_mark(raw[:4]) or "utf-8"
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError:
        raise DataError(f"{path} is not UTF-8; save it as UTF-8.") from None


def _subjects(document: Path) -> list[str]:
    """Return the subjects of a document, by URI where the file beside it has them."""
    with_uris = document.with_suffix(".tsv")
    if with_uris.is_file():
        subjects = []
        for number, line in enumerate(_content(with_uris).splitlines(), 1):
            uri = line.partition("\t")[0].strip()
            if not line.strip():
                continue
            if not (uri.startswith("<") and uri.endswith(">") and len(uri) > 2):
                raise DataError(
                    f'{with_uris}, line {number}: "{uri[:40]}" is no subject; write <uri>, a tab, '
                    "and its name."
                )
            subjects.append(uri[1:-1])
        return subjects
    names = document.with_suffix(".key")
    if not names.is_file():
        return []
    return [line.strip() for line in _content(names).splitlines() if line.strip()]
