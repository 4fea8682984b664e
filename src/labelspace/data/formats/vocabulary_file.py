"""Vocabularies as files: ``labels.txt``, tables with a header, Annif's forms, and SKOS.

::

    key<TAB>name<TAB>other_names<TAB>broader        vocabulary.tsv; several values with | between
    key,name,collections                            CSV; collections with | between, too
    uri,label_de,label_en,notation                  CSV, as Annif has it; a name for each language
    <http://example.org/rose><TAB>rose              Annif's TSV, without a header
    4029582<TAB>rose                                labels.txt

Columns go by their names: ``key`` (or ``uri``, ``id``), ``name`` (or ``label``), ``other_names``,
``broader``, ``collections``; ``name_de`` is a name in German. SKOS is read by rdflib, of the extra
``vocabulary``.
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from labelspace.data.formats.compression import HEAD_SIZE, open_input
from labelspace.data.formats.names import LABELS_FILE, names_beside
from labelspace.errors import DataError
from labelspace.label_collections import CollectionName
from labelspace.vocabulary import Entry, LabelName, Vocabulary

BESIDE = (
    "vocabulary.tsv",
    "vocabulary.csv",
    "vocabulary.ttl",
    "vocabulary.rdf",
    "vocabulary.jsonld",
)

_KEY = ("key", "uri", "id", "identifier")
_NAME = ("name", "label", "preflabel", "preferred")
_OTHER = ("othernames", "othername", "altlabel", "synonyms", "notation")
_BROADER = ("broader", "parents", "parent")
_COLLECTIONS = ("collections", "collection", "groups", "group")
_RDF = {"ttl": "turtle", "nt": "turtle", "n3": "n3", "jsonld": "json-ld", "json": "json-ld"}
_RDF |= {"rdf": "xml", "xml": "xml", "owl": "xml", "skos": "xml"}
_SUBJECT = re.compile(r"<([^<>\s]+)>")


def read_vocabulary(path: str | os.PathLike[str]) -> Vocabulary:
    """Read a vocabulary, plain or compressed; what it is, is told by its content and ending.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "vocabulary.tsv")
    ...     _ = path.write_text("key\\tname\\tother_names\\ng1\\trose\\tdog rose|tea\\n")
    ...     vocabulary = read_vocabulary(path)
    >>> vocabulary.key(0), [name.text for name in vocabulary.names_of(0)]
    ('g1', ['rose', 'dog rose', 'tea'])
    """
    path = Path(path)
    with open_input(path) as stream:
        head = stream.peek(HEAD_SIZE)
        if (kind := _rdf_format(head, path)) is not None:
            from labelspace.data.formats.skos import read_skos

            entries: Iterable[Entry] = read_skos(stream, path, kind)
        else:
            entries = _table_entries(stream, path, head)
        vocabulary = Vocabulary(entries, str(path))
    if not len(vocabulary):
        raise DataError(f"{path} has no labels: give a vocabulary with at least one.")
    return vocabulary


def is_vocabulary_name(path: Path) -> bool:
    """Return whether a file is called as vocabularies are, such as ``terms.ttl``.

    >>> is_vocabulary_name(Path("terms.rdf.gz")), is_vocabulary_name(Path("train.json"))
    (True, False)
    """
    endings = {ending.removeprefix(".").lower() for ending in path.suffixes[-2:]}
    return path.name in BESIDE or bool(endings & (_RDF.keys() - {"json", "xml"}))


class FoundVocabulary(NamedTuple):
    """What a corpus's labels are called, and the key of each column where a file has them."""

    vocabulary: Vocabulary | None
    label_keys: list[str] | None


def vocabulary_for(
    corpus: Path,
    label_names: Sequence[str] | None,
    given: Path | None = None,
    keys: list[str] | None = None,
) -> FoundVocabulary:
    """Return the vocabulary of a corpus: the given one, one beside it, or its ``labels.txt``.

    ``label_names`` are the names of the corpus's columns: where they are the lines of
    ``labels.txt``, its keys are those of the columns, unless the corpus has ``keys`` itself.
    """
    folder = corpus if corpus.is_dir() else corpus.parent
    source = f"{corpus}"
    lines = None if keys is not None else names_beside(folder / corpus.name, LABELS_FILE)
    if lines is not None:
        keys, source = lines.keys_of(label_names), str(lines.path)
    if given is None:
        given = next((folder / name for name in BESIDE if (folder / name).is_file()), None)
        if given is not None and given.name == corpus.name:
            given = None
    if given is not None:
        return FoundVocabulary(read_vocabulary(given), keys)
    if keys is None or label_names is None:
        return FoundVocabulary(None, None)
    n_lines = len(keys) if lines is None else len(lines.names)
    named = zip(keys[:n_lines], label_names[:n_lines], strict=True)
    entries = (Entry(key, [LabelName(name)]) for key, name in named)
    return FoundVocabulary(Vocabulary(entries, source), keys)


