"""Relaxation 2 of label trees: all nodes learned together, with a single slack for each row.

A row's slack is its largest violation of a margin between right and wrong siblings on all of its
way from the root,

    min_w  ½ Σ_c ‖w_c‖² + C Σ_i ξ_i²   such that   w_r·x_i ≥ w_s·x_i + 1 − ξ_i

for all siblings r, s of which r is right for row i and s is wrong. Its dual has a variable for
each such pair; rows take turns, and a row raises the pairs that it violates most. Where slacks
count as they are, C Σ_i ξ_i, a row's variables add up to C at most, and a row moves them towards
the pair that it violates most, by as much as is best (Frank and Wolfe's steps, block by block).
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from labelspace.graph.tree import Tree
from labelspace.linear.node_classifiers import SolvedNodes, classifiers_of
from labelspace.linear.squared_hinge import LinearClassifiers, SolverRows
from labelspace.models.label_trees import _node_blocks_kernels as node_blocks
from labelspace.models.label_trees import _one_slack_kernels as kernels


def train_one_slack(
    X: csr_matrix,
    tree: Tree,
    positive: csr_matrix,
    *,
    C: float = 1.0,
    squared: bool = True,
    tol: float = 0.1,
    max_iter: int = 20,
    min_weight: float = 0.0,
    seed: int = 0,
) -> LinearClassifiers:
    """Train all nodes together, with one slack for each row.

    Parameters
    ----------
    X, tree, positive, C, min_weight, seed
        As in :func:`labelspace.linear.node_classifiers.train_node_classifiers`.
    squared : bool
        Whether a slack counts by its square, or as it is.
    max_iter : int
        Passes over all rows at most; ends sooner once no row violates by more than ``tol``.
    """
    rows = SolverRows.of(X)
    positive = csr_matrix(positive)
    positive.sort_indices()
    ways = positive.indptr.astype(np.int64), positive.indices.astype(np.int64)
    # Rows that are nowhere teach nothing, and their nodes have no weights to keep.
    blocks = node_blocks.lay_out_blocks(
        rows.indptr, rows.indices, len(rows.feature_of), tree.first_child, *ways
    )
    weights, n_passes = kernels.train_one_slack(
        rows.indptr,
        rows.data,
        rows.lengths,
        tree.first_child,
        *ways,
        *blocks,
        float(C),
        squared,
        np.float32(tol),
        max_iter,
        seed,
    )
    nodes, counts, biases, features, values = node_blocks.from_blocks(
        weights, tree.first_child, *blocks[:3], np.float32(min_weight)
    )
    found = SolvedNodes(nodes, counts, biases, features, values, n_passes)
    return classifiers_of([found], rows.feature_of, (tree.n_nodes, X.shape[1]))
