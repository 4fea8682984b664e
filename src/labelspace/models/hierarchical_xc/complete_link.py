"""Complete-link clustering of labels on a sparse graph, and the binary tree that it makes.

Clusters merge by the least likeness between any two of their members, most alike first:

    s(I, J) = min_{i∈I, j∈J} s_ij,   d = −s

with s the co-occurrence of labels, or their intersection over union, and s = 0 for labels that
never meet. A merged cluster is linked to another only if both its parts were, so that links only
ever get fewer and no labels × labels array is needed: the cost is that of the co-occurrences.
The merges are those of ``scipy.cluster.hierarchy.linkage(method="complete")``, ties included.

Such a tree degenerates. Two clusters are soon without a link between some two members, everything
that is left has likeness 0, and joins one by one: the tree is a chain. ``balanced=True`` counts
again instead. Clusters of at most 2 labels are made; then a cluster is taken for a label, which a
row has if it has any of its members, and clusters of at most 4 labels are made of these, and so
on. What no row links at the end is joined in pairs, smallest first.
"""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.graph.cooccurrence import cooccurrence, similarity
from labelspace.graph.tree import Tree, flat_tree
from labelspace.models.hierarchical_xc import _linkage_kernels as kernels

LIKENESSES = ("iou", "cooccurrence")


def complete_link(alike: csr_matrix) -> NDArray[np.float64]:
    """Return the merges of complete-link clustering with distances −``alike``, as scipy does.

    Parameters
    ----------
    alike : csr_matrix of shape (n, n)
        Symmetric, not negative; the diagonal is not looked at.

    Returns
    -------
    linkage : ndarray of shape (n - 1, 4)
        Two clusters, their distance, and how many members they have together.

    Examples
    --------
    >>> complete_link(csr_matrix([[0, 3, 1], [3, 0, 0], [1, 0, 0.0]]))
    array([[ 0.,  1., -3.,  2.],
           [ 2.,  3.,  0.,  3.]])
    """
    n = alike.shape[0]
    pairs, likeness = _merge(alike, np.ones(n, dtype=np.int64), n, join_all=True)
    return kernels.to_linkage(pairs, likeness, n)


def complete_link_tree(
    Y: csr_matrix, likeness: str = "iou", *, balanced: bool = True, leaf_size: int = 1
) -> Tree:
    """Return a binary tree of the labels that any row has, or the first label if none has any.

    Parameters
    ----------
    Y : csr_matrix of shape (n_examples, n_labels)
    likeness : {"iou", "cooccurrence"}
        How many rows have both of two labels, divided by those that have either or not.
    balanced : bool
        Whether clusters are bounded and counted again; otherwise plain complete link.
    leaf_size : int
        A cluster with at most so many labels has them as its children; at 1 the tree is binary
        all the way down.

    Examples
    --------
    >>> Y = csr_matrix([[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1]])
    >>> tree = complete_link_tree(Y)
    >>> [tree.labels_of(node).tolist() for node in tree.children(0)]
    [[0, 1], [2, 3]]
    """
    labels = np.unique(Y.indices).astype(np.int64)
    if labels.size < 2:
        return flat_tree(labels if labels.size else np.zeros(1, dtype=np.int64), Y.shape[1])
    held = csr_matrix(Y[:, labels], dtype=np.float32)
    if balanced:
        merges = _balanced_merges(held, likeness)
    else:
        merges = complete_link(_likeness(held, likeness))[:, :2].astype(np.int64)
    return _tree(merges, labels, Y.shape[1], leaf_size)


class _Clusters(NamedTuple):
    """Clusters that are there so far: their numbers, and how many labels each has."""

    numbers: NDArray[np.int64]
    sizes: NDArray[np.int64]


def _balanced_merges(Y: csr_matrix, likeness: str) -> NDArray[np.int64]:
    """Return pairs of clusters; the i-th pair makes cluster ``n_labels + i``."""
    n = Y.shape[1]
    clusters = _Clusters(np.arange(n), np.ones(n, dtype=np.int64))
    merges: list[tuple[int, int]] = []
    room = 2
    while len(clusters.numbers) > 1:
        pairs, _ = _merge(_likeness(Y, likeness), clusters.sizes, room, join_all=False)
        Y, clusters = _merged(Y, clusters, pairs, merges, n)
        if room >= n:
            break
        room *= 2
    heap = sorted(zip(clusters.sizes.tolist(), clusters.numbers.tolist(), strict=True))
    while len(heap) > 1:
        (size, one), (more, other) = heapq.heappop(heap), heapq.heappop(heap)
        heapq.heappush(heap, (size + more, n + len(merges)))
        merges.append((one, other))
    return np.array(merges, dtype=np.int64)


def _merged(
    Y: csr_matrix,
    clusters: _Clusters,
    pairs: NDArray[np.int64],
    merges: list[tuple[int, int]],
    n_labels: int,
) -> tuple[csr_matrix, _Clusters]:
    """Return which rows have the clusters that come from merging ``pairs``, and these."""
    number, size = clusters.numbers.copy(), clusters.sizes.copy()
    slot_of = np.arange(len(number))
    for low, high in pairs.tolist():
        merges.append((int(number[low]), int(number[high])))
        number[high] = n_labels + len(merges) - 1
        size[high] += size[low]
        slot_of[low] = high
    kept = np.flatnonzero(slot_of == np.arange(len(number)))
    while not np.array_equal(slot_of, slot_of[slot_of]):
        slot_of = slot_of[slot_of]
    place = np.searchsorted(kept, slot_of)
    into = csr_matrix(
        (np.ones(len(place), dtype=np.float32), (np.arange(len(place)), place)),
        shape=(len(place), len(kept)),
    )
    return csr_matrix(Y @ into), _Clusters(number[kept], size[kept])


def _likeness(Y: csr_matrix, likeness: str) -> csr_matrix:
    counts = cooccurrence(Y)
    return counts if likeness == "cooccurrence" else similarity(counts, Y.shape[0], "jaccard")


def _merge(
    alike: csr_matrix, sizes: NDArray[np.int64], room: int, *, join_all: bool
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the slots that merge, most alike first, and how alike they are."""
    pairs, likeness = kernels.complete_link(
        alike.indptr.astype(np.int64),
        alike.indices,
        alike.data.astype(np.float64),
        sizes,
        room,
        join_all,
    )
    order = np.argsort(-likeness, kind="stable")
    return pairs[order], likeness[order]


def _tree(
    merges: NDArray[np.int64], labels: NDArray[np.int64], n_labels: int, leaf_size: int
) -> Tree:
    """Return the tree whose root is the last cluster."""
    n = len(labels)
    sizes = np.ones(n + len(merges), dtype=np.int64)
    for at, (one, other) in enumerate(merges.tolist()):
        sizes[n + at] = sizes[one] + sizes[other]
    level = [n + len(merges) - 1]
    clusters: list[int] = []
    n_children: list[int] = []
    while level:
        clusters += level
        deeper: list[int] = []
        for cluster in level:
            children = merges[cluster - n].tolist() if cluster >= n else []
            # The order of labels among siblings does not matter, so clusters open in any.
            while children and sizes[cluster] <= leaf_size and max(children) >= n:
                largest = max(children)
                children.remove(largest)
                children += merges[largest - n].tolist()
            n_children.append(len(children))
            deeper += children
        level = deeper
    leaves = np.minimum(clusters, n - 1)
    leaf_labels = np.where(np.array(clusters) < n, labels[leaves], -1)
    return Tree(np.concatenate(([0], np.cumsum(n_children))) + 1, leaf_labels, n_labels)
