"""Rules about which labels are given at all: single labels, patterns, collections, branches.

A rule is a label (column, key, name, or ``name <key>``), or one of::

    pattern:http://example.org/places/*     keys and names that fit; * is anything, ? a character
    collection:places                       members of a collection of the vocabulary
    below:plant                             a label and all that are narrower

A label that is itself called ``pattern:x`` is found as a label.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from fnmatch import translate
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from labelspace.errors import UnknownLabel, UsageError
from labelspace.label_catalog import LabelCatalog
from labelspace.vocabulary import NOT_THERE

Rule = int | str


def columns_of(rules: Iterable[Rule], catalog: LabelCatalog, what: str = "allow") -> frozenset[int]:
    """Return the columns that rules speak of; one that speaks of no label is an error.

    Examples
    --------
    >>> from labelspace.labels import LabelEncoder
    >>> labels = LabelEncoder()
    >>> _ = labels.learn([["city: Bern", "city: Rome", "rose"]])
    >>> sorted(columns_of(["pattern:City:*", "rose"], LabelCatalog(labels)))
    [0, 1, 2]
    """
    if isinstance(rules, str):
        raise UsageError(f"{what} is a text where labels are needed: write [{rules[:80]!r}].")
    found: set[int] = set()
    for rule in dict.fromkeys(rules):
        found |= _columns_of(rule, catalog)
    return frozenset(found)


def excluded_columns(
    catalog: LabelCatalog, allow: Iterable[Rule] | None, exclude: Iterable[Rule] = ()
) -> frozenset[int]:
    """Return the columns that are not given by rules of both kinds."""
    excluded = columns_of(exclude, catalog, "exclude")
    if allow is None:
        return excluded
    return excluded | (frozenset(range(catalog.labels.n_labels)) - columns_of(allow, catalog))


def without_columns(Y: csr_matrix, excluded: Iterable[int]) -> csr_matrix:
    """Return rows of labels without those that are excluded; their columns stay, and are empty."""
    gone = np.zeros(Y.shape[1], dtype=bool)
    gone[[column for column in excluded if column < Y.shape[1]]] = True
    if not gone.any():
        return Y
    kept = ~gone[Y.indices]
    ends = np.concatenate(([0], np.cumsum(kept)))[Y.indptr]
    return csr_matrix((Y.data[kept], Y.indices[kept], ends), shape=Y.shape)


def is_searched(rule: Rule) -> bool:
    """Return whether all labels may have to be gone through to find those of a rule.

    >>> is_searched("pattern:city*"), is_searched("city"), is_searched(3)
    (True, False, False)
    """
    return isinstance(rule, str) and rule.partition(":")[0] in _KINDS


def _columns_of(rule: Rule, catalog: LabelCatalog) -> frozenset[int]:
    kind, _, rest = rule.partition(":") if isinstance(rule, str) else ("", "", "")
    find = _KINDS.get(kind)
    if find is None or catalog.knows(rule):
        return catalog.columns([rule])
    return find(rest.strip(), catalog)


def _of_pattern(pattern: str, catalog: LabelCatalog) -> frozenset[int]:
    fits = re.compile(translate(pattern.casefold())).match
    columns = range(catalog.labels.n_labels)
    found = frozenset(column for column in columns if _fits(fits, column, catalog))
    known = catalog.labels.vocabulary
    if not found and not (
        known is not None and any(fits(key.casefold()) for key in known.vocabulary.keys)
    ):
        raise UnknownLabel(
            f"No label fits the pattern '{pattern[:80]}': * stands for anything, ? for a character."
        )
    return found


def _fits(fits: Callable[[str], Any], column: int, catalog: LabelCatalog) -> bool:
    names = catalog.all_names(column)
    key = catalog.key(column)
    return any(fits(name.casefold()) for name in (names if key is None else [key, *names]))


def _of_collection(collection: str, catalog: LabelCatalog) -> frozenset[int]:
    known = catalog.labels.vocabulary
    collections = None if known is None else known.vocabulary.collections
    members = None if collections is None else collections.find(collection)
    if known is None or collections is None or members is None:
        have = [] if collections is None else collections.keys
        told = ", ".join(have[:8]) + (", …" if len(have) > 8 else "")
        raise UnknownLabel(
            f"There is no collection '{collection[:80]}' in the vocabulary: "
            + (f"it has {told}." if told else "it has none.")
        )
    columns = known.column_of[members]
    return frozenset(columns[columns != NOT_THERE].tolist())


def _of_branch(label: str, catalog: LabelCatalog) -> frozenset[int]:
    catalog.check_broader("hide")  # says that there are no broader labels, where there are none
    above = catalog.find(label)
    if above is None:
        raise UnknownLabel(
            f"There is no label '{label[:80]}' that others could be below: give a key or a name "
            "that the model knows."
        )
    columns = range(catalog.labels.n_labels)
    return frozenset([above, *(one for one in columns if above in catalog.ancestors(one))])


_KINDS = {"pattern": _of_pattern, "collection": _of_collection, "below": _of_branch}
