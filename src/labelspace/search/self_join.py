"""The neighbours of every key among the other keys of an index, all at once.

Asked one by one, keys of the same list would look into nearly the same lists. Here the keys of a
list look together into the lists nearest to their own centroid, so the work is one matrix product
per list.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelspace import engine, threads
from labelspace.search import _self_join_kernels as kernels
from labelspace.search.ivf import IVFIndex
from labelspace.search.result import SearchResult
from labelspace.spaces.quantized import dequantized


def self_join(
    index: IVFIndex, n_ids: int, n_neighbors: int, n_threads: int | None = None
) -> SearchResult:
    """Return for each id from 0 to ``n_ids`` - 1 the nearest other keys; none where it has no key.

    Examples
    --------
    >>> keys = np.array([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]], dtype=np.float32)
    >>> self_join(IVFIndex(keys, n_lists=1), 3, 1).ids.ravel()
    array([1, 0, 1])
    """
    found = SearchResult.none(n_ids, n_neighbors)
    with threads.limit(1):  # BLAS on more of them rounds in another way
        closeness = index.centroids @ index.centroids.T
    n_probes = min(index.n_probes, len(index.centroids))
    near_lists = np.argsort(-closeness, axis=1, kind="stable")[:, :n_probes]
    if engine.is_active():
        inputs = index, near_lists, n_neighbors
        blocks = engine.blocks_of_equal_work(np.diff(index.starts))
        for ids, near, products in engine.run_blocks(_join_block, inputs, blocks, "neighbours"):
            found.ids[ids], found.products[ids] = near, products
        return found
    with threads.limit(1), ThreadPoolExecutor(threads.resolve(n_threads)) as pool:
        list(pool.map(partial(_fill, index, near_lists, found), range(len(index.centroids))))
    return found


def _fill(
    index: IVFIndex, near_lists: NDArray[np.int64], found: SearchResult, number: int
) -> NDArray[np.integer]:
    """Find the neighbours of a list's keys; return their ids."""
    asking = np.arange(index.starts[number], index.starts[number + 1])
    if asking.size:
        looked_at = np.concatenate(
            [np.arange(index.starts[near], index.starts[near + 1]) for near in near_lists[number]]
        )
        queries = dequantized(index.keys[asking], index.scales[asking])
        keys = dequantized(index.keys[looked_at], index.scales[looked_at])
        kernels.keep_nearest(
            queries @ keys.T, index.ids[asking], index.ids[looked_at], found.ids, found.products
        )
    return index.ids[asking]


def _join_block(inputs: tuple[Any, ...], block: NDArray[np.int64]) -> tuple[Any, ...]:
    """Return the ids of some lists' keys, and the neighbours of each."""
    index, near_lists, n_neighbors = inputs
    found = SearchResult.none(int(index.ids.max(initial=-1)) + 1, n_neighbors)
    ids = np.concatenate([_fill(index, near_lists, found, number) for number in block])
    return ids, found.ids[ids], found.products[ids]
