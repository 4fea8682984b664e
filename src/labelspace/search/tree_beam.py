"""Search in a label tree: from the root, always on to the most promising nodes.

Each child of a node has a linear score; a link turns the scores of siblings into log
probabilities, and a path's score is their sum. The walk keeps the ``beam`` best nodes of each
level; with a beam of one it is the walk of the paper, with one as wide as the tree it looks at
every leaf. The weights of siblings lie together by feature, so that a step costs one search in a
sorted list for each feature of the row, and counts one inner product for each child.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.graph.tree import Tree
from labelspace.search import _tree_beam_kernels as kernels
from labelspace.store import Storable, schema
from labelspace.topk import TopK

LINKS = {
    "logistic": kernels.LOGISTIC,
    "softmax": kernels.SOFTMAX,
    "squared_hinge": kernels.SQUARED_HINGE,
}
# What ``sibling_chunks`` gives.
CHUNKS = schema.tuple_of(
    schema.offsets("n_nodes", "n_chunks"),
    schema.array("int32", "n_chunks", low=0, end="features_end"),
    schema.offsets("n_chunks", "n_entries"),
    schema.array("int32", "n_entries"),
    schema.array("float32", "n_entries"),
)


class TreeSearchResult(NamedTuple):
    """The labels found, and how many inner products each row took."""

    top: TopK
    n_products: NDArray[np.int64]

    @classmethod
    def stack(cls, parts: Sequence[TreeSearchResult]) -> TreeSearchResult:
        """Put the answers to consecutive blocks together, with scores as probabilities."""
        top = TopK.stack([part.top for part in parts])
        np.exp(top.scores, out=top.scores, where=top.labels >= 0)
        return cls(top, np.concatenate([part.n_products for part in parts]))

    def loss(self, Y: csr_matrix) -> float:
        """Return the share of rows whose first label is wrong."""
        hits = self.top.first(1).to_csr(Y.shape[1]).multiply(Y).sum(axis=1)
        return float(1.0 - np.mean(hits > 0))


class _BeamSearch(Storable):
    """What both kinds of index have: the tree, biases, and how scores become probabilities."""

    _schema: ClassVar[schema.Schema] = {
        "tree": schema.part("Tree", n_nodes="n_nodes", n_labels="n_labels"),
        "biases": schema.array("float32", "n_nodes"),
        "link": schema.option(*LINKS),
        "sharpness": schema.number(0),
    }

    def __init__(
        self, tree: Tree, biases: NDArray[np.float32], link: str, sharpness: float
    ) -> None:
        self.tree = tree
        self.biases = np.ascontiguousarray(biases, dtype=np.float32)
        self.link = link
        self.sharpness = float(sharpness)

    def _search(
        self, rows: Any, n_rows: int, predictors: Any, k: int, beam: int
    ) -> TreeSearchResult:
        found = TreeSearchResult(TopK.empty(n_rows, k), np.zeros(n_rows, dtype=np.int64))
        kernels.beam_search(
            rows,
            predictors,
            self.biases,
            self.tree.first_child,
            self.tree.leaf_labels,
            LINKS[self.link],
            np.float32(self.sharpness),
            min(beam, self.tree.n_nodes),
            found.top.labels,
            found.top.scores,
            found.n_products,
        )
        return found


class TreeIndex(_BeamSearch):
    """A label tree with a sparse linear predictor at each node.

    Parameters
    ----------
    tree : Tree
    weights : csr_matrix of shape (n_nodes, n_features)
    biases : ndarray of shape (n_nodes,)
    link : {"logistic", "softmax", "squared_hinge"}
        What makes log probabilities of scores: the logistic function, for predictors that say yes
        above 1 and no below -1, softmax among siblings, of which one is right, or the negative
        squared hinge, which takes all scores from 1 on as certain.
    sharpness : float
        What scores are multiplied by first.

    Examples
    --------
    >>> tree = Tree.from_nested([[0, 1], 2], n_labels=3)
    >>> weights = csr_matrix([[0, 0], [1, -1], [-1, 1], [1, -1], [-1, -1]], dtype=np.float32)
    >>> index = TreeIndex(tree, weights, np.zeros(5, dtype=np.float32))
    >>> index.search(csr_matrix([[0.0, 1.0]], dtype=np.float32), k=1, beam=1).top.labels
    array([[2]])
    """

    _schema: ClassVar[schema.Schema] = {"chunks": CHUNKS}

    @classmethod
    def _check_state(cls, state: schema.State, sizes: schema.Sizes) -> None:
        super()._check_state(state, sizes)
        check_chunks(state["tree"], state["chunks"], sizes)

    def __init__(
        self,
        tree: Tree,
        weights: csr_matrix,
        biases: NDArray[np.float32],
        *,
        link: str = "logistic",
        sharpness: float = 1.0,
    ) -> None:
        super().__init__(tree, biases, link, sharpness)
        self.chunks = sibling_chunks(tree, weights)

    @property
    def n_weights(self) -> int:
        return self.chunks[-1].shape[0]

    def search(self, X: csr_matrix, k: int, beam: int) -> TreeSearchResult:
        """Return the ``k`` best labels that a search with ``beam`` nodes a level finds."""
        rows = X.indptr, X.indices, np.ascontiguousarray(X.data, dtype=np.float32)
        return self._search(rows, X.shape[0], self.chunks, k, beam)


class DenseTreeIndex(_BeamSearch):
    """A label tree whose nodes are short dense vectors: a step is a product in the small space.

    Parameters
    ----------
    tree : Tree
    vectors : ndarray of shape (n_nodes, dim)
    biases : ndarray of shape (n_nodes,)
    link, sharpness
        As in :class:`TreeIndex`.
    """

    _schema: ClassVar[schema.Schema] = {"vectors": schema.array("float32", "n_nodes", "dim")}

    def __init__(
        self,
        tree: Tree,
        vectors: NDArray[np.float32],
        biases: NDArray[np.float32],
        *,
        link: str = "softmax",
        sharpness: float = 1.0,
    ) -> None:
        super().__init__(tree, biases, link, sharpness)
        self.vectors = np.ascontiguousarray(vectors, dtype=np.float32)

    def search(self, Z: NDArray[np.float32], k: int, beam: int) -> TreeSearchResult:
        """Return the ``k`` best labels that a search with ``beam`` nodes a level finds."""
        rows = np.ascontiguousarray(Z, dtype=np.float32)
        return self._search(rows, len(Z), self.vectors, k, beam)


def sibling_chunks(tree: Tree, weights: csr_matrix) -> tuple[NDArray[Any], ...]:
    """Return the weights of nodes by parent, then by feature: those of siblings lie together.

    Five arrays: where each parent's features begin, the features, where each one's entries begin,
    and of the entries nodes and values.

    >>> tree = Tree.from_nested([0, 1], n_labels=2)
    >>> weights = csr_matrix([[0, 0], [0, 5], [7, 6]], dtype=np.float32)
    >>> _, features, _, nodes, values = sibling_chunks(tree, weights)
    >>> features.tolist(), nodes.tolist(), values.tolist()
    ([0, 1], [2, 1, 2], [7.0, 5.0, 6.0])
    """
    by_feature = csr_matrix(weights.T, dtype=np.float32)
    by_feature.sort_indices()
    return tuple(
        kernels.chunks(
            by_feature.indptr, by_feature.indices, by_feature.data, tree.parents, tree.n_nodes
        )
    )


def check_chunks(tree: Tree, chunks: tuple[NDArray[Any], ...], sizes: schema.Sizes) -> None:
    """Raise if the weights that a node has for its children are of other nodes."""
    chunk_ptr, _, entry_ptr, nodes, _ = chunks
    if sizes.trusted or not nodes.size:
        return
    starts = entry_ptr[chunk_ptr]
    parents = np.flatnonzero(np.diff(starts))
    lowest = np.minimum.reduceat(nodes, starts[parents])
    highest = np.maximum.reduceat(nodes, starts[parents])
    first, last = tree.first_child[parents], tree.first_child[parents + 1]
    if np.any(lowest < first) or np.any(highest >= last):
        raise schema.Mismatch("chunks has weights of nodes that are not siblings")
