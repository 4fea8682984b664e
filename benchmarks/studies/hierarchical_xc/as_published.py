"""HierarchicalXC as its authors' program has it, with its mistakes, which can be mended one by one.

The report says little of how the method was programmed; its repository,
vishwakftw/extreme-classification on GitHub, says more. Read there, and repeated here:

- ``rows_in_order=False``: the rows' encodings come out of a loader that shuffles, and are used
  beside labels that are in the files' order. What comes out is the decoder's output, not the code.
- ``right_targets=False``: a node's rows are put in three blocks, those of the first child only, of
  the second only, and of both. The targets of the second and third block are written with the
  blocks' lengths taken for their ends. Rows are also listed once for each of their labels, where
  the set functions that make the blocks are promised that each comes once.
- ``kernel="rbf"``: a support vector machine with γ = 1 / n_features, for which rows of a few dozen
  ones among 1,836 features are nearly all alike.
- Decisions are yes or no, so that all labels that are found are equal; among equals the measures
  take the labels with the largest numbers.

The auto-encoder itself is not repeated. ``encoded=True`` makes rows again from their first hundred
singular vectors, the best that linear layers without biases can do with a code of that width: it
stands for one that is trained to the end, without an L2 term, which the program's may have had.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.svm import SVC, LinearSVC

from labelspace.graph.tree import Tree
from labelspace.models.hierarchical_xc.complete_link import complete_link_tree
from labelspace.models.hierarchical_xc.projection import projection
from labelspace.topk import TopK

Answers = tuple[TopK, TopK]
Decisions = tuple[NDArray[np.bool_], NDArray[np.bool_]]
DIM = 100  # of the code that rows are reconstructed from


def as_published(X: csr_matrix, Y: csr_matrix, X_test: csr_matrix, **faults: Any) -> Answers:
    """Return the five labels that the program gives to the rows of train and of test."""
    train, test = decisions(X, Y, X_test, **faults)
    return _answers(train), _answers(test)


def decisions(
    X: csr_matrix,
    Y: csr_matrix,
    X_test: csr_matrix,
    *,
    encoded: bool = True,
    rows_in_order: bool = False,
    right_targets: bool = False,
    kernel: str = "rbf",
    seed: int = 0,
) -> Decisions:
    """Return which labels the program finds for the rows of train and of test."""
    random = np.random.default_rng(seed)
    train: NDArray[np.floating] = X.toarray()
    test: NDArray[np.floating] = X_test.toarray()
    if encoded:
        # In place of their auto-encoder, which is linear and hardly does better than this.
        V = projection(X, DIM, "svd", seed).to_float()
        train, test = train @ V @ V.T, test @ V @ V.T
    if not rows_in_order:
        train, test = random.permutation(train), random.permutation(test)
    tree = complete_link_tree(Y, "cooccurrence", balanced=False)
    gram = Gram(train, test) if kernel == "rbf" else None
    found = np.zeros((2, max(len(train), len(test)), Y.shape[1]), dtype=bool)
    reached: dict[int, tuple[NDArray[Any], NDArray[Any]]]
    reached = {0: (np.ones(len(train), dtype=bool), np.ones(len(test), dtype=bool))}
    for node in tree.inner.tolist():
        rows, targets = _examples(tree, node, Y, right_targets)
        here = reached.pop(node)
        for child, wanted in zip(tree.children(node).tolist(), targets, strict=True):
            if gram is not None:
                yes = gram.decide(rows, wanted)
            else:
                yes = _decide_linearly(train, test, rows, wanted)
            there = here[0] & yes[0], here[1] & yes[1]
            label = tree.leaf_labels[child]
            if label >= 0:
                for part in (0, 1):
                    found[part, : len(there[part]), label] = there[part]
            else:
                reached[child] = there
    return found[0, : len(train)], found[1, : len(test)]


def taught_as_both(Y: csr_matrix, *, right_targets: bool) -> float:
    """Return the share of all nodes' rows that are taught as rows of both children."""
    tree = complete_link_tree(Y, "cooccurrence", balanced=False)
    n_both, n_rows = 0, 0
    for node in tree.inner.tolist():
        rows, targets = _examples(tree, node, Y, right_targets)
        n_both += int(targets.all(axis=0).sum())
        n_rows += len(rows)
    return n_both / n_rows


def least_likeness(X: csr_matrix) -> float:
    """Return how alike the program's kernel takes those two rows to be that are least alike."""
    dense: NDArray[np.floating] = X.toarray()
    return float(_rbf(dense, dense).min())


def _examples(
    tree: Tree, node: int, Y: csr_matrix, right_targets: bool
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the rows that a node learns from, and for each child which are to be its own."""
    left, right = (_rows_with(Y, tree.labels_of(child)) for child in tree.children(node).tolist())
    if right_targets:
        rows = np.union1d(left, right)
        return rows, np.stack([np.isin(rows, left), np.isin(rows, right)])
    first = np.setdiff1d(left, right, assume_unique=True)
    second = np.setdiff1d(right, left, assume_unique=True)
    both = np.intersect1d(left, right, assume_unique=True)
    rows = np.concatenate((first, second, both))
    targets = np.zeros((2, len(rows)), dtype=bool)
    targets[0, : len(first)] = True
    targets[1, len(first) : len(second)] = True
    targets[:, len(second) :] = True
    return rows, targets


def _rows_with(Y: csr_matrix, labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a row for each of these labels that it has: rows with several come several times."""
    return Y[:, labels].nonzero()[0]


class Gram:
    """The kernel of all rows with each other, computed once for all nodes."""

    def __init__(self, train: NDArray[np.floating], test: NDArray[np.floating]) -> None:
        self.train, self.test = _rbf(train, train), _rbf(test, train)

    def decide(self, rows: NDArray[np.int64], wanted: NDArray[np.bool_]) -> list[NDArray[np.bool_]]:
        """Return what a machine learned from ``rows`` says of train and of test."""
        sides = (self.train, self.test)
        if wanted.all() or not wanted.any():
            return [np.full(len(side), wanted.all()) for side in sides]
        machine = SVC(kernel="precomputed").fit(self.train[np.ix_(rows, rows)], wanted)
        return [machine.predict(side[:, rows]) for side in sides]


def _rbf(one: NDArray[np.floating], other: NDArray[np.floating]) -> NDArray[np.float64]:
    lengths = (one**2).sum(axis=1)[:, np.newaxis] + (other**2).sum(axis=1)
    return np.exp(-(lengths - 2 * one @ other.T) / one.shape[1])


def _decide_linearly(
    train: NDArray[np.floating],
    test: NDArray[np.floating],
    rows: NDArray[np.int64],
    wanted: NDArray[np.bool_],
) -> list[NDArray[np.bool_]]:
    if wanted.all() or not wanted.any():
        return [np.full(len(side), wanted.all()) for side in (train, test)]
    machine = LinearSVC(tol=0.1).fit(csr_matrix(train[rows]), wanted)
    return [machine.predict(side) for side in (train, test)]


def _answers(found: NDArray[np.bool_]) -> TopK:
    """Rank labels as the authors' measures do: found ones first, larger numbers first."""
    n_labels = found.shape[1]
    labels = n_labels - 1 - np.argsort(~found[:, ::-1], axis=1, kind="stable")[:, :5]
    scores = np.take_along_axis(found, labels, axis=1).astype(np.float32)
    return TopK(labels.astype(np.int64), scores)
