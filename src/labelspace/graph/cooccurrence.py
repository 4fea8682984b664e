"""Which labels come together, how often, and what that makes of their likeness.

With Y the label matrix, A = YᵀY counts the rows that have both of two labels and its diagonal the
rows that have one. From the counts follow the likenesses that methods ask for, with the
conditional frequency F(a|b) = A_ab / A_bb:

    arithmetic   ½ (F(a|b) + F(b|a))
    geometric    √(F(a|b) · F(b|a))
    jaccard      A_ab / (A_aa + A_bb − A_ab)
    pmi          ln(n A_ab / (A_aa A_bb)) / −ln(A_ab / n), and 0 where that is negative

All are 1 for a label with itself, 0 for labels that never meet, and stay sparse: no step makes a
labels × labels array.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.graph import _kernels

SIMILARITIES = ("arithmetic", "geometric", "jaccard", "pmi")
EDGES = ("binary", "counts", *SIMILARITIES)


def cooccurrence(Y: csr_matrix) -> csr_matrix:
    """Return A = YᵀY, the counts of pairs of labels, with the counts of labels on its diagonal.

    >>> from scipy.sparse import csr_matrix
    >>> cooccurrence(csr_matrix([[1, 1, 0], [0, 1, 0]])).toarray().astype(int)
    array([[1, 1, 0],
           [1, 2, 0],
           [0, 0, 0]])
    """
    ones = csr_matrix((np.ones(Y.nnz, dtype=np.float32), Y.indices, Y.indptr), shape=Y.shape)
    counts = csr_matrix(ones.T @ ones)
    counts.sort_indices()
    return counts


def similarity(counts: csr_matrix, n_examples: int, kind: str = "arithmetic") -> csr_matrix:
    """Return the likeness of labels, from 0 to 1, where ``counts`` is not zero.

    Parameters
    ----------
    counts : csr_matrix of shape (n_labels, n_labels)
        What ``cooccurrence`` gives.
    n_examples : int
        How many rows were counted.
    kind : {"arithmetic", "geometric", "jaccard", "pmi"}

    Examples
    --------
    >>> from scipy.sparse import csr_matrix
    >>> counts = cooccurrence(csr_matrix([[1, 1], [0, 1]]))
    >>> similarity(counts, 2).toarray()
    array([[1.  , 0.75],
           [0.75, 1.  ]], dtype=float32)
    """
    if kind not in SIMILARITIES:
        raise ValueError(f"The similarity is {kind!r}: give one of {', '.join(SIMILARITIES)}.")
    single = counts.diagonal().astype(np.float64)
    one = np.repeat(single, np.diff(counts.indptr))
    other = single[counts.indices]
    both = counts.data.astype(np.float64)
    if kind == "arithmetic":
        alike = 0.5 * (both / one + both / other)
    elif kind == "geometric":
        alike = both / np.sqrt(one * other)
    elif kind == "jaccard":
        alike = both / (one + other - both)
    else:
        alike = _normalised_pmi(both / n_examples, one / n_examples, other / n_examples)
    return csr_matrix((alike.astype(np.float32), counts.indices, counts.indptr), shape=counts.shape)


def label_graph(Y: csr_matrix, edges: str = "binary") -> csr_matrix:
    """Return the graph in which labels that ever come together are neighbours.

    Parameters
    ----------
    Y : csr_matrix of shape (n_examples, n_labels)
    edges : {"binary", "counts", "arithmetic", "geometric", "jaccard", "pmi"}
        What an edge weighs: one, the number of rows that have both labels, or their likeness.

    Examples
    --------
    >>> from scipy.sparse import csr_matrix
    >>> Y = csr_matrix([[1, 1, 0], [1, 1, 0], [0, 0, 1]])
    >>> label_graph(Y, "counts").toarray().astype(int)
    array([[0, 2, 0],
           [2, 0, 0],
           [0, 0, 0]])
    """
    if edges not in EDGES:
        raise ValueError(f"The edges are {edges!r}: give one of {', '.join(EDGES)}.")
    graph = cooccurrence(Y)
    if edges in SIMILARITIES:
        graph = similarity(graph, Y.shape[0], edges)
    row_of = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    graph.data[graph.indices == row_of] = 0.0
    graph.eliminate_zeros()
    if edges == "binary":
        graph.data[:] = 1.0
    return graph


def dense_block(matrix: csr_matrix, labels: NDArray[np.integer]) -> NDArray[np.float32]:
    """Return the rows and columns ``labels`` (each once) of a sparse matrix as a dense block.

    >>> from scipy.sparse import csr_matrix
    >>> dense_block(csr_matrix([[1.0, 0, 2], [0, 3, 0], [4, 0, 5]]), np.array([2, 0]))
    array([[5., 4.],
           [2., 1.]], dtype=float32)
    """
    block = np.zeros((len(labels), len(labels)), dtype=np.float32)
    places = np.full(matrix.shape[1], -1, dtype=np.int32)
    _kernels.dense_block(
        matrix.indptr, matrix.indices, matrix.data, np.asarray(labels), places, block
    )
    return block


def _normalised_pmi(
    both: NDArray[np.float64], one: NDArray[np.float64], other: NDArray[np.float64]
) -> NDArray[np.float64]:
    surprise = -np.log(both)
    gained = np.log(both / (one * other))
    # Two labels that every row has surprise nobody: they are alike, not undefined.
    alike = np.divide(gained, surprise, out=np.ones_like(gained), where=surprise > 0)
    return np.clip(alike, 0.0, 1.0)