def _rdf_format(head: bytes, path: Path) -> str | None:
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:2000].decode("utf-8", "replace")
    if start.startswith(("<?xml", "<rdf:RDF", "<!DOCTYPE")):
        return "xml"
    if start.startswith(("{", "[")):
        return "json-ld"
    endings = [ending.removeprefix(".").lower() for ending in path.suffixes[-2:]]
    by_name = next((_RDF[ending] for ending in reversed(endings) if ending in _RDF), None)
    if by_name in ("turtle", "n3") or re.match(r"(?i)@?(prefix|base)\s", start):
        return by_name or "turtle"
    return None


def _table_entries(stream: io.BufferedReader, path: Path, head: bytes) -> Iterator[Entry]:
    lines = io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")
    try:
        first = head.removeprefix(b"\xef\xbb\xbf").split(b"\n", 1)[0].decode("utf-8", "replace")
        delimiter = max("\t;,", key=first.count) if "\t" not in first else "\t"
        if delimiter == "\t":
            rows = csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE)
        else:
            rows = csv.reader(lines, delimiter=delimiter)
        columns = _Columns.of(next(iter(csv.reader([first.strip("\r")], delimiter=delimiter)), []))
        if columns is None:
            yield from _without_header(rows, path, first)
        else:
            next(rows, None)
            yield from _with_header(rows, columns, path)
    except UnicodeDecodeError:
        raise DataError(f"{path} is not UTF-8: save the vocabulary as UTF-8.") from None
    except csv.Error as error:
        raise DataError(f"{path} cannot be read as a table ({error}): mend it.") from None
    finally:
        lines.detach()


class _Columns(NamedTuple):
    """Which columns of a table hold what; names with their languages."""

    key: int
    names: list[tuple[int, str]]
    others: list[tuple[int, str]]
    broader: list[int]
    collections: list[int]

    @staticmethod
    def of(header: Sequence[str]) -> _Columns | None:
        """Return the columns of a header; None if it is no header."""
        said = [_said(cell) for cell in header]
        keys = sorted((_KEY.index(word), at) for at, (word, _) in enumerate(said) if word in _KEY)
        names = [(at, language) for at, (word, language) in enumerate(said) if word in _NAME]
        if not keys or not names:
            return None
        others = [(at, language) for at, (word, language) in enumerate(said) if word in _OTHER]
        broader = [at for at, (word, _) in enumerate(said) if word in _BROADER]
        collections = [at for at, (word, _) in enumerate(said) if word in _COLLECTIONS]
        return _Columns(keys[0][1], names, others, broader, collections)


def _said(cell: str) -> tuple[str, str]:
    """Return what a header says, and the language after it.

    >>> _said("other_names"), _said("label_de"), _said("altLabel@en-GB")
    (('othernames', ''), ('label', 'de'), ('altlabel', 'en-gb'))
    """
    word = cell.strip().lower()
    found = re.fullmatch(r"(.*?)[_@:]([a-z]{2,3}(?:-[a-z0-9]+)*)", word)
    known = {*_NAME, *_OTHER}
    if found and re.sub(r"[_\s-]", "", found[1]) in known:
        return re.sub(r"[_\s-]", "", found[1]), found[2]
    return re.sub(r"[_\s-]", "", word), ""


def _with_header(rows: Iterable[list[str]], columns: _Columns, path: Path) -> Iterator[Entry]:
    for number, cells in enumerate(rows, 2):
        if not any(cell.strip() for cell in cells):
            continue
        cell = dict(enumerate(cell.strip() for cell in cells))
        if not cell.get(columns.key):
            raise DataError(f"{path}, line {number}: there is no key; give each label one.")
        names = [LabelName(cell[at], language) for at, language in columns.names if cell.get(at)]
        for at, language in columns.others:
            names += [LabelName(name, language, False) for name in _several(cell.get(at, ""))]
        broader = [one for at in columns.broader for one in _several(cell.get(at, ""))]
        groups = [one for at in columns.collections for one in _several(cell.get(at, ""))]
        collections = [CollectionName(_bare(one)) for one in groups]
        yield Entry(_bare(cell[columns.key]), names, [_bare(one) for one in broader], collections)


def _without_header(rows: Iterable[list[str]], path: Path, first: str) -> Iterator[Entry]:
    """Yield labels of ``key<TAB>name`` lines, or of names only."""
    if "\t" not in first and re.search("[,;]", first):
        raise DataError(
            f"{path} begins with '{first[:60]}', which says not what its columns are: begin with "
            "a line such as key,name,other_names,broader."
        )
    for cells in rows:
        key, *rest = [cell.strip() for cell in cells] or [""]
        name = rest[0] if rest and rest[0] else _bare(key)
        if key:
            yield Entry(_bare(key), [LabelName(name)])


def _several(cell: str) -> list[str]:
    return [part.strip() for part in cell.split("|") if part.strip()]


def _bare(key: str) -> str:
    """Return a key without the angle brackets that Annif writes around it."""
    found = _SUBJECT.fullmatch(key)
    return found[1] if found else key
