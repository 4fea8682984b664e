"""A vocabulary: what labels are called, by key, in several languages, and what is broader.

A label has a key (an id or a URI), preferred and other names, each in a language or in none, and
broader labels. A vocabulary may have millions of them, so that it keeps no object for each: texts
stand in one block of UTF-8 with the place where each ends, and are found by sorted checksums. A
model folder maps all of it into memory.
"""

from __future__ import annotations

import warnings
import zlib
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.errors import DataError, LabelspaceWarning, UsageError, shortened
from labelspace.label_collections import CollectionName, LabelCollections
from labelspace.store import Storable, schema

NOT_THERE = -1


class LabelName(NamedTuple):
    """A name of a label; ``language`` is "" where it is not said."""

    text: str
    language: str = ""
    preferred: bool = True


class Entry(NamedTuple):
    """A label as a file gives it; ``broader`` are keys, or names where only one label has them."""

    key: str
    names: Sequence[LabelName] = ()
    broader: Sequence[str] = ()
    collections: Sequence[CollectionName] = ()


class Vocabulary(Storable):
    """Labels with their keys, names and broader labels; each is known by its place, from 0.

    Parameters
    ----------
    entries : iterable of Entry
        Gone through once.
    source : str, default="The vocabulary"
        What messages call it, such as the name of the file.

    Attributes
    ----------
    keys : Strings
    names : Strings
        All names, label after label.
    languages : list of str
        Languages of the names, the one with most preferred names first.
    broader : csr_matrix of shape (n_entries, n_entries)
        Row by row the labels directly above each.
    collections : LabelCollections, or None

    Examples
    --------
    >>> vocabulary = Vocabulary(
    ...     [
    ...         Entry("g1", [LabelName("Pflanze", "de"), LabelName("plant", "en")]),
    ...         Entry("g2", [LabelName("Rose", "de"), LabelName("rose", "en")], ["g1"]),
    ...     ]
    ... )
    >>> vocabulary.find("rose"), vocabulary.name(1, "de"), vocabulary.ancestors(1)
    ([1], 'Rose', [0])
    """

    _schema: ClassVar[schema.Schema] = {
        "keys": schema.part("Strings", n_texts="n_entries"),
        "names": schema.part("Strings", n_texts="n_names"),
        "languages": schema.names("n_languages"),
        "_name_begins": schema.offsets("n_entries", "n_names"),
        "_preferred": schema.array("bool", "n_names"),
        "_language": schema.array("int32", "n_names", low=0, below="n_languages"),
        "default_language": schema.optional(schema.text),
        "broader": schema.csr("float32", "n_entries", "n_entries"),
        "collections": schema.maybe(schema.part("LabelCollections", n_entries="n_entries")),
    }
    collections: LabelCollections | None = None

    def __init__(self, entries: Iterable[Entry], source: str = "The vocabulary") -> None:
        keys, names, above = _StringsWriter(), _StringsWriter(), _StringsWriter()
        counts, above_counts = array("q", [0]), array("q", [0])
        numbers: dict[str, int] = {}
        languages, preferred = array("i"), array("b")
        members: list[tuple[CollectionName, int]] = []
        for entry in entries:
            keys.append(entry.key)
            for name in entry.names:
                names.append(name.text)
                languages.append(numbers.setdefault(name.language.lower(), len(numbers)))
                preferred.append(name.preferred)
            for other in entry.broader:
                above.append(other)
            members += [(collection, len(keys) - 1) for collection in entry.collections]
            counts.append(len(names))
            above_counts.append(len(above))
        self.keys, self.names = Strings(keys), Strings(names)
        self._name_begins = np.array(counts, dtype=np.int64)
        self._preferred = np.array(preferred, dtype=np.bool_)
        order = Counter(np.array(languages)[self._preferred].tolist())
        by_use = sorted(numbers, key=lambda one: -order[numbers[one]])
        rank = np.argsort([numbers[one] for one in by_use])
        self.languages = by_use
        self._language = rank[np.array(languages, dtype=np.int64)].astype(np.int32)
        self.default_language: str | None = None
        self._check_keys(source)
        self.broader = self._resolved(Strings(above), np.array(above_counts), source)
        if members:
            self.collections = LabelCollections(members, len(self))

    def __len__(self) -> int:
        return len(self.keys)

    def key(self, entry: int) -> str:
        """Return the key of a label."""
        return self.keys[entry]

    def names_of(self, entry: int) -> list[LabelName]:
        """Return all names of a label."""
        begin, end = self._name_begins[entry : entry + 2].tolist()
        return [
            LabelName(self.names[at], self.languages[self._language[at]], bool(self._preferred[at]))
            for at in range(begin, end)
        ]

    def name(self, entry: int, language: str | None = None) -> str:
        """Return the name in a language if there is one, else the best other, else the key."""
        wanted = [one for one in (language, self.default_language) if one]
        found = self.names_of(entry)
        if not found:
            return self.key(entry)
        best = min(found, key=lambda one: (self._distance(one.language, wanted), -one.preferred))
        return best.text

    def check_language(self, language: str | None) -> str | None:
        """Return a language as it was given; one that no name is in is an error."""
        if language is None or any(_alike(language, one) is not None for one in self.languages):
            return language
        have = ", ".join(one for one in self.languages if one) or "none that is said"
        raise UsageError(f"The vocabulary has no names in '{language[:40]}': it has {have}.")

    def find(self, text: str) -> list[int]:
        """Return the labels with this key, or else with this preferred name, or else this name."""
        by_key = self.keys.find(text)
        if by_key:
            return by_key
        found = np.array(self.names.find(text), dtype=np.int64)
        if not found.size:
            return []
        best = found[self._preferred[found]]
        at = np.searchsorted(self._name_begins, best if best.size else found, side="right") - 1
        return np.unique(at).tolist()

    def match(self, names: Iterable[str]) -> NDArray[np.int64]:
        """Return the label that each name (or key) is of; -1 where there is none, -2 if several."""
        found = (self.find(name) for name in names)
        return np.fromiter(
            (one[0] if len(one) == 1 else -min(2, len(one) + 1) for one in found), dtype=np.int64
        )

    def coverage(self, names: Iterable[str]) -> dict[str, int]:
        """Return how many of these names (or keys) are labels here, and how many are several."""
        found = self.match(names)
        told = {"n_labels": len(self), "n_found": int((found >= 0).sum())}
        told["n_not_found"] = int((found == NOT_THERE).sum())
        return told | {"n_ambiguous": int((found < NOT_THERE).sum())}

    def ancestors(self, entry: int) -> list[int]:
        """Return all labels above a label, the nearest first; in a circle, none is above itself."""
        seen = {entry: None}
        waiting = [entry]
        while waiting:
            level = [above for one in waiting for above in self._above(one)]
            waiting = [one for one in dict.fromkeys(level) if one not in seen]
            seen.update(dict.fromkeys(waiting))
        return list(seen)[1:]

    def _above(self, entry: int) -> list[int]:
        begin, end = self.broader.indptr[entry : entry + 2]
        return self.broader.indices[begin:end].tolist()

    def _distance(self, language: str, wanted: list[str]) -> tuple[int, int]:
        """Return how far a name's language is from those that are wanted, best first."""
        for rank, one in enumerate(wanted):
            if (alike := _alike(one, language)) is not None:
                return rank, alike
        if not language:
            return len(wanted), 0
        return len(wanted) + 1, self.languages.index(language)

    def _check_keys(self, source: str) -> None:
        if (at := self.keys.first_repeated()) is not None:
            raise DataError(
                f"{source} has the key '{shortened(self.keys[at])}' twice: give each label its own."
            )
        for at in np.flatnonzero(self.keys.lengths() == 0)[:1].tolist():
            raise DataError(f"{source} has no key for label {at + 1}: give each label one.")

    def _resolved(self, above: Strings, begins: NDArray[np.int64], source: str) -> csr_matrix:
        columns = np.empty(len(above), dtype=np.int64)
        for at, key in enumerate(above):
            found = self.find(key)
            columns[at] = found[0] if len(found) == 1 else NOT_THERE
        unknown = np.flatnonzero(columns == NOT_THERE)
        if unknown.size:
            warnings.warn(
                f"{source} names {unknown.size:,} broader labels that it does not have (or has "
                f"several of), such as '{above[int(unknown[0])][:80]}'; they are left out.",
                LabelspaceWarning,
                stacklevel=4,
            )
        rows = np.repeat(np.arange(len(self)), np.diff(begins))
        good = (columns != NOT_THERE) & (columns != rows)
        ones = np.ones(int(good.sum()), dtype=np.float32)
        broader = csr_matrix((ones, (rows[good], columns[good])), shape=(len(self), len(self)))
        broader.sum_duplicates()
        broader.data[:] = 1.0
        return broader


