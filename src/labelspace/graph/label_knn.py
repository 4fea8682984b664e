"""The k-NN graph of label vectors: which rows are alike, judged by their labels alone.

AnnexML's idea is to place rows so that neighbours in the embedding are the rows that this graph
calls neighbours. Similarity of rows i and j is the cosine of their label vectors,

    s(i, j) = |Y_i ∩ Y_j| / √(|Y_i| · |Y_j|),

or the original program's |Y_i ∩ Y_j| / |Y_j|. The graph is Y·Yᵀ cut to the k largest entries of
each row, found by walking the rows of each label and never made dense. A label that most rows have
would make that walk quadratic and says little, so the longest label lists are left out until what
remains fits a budget. The graph depends on the labels only: build it once, share it among learners.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_matrix, csr_matrix

from labelspace import engine, threads
from labelspace.graph import _kernels

SIMILARITIES = ("cosine", "overlap")
_BLOCK = 8192


@dataclass(frozen=True)
class LabelGraph:
    """The nearest rows of each row, nearest first.

    Attributes
    ----------
    neighbors : ndarray of shape (n, n_neighbors), int32
        Row numbers; -1 where a row has fewer neighbours.
    similarities : ndarray of shape (n, n_neighbors), float32
        0 where there is no neighbour.
    """

    neighbors: NDArray[np.int32]
    similarities: NDArray[np.float32]

    @property
    def n_neighbors(self) -> NDArray[np.int64]:
        """How many neighbours each row has."""
        return (self.neighbors >= 0).sum(axis=1)

    def without(self, rows: NDArray[np.integer]) -> LabelGraph:
        """Return the graph without some rows as neighbours; those behind them move up.

        >>> graph = LabelGraph(np.array([[4, 7, 2]]), np.array([[0.9, 0.8, 0.7]]))
        >>> graph.without(np.array([7])).neighbors
        array([[ 4,  2, -1]])
        """
        gone = np.isin(self.neighbors, rows)
        if not gone.any():
            return self
        order = np.argsort(gone, axis=1, kind="stable")
        return LabelGraph(
            np.take_along_axis(np.where(gone, -1, self.neighbors), order, axis=1),
            np.take_along_axis(np.where(gone, 0, self.similarities), order, axis=1),
        )


def label_knn(
    Y: csr_matrix,
    n_neighbors: int = 10,
    *,
    queries: csr_matrix | None = None,
    first_query: int | None = None,
    similarity: str = "cosine",
    budget: int = 5000,
    by_length: bool = False,
    seed: int = 0,
    n_threads: int | None = None,
) -> LabelGraph:
    """Return the rows of ``Y`` whose labels are most like those of each query.

    Parameters
    ----------
    Y : csr_matrix of shape (n_examples, n_labels)
    n_neighbors : int
    queries : csr_matrix, optional
        Rows to find neighbours for; all of ``Y`` unless given.
    first_query : int, optional
        Row of ``Y`` that the first query is, so that no row becomes its own neighbour. Unless
        given, queries are taken for rows that are not in ``Y``.
    similarity : {"cosine", "overlap"}
        Cosine of label vectors, or the share of the neighbour's labels that are the row's too.
    budget : int
        Rows visited per row on average. Lists of frequent labels are left out, longest first,
        until the rest fits; a row that has no other labels gets random rows of its rarest one.
    by_length : bool
        Whether they are left out as AnnexML's program does: all lists are walked that are as long
        as the longest that fits, and a row that has no other labels gets no neighbours.
    seed : int
        Which of equally similar rows win.

    Examples
    --------
    >>> from scipy.sparse import csr_matrix
    >>> graph = label_knn(csr_matrix([[1, 1, 0], [1, 1, 0], [0, 1, 1]]), n_neighbors=1)
    >>> graph.neighbors[:2].tolist()
    [[1], [0]]
    """
    if similarity not in SIMILARITIES:
        raise ValueError(f"similarity is {similarity!r}: give one of {', '.join(SIMILARITIES)}.")
    if queries is None:
        queries, first_query = Y, 0
    norms = _norms(queries, Y, similarity)
    asked = queries.indptr, queries.indices
    lists = _lists(Y, budget, by_length)
    first = -1 if first_query is None else first_query
    inputs = n_neighbors, (first, *asked, *lists, *norms, seed, not by_length)
    starts = range(0, max(queries.shape[0], 1), _BLOCK)
    blocks = [(start, min(start + _BLOCK, queries.shape[0])) for start in starts]
    if engine.is_active():
        found = engine.run_blocks(_neighbors, inputs, blocks, "label graph")
    else:
        with ThreadPoolExecutor(threads.resolve(n_threads)) as pool:
            found = list(pool.map(partial(_neighbors, inputs), blocks))
    if len(found) == 1:
        return LabelGraph(*found[0])
    return LabelGraph(*(np.concatenate(parts) for parts in zip(*found, strict=True)))


def _lists(
    Y: csr_matrix, budget: int, by_length: bool
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.bool_]]:
    """Return the rows of each label, one after the other, and which labels' rows are walked."""
    columns = csc_matrix(Y)
    counts = np.diff(columns.indptr).astype(np.int64)
    kept = shortest_lists(counts, budget * Y.shape[0])
    if by_length:
        kept = counts <= counts[kept].max(initial=0)
    return columns.indptr, columns.indices, kept


def _neighbors(
    inputs: tuple[Any, ...], block: tuple[int, int]
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Return the neighbours of a block of queries, and how similar they are."""
    n_neighbors, walked = inputs
    start, end = block
    neighbors = np.full((end - start, n_neighbors), -1, dtype=np.int32)
    similarities = np.zeros((end - start, n_neighbors), dtype=np.float32)
    _kernels.label_neighbors(start, end, *walked, neighbors, similarities)
    return neighbors, similarities


def _norms(
    queries: csr_matrix, Y: csr_matrix, similarity: str
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return what the labels in common are divided by, for queries and for rows."""
    query_sizes = np.diff(queries.indptr).astype(np.float32)
    sizes = np.diff(Y.indptr).astype(np.float32)
    if similarity == "cosine":
        return np.sqrt(query_sizes), np.sqrt(sizes)
    return np.ones_like(query_sizes), sizes


def shortest_lists(counts: NDArray[np.int64], budget: int) -> NDArray[np.bool_]:
    """Tell which lists of rows are walked: the shortest whose pairs add up to the budget."""
    order = np.argsort(counts, kind="stable")
    pairs = np.cumsum(counts[order] * (counts[order] - 1))
    kept = np.zeros(counts.size, dtype=np.bool_)
    kept[order[: np.searchsorted(pairs, budget, side="right")]] = True
    return kept
