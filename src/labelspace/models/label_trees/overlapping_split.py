"""Splits of a label set that are learned together with the predictors that follow them.

Deng et al. (2011) do not cluster labels first and learn to follow the clusters after. At each node
they take turns: with the split fixed, learn predictors of the children; with the predictors fixed,
look where the rows really go, and put each label into the children that its rows go to. A label
may be in several. What a step costs is its ambiguity, the share of the labels that the chosen
child still holds; what it gains is that the right label is among them:

    max_P  Σ_i P(q_i, y_i)   such that   (1/m) Σ_i Σ_k P(q_i, k) / n_labels ≤ ambiguity / n_parts

where q_i is the child that row i goes to and P(q, k) is 1 if child q holds label k. This is a
knapsack: with n_qk the rows of label k that go to child q, and n_q all rows that do, P(q, k)
gains n_qk and costs n_q. So labels go first where their rows go, as far as children have room, and
what the bound still allows is given to the best ratios.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.graph.tree import Labels, flat_tree
from labelspace.linear.node_classifiers import train_node_classifiers
from labelspace.models.label_trees import _bounded_clustering_kernels as kernels
from labelspace.models.label_trees.affinity import centroid_affinity
from labelspace.models.label_trees.spectral_tree import spectral_split

MOST_ROWS = 20_000  # enough to see where the rows of a label go
MOST_LEFT = 0.75  # of its labels that a node may leave to a child, or trees would never end


def overlapping_split(
    X: csr_matrix,
    Y: csr_matrix,
    n_parts: int,
    *,
    ambiguity: float = 1.5,
    balance: float = 0.8,
    n_rounds: int = 2,
    C: float = 1.0,
    n_threads: int | None = None,
    seed: int = 0,
) -> list[Labels]:
    """Return the labels (columns of ``Y``) of each part.

    Parameters
    ----------
    X, Y : csr_matrix
        The rows at a node, and which of the node's labels they have.
    n_parts : int
    ambiguity : float
        Labels that a step may leave on average, as a multiple of those of an even split: at 1
        no label is in two parts. Never more than three quarters of all.
    balance : float
        No part holds more labels than an even split's divided by this, those in two left aside.
    n_rounds : int
        Turns of learning predictors and moving labels.
    """
    n_labels = Y.shape[1]
    if n_labels <= n_parts:
        return list(np.arange(n_labels).reshape(-1, 1))
    rows = np.random.default_rng(seed).permutation(X.shape[0])[:MOST_ROWS]
    X, Y = csr_matrix(X[rows]), csr_matrix(Y[rows])
    held: NDArray[np.bool_] = np.zeros((n_parts, n_labels), dtype=np.bool_)
    alike = centroid_affinity(X, Y)
    for part, labels in enumerate(spectral_split(alike, n_parts, balance=balance, seed=seed)):
        held[part, labels] = True
    room = int(np.ceil(n_labels / (n_parts * balance) - 1e-9)) if balance else n_labels
    for _ in range(n_rounds):
        routes = _routes(X, Y, held, C, n_threads, seed)
        held = assign_labels(routes, Y, room, ambiguity)
    return [np.flatnonzero(labels) for labels in held]


def assign_labels(
    routes: NDArray[np.bool_], Y: csr_matrix, room: int, ambiguity: float
) -> NDArray[np.bool_]:
    """Return which labels each child holds, given where rows go.

    Parameters
    ----------
    routes : ndarray of shape (n_examples, n_parts)
        Which children each row goes to.
    Y : csr_matrix of shape (n_examples, n_labels)
    room : int
        Labels that have their first place in a child at most.
    ambiguity : float
        As in ``overlapping_split``.

    Examples
    --------
    >>> routes = np.array([[True, False], [False, True], [False, True], [True, False]])
    >>> Y = csr_matrix([[1, 0], [0, 1], [0, 1], [0, 1]], dtype=np.float32)
    >>> assign_labels(routes, Y, room=1, ambiguity=1.0).astype(int)
    array([[1, 0],
           [0, 1]])
    >>> assign_labels(routes, Y, room=1, ambiguity=2.0).astype(int)
    array([[1, 1],
           [0, 1]])
    """
    n_parts, n_labels = routes.shape[1], Y.shape[1]
    going = routes.T.astype(np.float32)
    gains = np.asarray(going @ Y)
    first = kernels.bounded_choice(np.ascontiguousarray(gains.T, dtype=np.float32), room)
    held = np.zeros((n_parts, n_labels), dtype=np.bool_)
    held[first, np.arange(n_labels)] = True

    # What the first places miss: rows that do not go where their label is.
    pairs = Y.tocoo()
    missed = ~routes[pairs.row, first[pairs.col]]
    rest = csr_matrix((pairs.data[missed], (pairs.row[missed], pairs.col[missed])), shape=Y.shape)
    gains = np.asarray(going @ rest)
    costs = routes.sum(axis=0).astype(np.float64)
    left = min(ambiguity / n_parts, max(MOST_LEFT, 1.0 / n_parts)) * n_labels
    allowed = left * routes.sum() - costs @ held.sum(axis=1)
    ratios = np.where(held, 0.0, gains / np.maximum(costs, 1.0)[:, np.newaxis])
    # No child takes more than its share of the bound and of the room.
    rank = np.argsort(np.argsort(-ratios, axis=1, kind="stable"), axis=1, kind="stable")
    most = max(min(left * room * n_parts / n_labels, MOST_LEFT * n_labels), room)
    ratios[rank >= most - held.sum(axis=1)[:, np.newaxis]] = 0.0
    order = np.argsort(-ratios, axis=None, kind="stable")
    order = order[ratios.ravel()[order] > 0]
    spent = np.cumsum(costs[order // n_labels])
    held.ravel()[order[spent <= allowed]] = True
    return held


def _routes(
    X: csr_matrix,
    Y: csr_matrix,
    held: NDArray[np.bool_],
    C: float,
    n_threads: int | None,
    seed: int,
) -> NDArray[np.bool_]:
    """Return which children each row goes to, as predictors of this split see it.

    That is the best child, and for rows with several labels any other that says yes.
    """
    n_parts = held.shape[0]
    tree = flat_tree(np.arange(n_parts), n_parts)
    there = csr_matrix(Y @ csr_matrix(held.T, dtype=np.float32) > 0, dtype=np.float32)
    positive = tree.positive_nodes(there)
    trained = train_node_classifiers(X, tree, positive, C=C, n_threads=n_threads, seed=seed)
    scores = np.asarray(X @ trained.weights.T.toarray() + trained.biases)[:, 1:]
    several = np.diff(Y.indptr)[:, np.newaxis] > 1
    routes = (scores > 0) & several
    routes[np.arange(len(scores)), scores.argmax(axis=1)] = True
    return routes
