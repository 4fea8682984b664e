"""Random walks on a label graph: DeepWalk's sentences.

A walk starts at a label and goes on to a neighbour, again and again; the larger an edge, the
likelier it is taken. Labels that are met on one walk are near each other in the graph, as words of
a sentence are in meaning, so that what learns the vectors of words learns those of labels too.

Every step's random number comes from the seed, the number of the walk and that of the step: walks
are the same whatever the number of threads.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace import threads
from labelspace.models.dxml import _walk_kernels

NO_NODE = -1
_BLOCK = 4096


def random_walks(
    graph: csr_matrix,
    n_walks: int = 10,
    length: int = 40,
    *,
    seed: int = 0,
    n_threads: int | None = None,
) -> NDArray[np.int32]:
    """Return ``n_walks`` walks from each node that has a neighbour, (n, length).

    Parameters
    ----------
    graph : csr_matrix of shape (n_nodes, n_nodes)
        Positive weights of edges; where all are equal, neighbours are drawn with equal chance.
    n_walks, length : int
    seed : int

    Returns
    -------
    walks : ndarray of shape (n, length), int32
        Each round over all nodes in an order of its own. A walk that comes to a node without a way
        out ends with -1.

    Examples
    --------
    >>> from scipy.sparse import csr_matrix
    >>> there_and_back = csr_matrix([[0, 1, 0], [1, 0, 0], [0, 0, 0]])
    >>> random_walks(there_and_back, n_walks=1, length=4).tolist()
    [[0, 1, 0, 1], [1, 0, 1, 0]]
    """
    starts = np.flatnonzero(np.diff(graph.indptr)).astype(np.int32)
    rng = np.random.default_rng(seed)
    rounds = [rng.permutation(starts) for _ in range(n_walks)]
    first = np.concatenate(rounds) if rounds else starts[:0]
    walks = np.full((first.size, length), NO_NODE, dtype=np.int32)
    walks[:, 0] = first
    cumulative = _cumulative_weights(graph)

    def fill(start: int) -> None:
        end = min(start + _BLOCK, first.size)
        _walk_kernels.walk(start, end, graph.indptr, graph.indices, cumulative, seed, walks)

    with ThreadPoolExecutor(threads.resolve(n_threads)) as pool:
        list(pool.map(fill, range(0, first.size, _BLOCK)))
    return walks


def _cumulative_weights(graph: csr_matrix) -> NDArray[np.float64]:
    """Return weights added up along each row; nothing where all are equal."""
    if not graph.nnz or np.all(graph.data == graph.data[0]):
        return np.zeros(0)
    sums = np.cumsum(graph.data, dtype=np.float64)
    before = np.concatenate(([0.0], sums))[graph.indptr[:-1]]
    return sums - np.repeat(before, np.diff(graph.indptr))
