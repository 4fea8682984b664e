"""Search, nearest labels and the map, made when first asked for and kept until labels change.

Making them reads the model while it may be learning, so what they need is taken from it on the
model's own thread; the work itself is done on another, one at a time.
"""

from __future__ import annotations

import asyncio
import gzip
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelspace.label_layout import regions_of
from labelspace.label_map import LabelMap, Relations, label_map, label_profiles
from labelspace.server.batcher import Batcher
from labelspace.server.label_search import LabelSearch
from labelspace.server.served import Served
from labelspace.server.tagging import to_json

# Learning changes counts and relations a little with every row; they are made again after this
# share of new rows, or with the first new label.
STALE_SHARE = 0.01


@dataclass
class _Made:
    served: Served
    names: list[str]
    counts: NDArray[np.int64]
    n_examples: int
    search: LabelSearch | None = None
    relations: Relations | None = None
    map: LabelMap | None = None


class LabelIndex:
    """What can be asked about the labels of the model that a batcher has."""

    def __init__(self, batcher: Batcher) -> None:
        self._batcher = batcher
        self._made: _Made | None = None
        self._maps: dict[int, tuple[_Made, bytes]] = {}
        self._turn = asyncio.Lock()

    async def find(self, query: str, limit: int, offset: int) -> dict[str, Any]:
        """Return labels by name, with their frequency and nearest labels."""
        made = await self._current()
        assert made.search is not None
        found = await asyncio.to_thread(made.search.find, query)
        page = found[offset : offset + limit]
        return {"total": len(found), "labels": [_found(made, label) for label in page]}

    async def map(self, limit: int) -> bytes:
        """Return the map of the most frequent labels, as gzipped JSON."""
        made = await self._current()
        limit = min(limit, len(made.names))
        kept = self._maps.get(limit)
        if kept is None or kept[0] is not made:
            kept = made, await asyncio.to_thread(_map_json, made, limit)
            if len(self._maps) > 8:
                self._maps.clear()
            self._maps[limit] = kept
        return kept[1]

    async def _current(self) -> _Made:
        if self._is_fresh():
            assert self._made is not None
            return self._made
        async with self._turn:
            if not self._is_fresh():
                made, profiles = await self._batcher.call(_taken)
                await asyncio.to_thread(_make, made, profiles)
                self._made = made
            assert self._made is not None
            return self._made

    def _is_fresh(self) -> bool:
        made, served = self._made, self._batcher.served
        return (
            made is not None
            and made.served.lineage is served.lineage
            and len(made.names) == served.n_labels
            and served.estimator.n_examples_ <= made.n_examples * (1 + STALE_SHARE)
        )


def _taken(served: Served) -> tuple[_Made, Any]:
    ranker = served.estimator
    names = [served.name(label) for label in range(served.n_labels)]
    counts = np.array(ranker.label_counts_, dtype=np.int64)
    return _Made(served, names, counts, ranker.n_examples_), label_profiles(ranker)


def _make(made: _Made, profiles: Any) -> None:
    made.search = LabelSearch(made.names, made.counts)
    broader = made.served.catalog.parents(len(made.names))
    made.relations = Relations(profiles, made.counts, broader)
    made.map = label_map(made.served.estimator, made.relations)


def _found(made: _Made, label: int) -> dict[str, Any]:
    assert made.relations is not None
    near = zip(made.relations.nearest[label], made.relations.similarity[label], strict=True)
    return {
        **made.served.about(label),
        "count": int(made.counts[label]),
        "nearest": [
            {**made.served.about(int(other)), "similarity": round(float(alike), 4)}
            for other, alike in near
            if other >= 0
        ],
    }


def _map_json(made: _Made, limit: int) -> bytes:
    assert made.map is not None
    shown, places = made.map.labels[:limit], made.map.places[:limit].astype(float)
    regions = regions_of(places, made.counts[shown])
    named = [made.names[shown[label]] for label in regions.foremost]
    answer = {
        "kind": made.map.kind,
        "topic": regions.of_labels.tolist(),
        "regions": [
            {"name": name, "x": round(float(x), 5), "y": round(float(y), 5)}
            for name, (x, y) in zip(named, regions.places, strict=True)
        ],
        "total": len(made.names),
        "label": shown.tolist(),
        "name": [made.names[label] for label in shown],
        "count": made.counts[shown].tolist(),
        "x": np.round(places[:, 0], 5).tolist(),
        "y": np.round(places[:, 1], 5).tolist(),
        "model": made.served.version,
    }
    return gzip.compress(to_json(answer), 6, mtime=0)
