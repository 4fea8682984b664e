"""Best-first search in a label tree: the likeliest leaves, and no look at the rest.

Of all nodes that have been reached the one with the likeliest path is opened next: its children
are asked, and their paths join the others. A path's probability is a product and only falls, so
the first leaf that comes to the front is the likeliest of all, the second the next, and so on:
the answer is that of looking at every leaf.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.graph.tree import Tree
from labelspace.models.hierarchical_xc import _best_first_kernels as kernels
from labelspace.search.tree_beam import (
    CHUNKS,
    TreeSearchResult,
    check_chunks,
    sibling_chunks,
)
from labelspace.store import Storable, schema
from labelspace.topk import TopK


class BestFirstIndex(Storable):
    """A label tree with a sparse logistic classifier at each node, opened best first.

    Parameters
    ----------
    tree : Tree
        No label has two leaves.
    weights : csr_matrix of shape (n_nodes, n_features)
    biases : ndarray of shape (n_nodes,)

    Examples
    --------
    >>> tree = Tree.from_nested([[0, 1], 2], n_labels=3)
    >>> weights = csr_matrix([[0, 0], [1, -1], [-1, 1], [1, -1], [-1, -1]], dtype=np.float32)
    >>> index = BestFirstIndex(tree, weights, np.zeros(5, dtype=np.float32))
    >>> found = index.search(csr_matrix([[0.0, 1.0]], dtype=np.float32), k=1)
    >>> found.top.labels, found.n_products
    (array([[2]]), array([2]))
    """

    _schema: ClassVar[schema.Schema] = {
        "tree": schema.part("Tree", n_nodes="n_nodes", n_labels="n_labels"),
        "biases": schema.array("float32", "n_nodes"),
        "chunks": CHUNKS,
    }

    @classmethod
    def _check_state(cls, state: schema.State, sizes: schema.Sizes) -> None:
        super()._check_state(state, sizes)
        check_chunks(state["tree"], state["chunks"], sizes)
        leaves = state["tree"].leaf_labels
        if not sizes.trusted:
            schema.check_unique(leaves[leaves >= 0])

    def __init__(self, tree: Tree, weights: csr_matrix, biases: NDArray[np.float32]) -> None:
        self.tree = tree
        self.biases = np.ascontiguousarray(biases, dtype=np.float32)
        self.chunks = sibling_chunks(tree, weights)

    def search(self, X: csr_matrix, k: int, *, least: float = 0.0) -> TreeSearchResult:
        """Return the ``k`` likeliest labels of each row.

        Children less likely than ``least``, given their parent, are not gone to: with one half each
        node decides for none, one or both of its children. Scores are log probabilities, and
        ``n_products`` counts the nodes that were asked.
        """
        found = TreeSearchResult(TopK.empty(X.shape[0], k), np.zeros(X.shape[0], dtype=np.int64))
        kernels.best_first(
            (X.indptr, X.indices, np.ascontiguousarray(X.data, dtype=np.float32)),
            self.tree.first_child,
            self.tree.leaf_labels,
            self.chunks,
            self.biases,
            X.shape[1],
            np.float32(np.log(least) if least > 0 else -np.inf),
            found.top.labels,
            found.top.scores,
            found.n_products,
        )
        return found

    def path_weights(self, label: int, n_features: int) -> csr_matrix:
        """Return the weights of all nodes on the way to a label, added up: (1, n_features)."""
        chunk_ptr, chunk_features, entry_ptr, entry_nodes, entry_values = self.chunks
        added = np.zeros(n_features, dtype=np.float32)
        node = int(np.flatnonzero(self.tree.leaf_labels == label)[0])
        while node > 0:
            parent = self.tree.parents[node]
            low, high = chunk_ptr[parent], chunk_ptr[parent + 1]
            features = np.repeat(chunk_features[low:high], np.diff(entry_ptr[low : high + 1]))
            entries = slice(entry_ptr[low], entry_ptr[high])
            own = entry_nodes[entries] == node
            added[features[own]] += entry_values[entries][own]
            node = int(parent)
        return csr_matrix(added)
