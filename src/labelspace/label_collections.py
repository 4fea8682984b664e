"""Collections of a vocabulary's labels, such as "places" or "children's books"."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.store import Storable, schema


class CollectionName(NamedTuple):
    """A collection: its key, and what it is called where that is something else."""

    key: str
    name: str = ""


class LabelCollections(Storable):
    """Which labels belong together, by the key or the name of a collection.

    Parameters
    ----------
    members : iterable of (CollectionName, int)
        Collections, each with the place of a label in the vocabulary.
    n_entries : int
        Labels of the vocabulary.

    Examples
    --------
    >>> places = CollectionName("c1", "places")
    >>> collections = LabelCollections([(places, 2), (places, 0)], n_entries=3)
    >>> collections.find("places"), collections.find("people")
    (array([0, 2]), None)
    """

    _schema: ClassVar[schema.Schema] = {
        "keys": schema.list_of(schema.text, length="n_collections"),
        "names": schema.list_of(schema.text, length="n_collections"),
        "members": schema.csr("float32", "n_collections", "n_entries"),
    }

    def __init__(self, members: Iterable[tuple[CollectionName, int]], n_entries: int) -> None:
        number: dict[str, int] = {}
        called: list[str] = []
        rows, columns = [], []
        for collection, entry in members:
            row = number.setdefault(collection.key, len(number))
            if row == len(called):
                called.append(collection.name)
            rows.append(row)
            columns.append(entry)
        self.keys, self.names = list(number), called
        ones = np.ones(len(rows), dtype=np.float32)
        self.members = csr_matrix((ones, (rows, columns)), shape=(len(number), n_entries))
        self.members.sum_duplicates()
        self.members.data[:] = 1.0

    def find(self, collection: str) -> NDArray[np.int64] | None:
        """Return the places of a collection's labels; None where there is no such collection."""
        rows = [at for at, key in enumerate(self.keys) if key == collection]
        rows = rows or [at for at, name in enumerate(self.names) if name == collection]
        if not rows:
            return None
        return np.unique(self.members[rows].indices).astype(np.int64)
