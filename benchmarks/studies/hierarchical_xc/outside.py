"""Variants of HierarchicalXC that no parameter makes, out of a trained model's tree."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from benchmarks.studies.source import Split
from benchmarks.studies.study import Figures
from labelspace.graph.tree import Tree, flat_tree
from labelspace.linear.node_classifiers import train_node_classifiers
from labelspace.linear.squared_hinge import LinearClassifiers
from labelspace.models.hierarchical_xc.best_first import BestFirstIndex
from labelspace.topk import TopK, topk_dense

OUTSIDE = ("yes or no at each node", "yes or no, found labels ranked", "nodes learn from all rows")


def outside(model: Any, split: Split, name: str) -> tuple[TopK, Figures]:
    """Train the nodes of the model's tree again and return what they answer."""
    tree: Tree = model.tree_
    Z, Z_test = model._encode(split.X), model._encode(split.X_test)
    figures: Figures = {"n_nodes": tree.n_nodes, "depth": tree.depth, "C": model.C_}
    settings: dict[str, Any] = {"loss": "logistic", "C": model.C_, "tol": model.tol, "n_threads": 1}
    right = tree.positive_nodes(split.Y)
    if name == "nodes learn from all rows":
        # All nodes as children of one root that every row with a label is at.
        every_node = flat_tree(np.arange(tree.n_nodes), tree.n_nodes)
        at_root = csr_matrix(right.sum(axis=1) > 0, dtype=np.float32)
        everywhere = csr_matrix(np.hstack([at_root.toarray(), right.toarray()]))
        trained = train_node_classifiers(Z, every_node, everywhere, **settings)
        index = BestFirstIndex(tree, csr_matrix(trained.weights[1:]), trained.biases[1:])
        found = index.search(Z_test, 5)
        return found.top, {"visited": float(found.n_products.mean()), **figures}
    trained = train_node_classifiers(Z, tree, right, **settings)
    reached, likely, n_asked = _decide(tree, trained, Z_test)
    top = topk_dense(np.where(reached, likely if name.endswith("ranked") else 1.0, -np.inf), 5)
    top.labels[np.isneginf(top.scores)] = -1
    figures["labels_given"] = float(reached.sum(axis=1).mean())
    return top, {"visited": float(n_asked.mean()), **figures}


def _decide(
    tree: Tree, trained: LinearClassifiers, Z: csr_matrix
) -> tuple[NDArray[np.bool_], NDArray[np.float32], NDArray[np.int64]]:
    """Go on to each child that is likelier than not.

    Returns which labels rows arrive at, how likely each label is, and how many nodes were asked.
    """
    scores = np.asarray((Z @ trained.weights.T).todense()) + trained.biases
    likely = 1.0 / (1.0 + np.exp(-scores))
    reached = scores > 0
    reached[:, 0], likely[:, 0] = True, 1.0
    n_asked = np.zeros(Z.shape[0], dtype=np.int64)
    for node in range(1, tree.n_nodes):
        parent = tree.parents[node]
        n_asked += reached[:, parent]
        reached[:, node] &= reached[:, parent]
        likely[:, node] *= likely[:, parent]
    leaves = np.flatnonzero(tree.leaf_labels >= 0)
    there = np.zeros((Z.shape[0], tree.n_labels), dtype=bool)
    chances = np.zeros((Z.shape[0], tree.n_labels), dtype=np.float32)
    there[:, tree.leaf_labels[leaves]] = reached[:, leaves]
    chances[:, tree.leaf_labels[leaves]] = likely[:, leaves]
    return there, chances, n_asked
