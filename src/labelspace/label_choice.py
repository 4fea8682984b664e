"""Which labels of a ranking are given: how many, how good, which ones at all, and their names."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from labelspace.label_catalog import LabelCatalog
from labelspace.topk import TopK


class LabelChoice(NamedTuple):
    """Which labels of a ranking are given, and what they are called.

    ``least`` is the score that they need, and ``own`` that of single columns; ``broader`` is as for
    ``LabelCatalog.choose``; of the columns only those in ``allowed`` are given, where it is not
    None, and none in ``excluded``.

    Examples
    --------
    >>> import numpy as np
    >>> from labelspace.labels import LabelEncoder
    >>> labels = LabelEncoder()
    >>> _ = labels.learn([["blue", "green", "red"]])
    >>> choice = LabelChoice(LabelCatalog(labels), k=1, excluded=frozenset([2]))
    >>> choice.n_ranked, choice.given(TopK(np.array([[2, 0]]), np.array([[0.9, 0.5]])), 0)
    (2, [(0, 0.5)])
    """

    catalog: LabelCatalog
    k: int
    least: float | None = None
    language: str | None = None
    broader: str = "keep"
    allowed: frozenset[int] | None = None
    excluded: frozenset[int] = frozenset()
    own: Mapping[int, float] = {}

    @property
    def n_ranked(self) -> int:
        """How many labels have to be ranked."""
        if self.allowed is not None:
            return max(1, self.catalog.labels.n_labels)  # an allowed one may be ranked anywhere
        # What the model learned without has no evidence, and no place in a ranking.
        n_excluded = len(self.excluded) - len(self.catalog.labels.excluded)
        return self.catalog.n_ranked(self.k, self.broader) + n_excluded + len(self.own)

    def given(self, top: TopK, row: int) -> list[tuple[int, float]]:
        """Return the columns of the labels that a row is given, with their scores."""
        return self.of_ranked(self.good_enough(top.given(row, None if self.own else self.least)))

    def good_enough(self, ranked: Iterable[tuple[int, float]]) -> Iterator[tuple[int, float]]:
        """Yield the columns whose score is what they need."""
        least = -math.inf if self.least is None else self.least
        return (pair for pair in ranked if pair[1] >= self.own.get(pair[0], least))

    def of_ranked(self, ranked: Iterable[tuple[int, float]]) -> list[tuple[int, float]]:
        """Return what is given of columns and scores, best first, that are good enough."""
        wanted = (pair for pair in ranked if self.takes(pair[0]))
        found = self.catalog.choose(wanted, self.k, self.broader)
        return [pair for pair in found if self.takes(pair[0])]  # what is broader came with others

    def takes(self, label: int) -> bool:
        """Return whether a label may be given at all."""
        return label not in self.excluded and (self.allowed is None or label in self.allowed)

    def about(self, label: int) -> dict[str, Any]:
        """Return number, key and name of a label, as far as it has them, for JSON and tables."""
        told: dict[str, Any] = {"label": label}
        if (key := self.catalog.key(label)) is not None:
            told["key"] = key
        if self.catalog.labels.names is not None:
            told["name"] = self.catalog.name(label, self.language)
        return told

    def settings(self) -> dict[str, Any]:
        """Return all but the labels themselves, ready for JSON."""
        told = {**self._asdict(), "excluded": sorted(self.excluded)}
        told["allowed"] = None if self.allowed is None else sorted(self.allowed)
        told["own"] = sorted(self.own.items())
        del told["catalog"]
        return told