class Strings(Storable):
    """Many texts as two arrays, and a third to find them by.

    Examples
    --------
    >>> strings = Strings(["red", "green", "red"])
    >>> len(strings), strings[1], strings.find("red"), strings.find("blue")
    (3, 'green', [0, 2], [])
    """

    _schema: ClassVar[schema.Schema] = {
        "_block": schema.array("uint8", "n_bytes"),
        "_ends": schema.offsets("n_texts", "n_bytes"),
        "_order": schema.array("int64", "n_texts", low=0, below="n_texts"),
        "_codes": schema.array("uint32", "n_texts"),
    }

    def __init__(self, texts: Iterable[str] | _StringsWriter) -> None:
        writer = texts if isinstance(texts, _StringsWriter) else _StringsWriter(texts)
        self._block = np.frombuffer(bytes(writer.block), dtype=np.uint8)
        self._ends = np.array(writer.ends, dtype=np.int64)
        codes = np.array(writer.codes, dtype=np.uint32)
        self._order = np.argsort(codes, kind="stable")
        self._codes = codes[self._order]

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __getitem__(self, at: int) -> str:
        return self._block[self._ends[at] : self._ends[at + 1]].tobytes().decode(errors="replace")

    def __iter__(self) -> Iterator[str]:
        return (self[at] for at in range(len(self)))

    def lengths(self) -> NDArray[np.int64]:
        """Return the bytes of each text."""
        return np.diff(self._ends)

    def find(self, text: str) -> list[int]:
        """Return where a text stands, in ascending order."""
        code = np.uint32(_code(_encoded(text)))
        begin, end = (int(np.searchsorted(self._codes, code, side=s)) for s in ("left", "right"))
        return sorted(at for at in self._order[begin:end].tolist() if self[at] == text)

    def first_repeated(self) -> int | None:
        """Return where a text stands that is there more than once; None if there is none."""
        for at in np.flatnonzero(self._codes[1:] == self._codes[:-1]).tolist():
            text = self[int(self._order[at])]
            if len(self.find(text)) > 1:
                return int(self._order[at])
        return None


class _StringsWriter:
    """Takes texts one by one, without an object for each."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self.block = bytearray()
        self.ends = array("q", [0])
        self.codes = array("I")
        for text in texts:
            self.append(text)

    def __len__(self) -> int:
        return len(self.codes)

    def append(self, text: str) -> None:
        encoded = _encoded(text)
        self.block += encoded
        self.ends.append(len(self.block))
        self.codes.append(_code(encoded))


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _code(encoded: bytes) -> int:
    return zlib.crc32(encoded)


def _alike(wanted: str, language: str) -> int | None:
    """Return 0 for the same language, 1 for one with or without its region, else None.

    >>> _alike("de", "de"), _alike("de-AT", "de"), _alike("de", "de-at"), _alike("de", "en")
    (0, 1, 1, None)
    """
    wanted, language = wanted.lower(), language.lower()
    if wanted == language:
        return 0
    same = bool(language) and wanted.partition("-")[0] == language.partition("-")[0]
    return 1 if same else None
