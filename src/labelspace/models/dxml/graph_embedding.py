"""A vector for every label before any row is looked at: where a network is to put rows.

``deepwalk`` walks on the graph of labels and learns what comes near what; ``svd`` takes the largest
singular vectors of the graph; ``random`` knows nothing of the graph. All vectors have length one,
unless those of walks are asked for as they are. Labels without a neighbour get a random one: on a
sphere of many dimensions it is far from all.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, diags
from scipy.sparse.linalg import svds

from labelspace.models.dxml.skip_gram import skip_gram
from labelspace.models.dxml.walks import random_walks
from labelspace.spaces import sphere

Floats = NDArray[np.float32]

KINDS = ("deepwalk", "svd", "random")
# Steps of walks at most, whatever the number of labels: bounds time and memory.
_STEPS = 40_000_000
# Walks that a small graph gets at least in all, for there to be enough to learn from.
_FEWEST_WALKS = 400


def graph_embedding(
    graph: csr_matrix,
    dim: int,
    kind: str = "deepwalk",
    *,
    n_walks: int = 10,
    walk_length: int = 40,
    window: int = 5,
    unit: bool = True,
    seed: int = 0,
    n_threads: int | None = None,
) -> Floats:
    """Return a vector for each node of a graph.

    Parameters
    ----------
    graph : csr_matrix of shape (n_labels, n_labels)
    dim : int
    kind : {"deepwalk", "svd", "random"}
    n_walks, walk_length, window : int
        Of DeepWalk: walks from each label, their length, and how far on a walk labels are met.
    unit : bool
        Whether what all vectors have in common is taken from them, and each scaled to length one.
        If not, they are as walks or singular vectors give them, and random ones are of their mean
        length.

    Examples
    --------
    >>> from scipy.sparse import csr_matrix
    >>> pairs = csr_matrix([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]])
    >>> vectors = graph_embedding(pairs, dim=8)
    >>> bool(vectors[0] @ vectors[1] > vectors[0] @ vectors[2])
    True
    """
    if kind not in KINDS:
        raise ValueError(f"The kind is {kind!r}: give one of {', '.join(KINDS)}.")
    n_labels = graph.shape[0]
    drawn = np.random.default_rng(seed).standard_normal((n_labels, dim)).astype(np.float32)
    vectors = sphere.keys(drawn)
    met = np.diff(graph.indptr) > 0
    if kind == "random" or not met.any():
        return vectors
    if kind == "svd":
        found = _singular(graph, dim, seed)
        met &= np.linalg.norm(found, axis=1) > 1e-6
    else:
        n_met = int(met.sum())
        n_walks = max(n_walks, _FEWEST_WALKS // n_met)
        n_walks = max(1, min(n_walks, _STEPS // (n_met * walk_length)))
        walks = random_walks(graph, n_walks, walk_length, seed=seed, n_threads=n_threads)
        found = skip_gram(walks, n_labels, dim, window=window, seed=seed, n_threads=n_threads)
        if unit:  # what all labels have in common tells none from another
            found[met] -= found[met].mean(axis=0)
    if not unit:
        vectors *= np.linalg.norm(found[met], axis=1).mean()
    vectors[met] = sphere.keys(found[met]) if unit else found[met]
    return vectors


def _singular(graph: csr_matrix, dim: int, seed: int) -> Floats:
    """Return singular vectors of the graph, scaled so that labels of many edges do not rule."""
    degrees = np.asarray(graph.sum(axis=1)).ravel()
    scale = diags(1.0 / np.sqrt(np.maximum(degrees, 1e-12)))
    normal = csr_matrix(scale @ graph @ scale, dtype=np.float32)
    rank = min(dim, graph.shape[0] - 1)
    found = np.zeros((graph.shape[0], dim), dtype=np.float32)
    if rank > 0:
        u, s, _ = svds(normal, k=rank, rng=np.random.default_rng(seed))
        found[:, :rank] = u * np.sqrt(s)
    return found
