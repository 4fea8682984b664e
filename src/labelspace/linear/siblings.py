"""Predictors of the nodes of a label tree that learn to tell siblings apart.

A walk only ever compares the children of one node, so only rows that belong there have to be told
apart. A row is at a node if the node holds any of its labels. Two forms:

``train_siblings``: each child separates its rows from those of its siblings,

    min_w  ½‖w_c‖² + C Σ_{i at the parent of c} ℓ(y_ic w_c·x_i),   y_ic = ±1

with the squared hinge ℓ(m) = max(0, 1 − m)² of the shared solver, or the logistic loss
ℓ(m) = ln(1 + e^−m), with which σ(w_c·x) estimates P(c | parent, x). There C grows on the way down,
by the fourth root of all rows over those at the parent: on a long path doubts multiply.

``train_one_slack``: relaxation 2 of the paper. A row has a single slack, its largest violation
of a margin between right and wrong siblings on all of its way,

    min_w  ½ Σ_c ‖w_c‖² + C Σ_i ξ_i²   such that   w_r·x_i ≥ w_s·x_i + 1 − ξ_i

for all siblings r, s of which r is right for row i and s is wrong. Its dual has a variable for
each such pair; rows take turns, and a row raises the pairs that it violates most.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_matrix, csr_matrix

from labelspace import progress, threads
from labelspace.graph.tree import Tree
from labelspace.linear import _one_slack_kernels as one_slack
from labelspace.linear import _sibling_kernels as kernels
from labelspace.linear.squared_hinge import Rows

CHUNKS_PER_THREAD = 16
LOSSES = {"squared_hinge": kernels.SQUARED_HINGE, "logistic": kernels.LOGISTIC}


class NodePredictors(NamedTuple):
    """Weights (n_nodes, n_features), biases (n_nodes,), and the most passes that were made."""

    weights: csr_matrix
    biases: NDArray[np.float32]
    n_iter: int


def train_siblings(
    X: csr_matrix,
    tree: Tree,
    right: csr_matrix,
    *,
    loss: str = "squared_hinge",
    C: float = 1.0,
    tol: float = 0.1,
    max_iter: int = 100,
    min_weight: float = 0.0,
    n_threads: int | None = None,
    seed: int = 0,
) -> NodePredictors:
    """Train each child on the rows at its parent.

    Parameters
    ----------
    X : csr_matrix of shape (n_examples, n_features)
    tree : Tree
    right : csr_matrix of shape (n_examples, n_nodes)
        Which nodes each row is at.
    loss : {"squared_hinge", "logistic"}
    C, tol, max_iter, min_weight, n_threads, seed
        As in :func:`labelspace.linear.squared_hinge.train_squared_hinge`.
    """
    rows = Rows.of(X)
    at_node = csc_matrix(right)
    at_node.sort_indices()
    node_ptr, node_rows = at_node.indptr.astype(np.int64), at_node.indices.astype(np.int32)
    parents = tree.inner
    work = np.diff(node_ptr)[parents] * tree.n_children[parents]
    parents = parents[np.argsort(-work, kind="stable")]
    n_threads = threads.resolve(n_threads)
    n_chunks = min(len(parents), CHUNKS_PER_THREAD * n_threads)

    def solve(chunk: NDArray[np.int64]) -> tuple[Any, ...]:
        return kernels.train_siblings(
            rows.indptr,
            rows.indices,
            rows.data,
            rows.lengths,
            len(rows.feature_of),
            tree.first_child,
            node_ptr,
            node_rows,
            chunk,
            LOSSES[loss],
            float(C),
            np.float32(tol),
            max_iter,
            np.float32(min_weight),
            seed,
        )

    solved: list[_Found] = []
    n_passes = 1
    with (
        progress.task("training the tree", total=len(parents)) as advance,
        ThreadPoolExecutor(n_threads) as pool,
    ):
        chunks = [parents[start::n_chunks] for start in range(n_chunks)]
        for *part, taken in pool.map(solve, chunks):
            solved.append(_Found(*part))
            n_passes = max(n_passes, taken)
            advance(len(parents) // n_chunks)
    return _put_together(solved, rows.feature_of, (tree.n_nodes, X.shape[1]), n_passes)


def train_one_slack(
    X: csr_matrix,
    tree: Tree,
    right: csr_matrix,
    *,
    C: float = 1.0,
    tol: float = 0.1,
    max_iter: int = 20,
    min_weight: float = 0.0,
    seed: int = 0,
) -> NodePredictors:
    """Train all nodes together, with one slack for each row.

    Parameters
    ----------
    X, tree, right
        As in ``train_siblings``.
    max_iter : int
        Passes over all rows at most; ends sooner once no row violates by more than ``tol``.
    """
    rows = Rows.of(X)
    right = csr_matrix(right)
    right.sort_indices()
    right_ptr, right_nodes = right.indptr.astype(np.int64), right.indices.astype(np.int64)
    # Rows that are nowhere teach nothing, and their nodes have no weights to keep.
    blocks = one_slack.lay_out_blocks(
        rows.indptr,
        rows.indices,
        len(rows.feature_of),
        tree.first_child,
        right_ptr,
        right_nodes,
    )
    weights, n_passes = one_slack.train_one_slack(
        rows.indptr,
        rows.data,
        rows.lengths,
        tree.first_child,
        right_ptr,
        right_nodes,
        *blocks,
        float(C),
        np.float32(tol),
        max_iter,
        seed,
    )
    found = _Found(
        *one_slack.from_blocks(weights, tree.first_child, *blocks[:3], np.float32(min_weight))
    )
    return _put_together([found], rows.feature_of, (tree.n_nodes, X.shape[1]), n_passes)


class _Found(NamedTuple):
    """What was learned for ``nodes``, in whatever order: ``counts`` weights each."""

    nodes: NDArray[np.int64]
    counts: NDArray[np.int64]
    biases: NDArray[np.float32]
    features: NDArray[np.int32]
    values: NDArray[np.float32]


def _put_together(
    solved: list[_Found], feature_of: NDArray[np.int64], shape: tuple[int, int], n_iter: int
) -> NodePredictors:
    """Put the weights of all nodes into one matrix, and let go of each part on the way.

    The weights of a large tree fill much of the memory: they are there at most twice.
    """
    biases = np.zeros(shape[0], dtype=np.float32)
    counts = np.zeros(shape[0], dtype=np.int64)
    for part in solved:
        biases[part.nodes] = part.biases
        counts[part.nodes] = part.counts
    indptr = np.concatenate(([0], np.cumsum(counts)))
    indices = np.empty(indptr[-1], dtype=np.int32)
    data = np.empty(indptr[-1], dtype=np.float32)
    feature_of = feature_of.astype(np.int32)
    while solved:
        part = solved.pop()
        begun = np.cumsum(part.counts) - part.counts
        places = np.repeat(indptr[part.nodes] - begun, part.counts) + np.arange(len(part.values))
        indices[places] = feature_of[part.features]
        data[places] = part.values
    weights = csr_matrix((data, indices, indptr), shape=shape)
    weights.sort_indices()
    return NodePredictors(weights, biases, n_iter)
