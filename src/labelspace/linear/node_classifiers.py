"""Linear classifiers of the nodes of a label tree that learn to tell siblings apart.

A walk only ever compares the children of one node, so only rows that belong there have to be told
apart. A row is at a node if the node holds any of its labels. Each child separates its rows from
those of its siblings,

    min_w  ½‖w_c‖² + C Σ_{i at the parent of c} ℓ(y_ic w_c·x_i),   y_ic = ±1

with the squared hinge ℓ(m) = max(0, 1 − m)² of the shared solver, the hinge max(0, 1 − m) as it is,
or the logistic loss ℓ(m) = ln(1 + e^−m), with which σ(w_c·x) estimates P(c | parent, x). With the
last C grows on the way down, by the fourth root of all rows over those at the parent: on a long
path doubts multiply.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_matrix, csr_matrix

from labelspace import engine, threads
from labelspace.graph.tree import Tree
from labelspace.linear import _node_kernels as kernels
from labelspace.linear.chunks import solve_chunks
from labelspace.linear.squared_hinge import LinearClassifiers, SolverRows

CHUNKS_PER_THREAD = 16
LOSSES = {
    "squared_hinge": kernels.SQUARED_HINGE,
    "hinge": kernels.HINGE,
    "logistic": kernels.LOGISTIC,
}


def train_node_classifiers(
    X: csr_matrix,
    tree: Tree,
    positive: csr_matrix,
    *,
    loss: str = "squared_hinge",
    C: float = 1.0,
    tol: float = 0.1,
    max_iter: int = 100,
    n_threads: int | None = None,
    min_weight: float = 0.0,
    seed: int = 0,
) -> LinearClassifiers:
    """Train each child on the rows at its parent; the root has no weights.

    Parameters
    ----------
    X : csr_matrix of shape (n_examples, n_features)
    tree : Tree
    positive : csr_matrix of shape (n_examples, n_nodes)
        Which nodes each row is at; see :meth:`labelspace.graph.tree.Tree.positive_nodes`.
    loss : {"squared_hinge", "hinge", "logistic"}
    C, tol, max_iter, min_weight, n_threads, seed
        As in :func:`labelspace.linear.squared_hinge.train_squared_hinge`.
    """
    rows = SolverRows.of(X)
    at_node = csc_matrix(positive)
    at_node.sort_indices()
    node_ptr, node_rows = at_node.indptr.astype(np.int64), at_node.indices.astype(np.int32)
    parents = tree.inner
    work = np.diff(node_ptr)[parents] * tree.n_children[parents]
    parents = parents[np.argsort(-work, kind="stable")]
    limits = float(C), np.float32(tol), max_iter, np.float32(min_weight)
    inputs = (*rows.arrays, tree.first_child, node_ptr, node_rows), (LOSSES[loss], *limits, seed)
    n_chunks = min(len(parents), CHUNKS_PER_THREAD * threads.resolve(n_threads))
    chunks = [parents[start::n_chunks] for start in range(n_chunks)]
    if engine.is_active():
        parts = engine.blocks_of_equal_work(np.sort(work)[::-1])
        chunks = [parents[part] for part in parts]
    found = solve_chunks(_solve, inputs, chunks, "training the tree", n_threads)
    solved = [SolvedNodes(*part) for part in found]
    return classifiers_of(solved, rows.feature_of, (tree.n_nodes, X.shape[1]))


def _solve(inputs: tuple[Any, ...], chunk: NDArray[np.int64]) -> SolvedNodes:
    rows, options = inputs
    return SolvedNodes(*kernels.train_children(*rows, chunk, *options))


class SolvedNodes(NamedTuple):
    """What was learned for ``nodes``, in whatever order: ``counts`` weights each."""

    nodes: NDArray[np.int64]
    counts: NDArray[np.int64]
    biases: NDArray[np.float32]
    features: NDArray[np.int32]
    values: NDArray[np.float32]
    n_passes: int


def classifiers_of(
    solved: list[SolvedNodes], feature_of: NDArray[np.int64], shape: tuple[int, int]
) -> LinearClassifiers:
    """Put the weights of all nodes into one matrix, and let go of each part on the way.

    The weights of a large tree fill much of the memory: they are there at most twice.
    """
    biases = np.zeros(shape[0], dtype=np.float32)
    counts = np.zeros(shape[0], dtype=np.int64)
    n_iter = max([1, *(part.n_passes for part in solved)])
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
    return LinearClassifiers(weights, biases, n_iter)
