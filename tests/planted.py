"""Small problems whose right answer is known: each label has words of its own."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from labelspace.graph.tree import Labels, Tree, grow_tree


def planted_corpus(
    n_examples: int = 300, n_labels: int = 12, seed: int = 0
) -> tuple[csr_matrix, csr_matrix]:
    """Return X, Y: a row has one to three labels, all four words of each, and some noise."""
    rng = np.random.default_rng(seed)
    n_features = 4 * n_labels + 30
    X = np.zeros((n_examples, n_features), dtype=np.float32)
    Y = np.zeros((n_examples, n_labels), dtype=np.float32)
    for row in range(n_examples):
        labels = rng.choice(n_labels, size=rng.integers(1, 4), replace=False)
        Y[row, labels] = 1.0
        for label in labels:
            X[row, 4 * label : 4 * label + 4] = rng.uniform(0.5, 1.0, size=4)
        noise = rng.choice(30, size=3, replace=False)
        X[row, 4 * n_labels + noise] = rng.uniform(0.1, 0.4, size=3)
    return csr_matrix(X), csr_matrix(Y)


def drowned_corpus(
    n_examples: int = 1200, n_labels: int = 8, seed: int = 0
) -> tuple[csr_matrix, csr_matrix]:
    """Return X, Y where words that have nothing to do with labels are the loudest.

    A row has one or two labels, four words of each, and eight louder words of one of 30 sources, so
    that its nearest rows, as they are or by a random map, are those of its source.
    """
    rng = np.random.default_rng(seed)
    n_sources, n_own = 30, 4 * n_labels
    X = np.zeros((n_examples, n_own + 8 * n_sources), dtype=np.float32)
    Y = np.zeros((n_examples, n_labels), dtype=np.float32)
    for row in range(n_examples):
        labels = rng.choice(n_labels, size=rng.integers(1, 3), replace=False)
        Y[row, labels] = 1.0
        for label in labels:
            X[row, 4 * label : 4 * label + 4] = rng.uniform(0.5, 1.0, size=4)
        source = n_own + 8 * rng.integers(n_sources)
        X[row, source : source + 8] = rng.uniform(1.0, 6.0, size=8)
    return csr_matrix(X), csr_matrix(Y)


def tree_problem(n_rows: int = 80, several: bool = False) -> tuple[csr_matrix, Tree, csr_matrix]:
    """Return rows, a tree of their five labels, and the nodes that each row is at."""
    random = np.random.default_rng(0)
    X = random.normal(size=(n_rows, 4)).astype(np.float32)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    scores = X @ random.normal(size=(4, 5)) + 0.3 * random.normal(size=(n_rows, 5))
    Y = np.zeros((n_rows, 5), dtype=np.float32)
    Y[np.arange(n_rows), scores.argmax(axis=1)] = 1
    if several:
        Y[scores > 0.9] = 1
    tree = Tree.from_nested([[0, 1, 2], [3, 4]], n_labels=5)
    return csr_matrix(X), tree, tree.positive_nodes(csr_matrix(Y))


def random_tree(n_labels: int, *, branching: int, leaf_size: int) -> Tree:
    """Return a tree of labels in random order."""
    random = np.random.default_rng(0)

    def split(held: Labels) -> list[Labels]:
        n_parts = min(branching, max(2, -(-held.size // leaf_size)))
        return np.array_split(random.permutation(held), n_parts)

    return grow_tree(np.arange(n_labels), n_labels, split, leaf_size=leaf_size)


def grouped_affinity(n_groups: int, size: int, seed: int = 0) -> csr_matrix:
    """Labels in groups, alike within and little between."""
    random = np.random.default_rng(seed)
    n = n_groups * size
    alike = (random.random((n, n)) < 0.05) * 0.1
    for start in range(0, n, size):
        alike[start : start + size, start : start + size] += random.random((size, size))
    return csr_matrix(alike + alike.T)
