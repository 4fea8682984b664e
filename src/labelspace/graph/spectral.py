"""Spectral clustering and Laplacian eigenmaps of a sparse affinity.

Both look at the eigenvectors of the normalised affinity D^-½ A D^-½ with the largest eigenvalues,
which are those of the Laplacian with the smallest. Label trees split a set of labels by k-means
on them; label vectors are made of them as they are:

    min_V  Σ_ij A_ij ‖V_i − V_j‖²   such that   Vᵀ D V = I,   D_ii = Σ_j A_ij
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse import csr_matrix
from scipy.sparse.linalg import ArpackError, ArpackNoConvergence, LinearOperator, eigsh

from labelspace.graph import _tree_kernels
from labelspace.graph.tree import Labels, Tree, grow

_DENSE = 400  # up to so many labels a dense solver is quicker
_EVERYWHERE = 0.05  # affinity of all with all, as a share of the mean: it joins what is apart


def laplacian_eigenmaps(affinity: csr_matrix, dim: int, seed: int = 0) -> NDArray[np.float32]:
    """Return ``dim`` coordinates of each label, V with Vᵀ D V = I; the constant one is left out.

    A little affinity of all with all is added, as a graph in pieces has no single answer; so D is
    that of the sum.

    Examples
    --------
    >>> V = laplacian_eigenmaps(csr_matrix(np.ones((4, 4)) - np.eye(4)), dim=2)
    >>> V.shape
    (4, 2)
    """
    n = affinity.shape[0]
    found, degrees = _eigenvectors(affinity, min(dim + 1, n), seed, tol=1e-5)
    V = np.zeros((n, dim))
    V[:, : found.shape[1] - 1] = found[:, 1:] / np.sqrt(degrees)[:, np.newaxis]
    return V.astype(np.float32)


def spectral_split(
    affinity: csr_matrix, n_parts: int, *, balance: float = 0.0, seed: int = 0
) -> list[Labels]:
    """Return the labels of each part of a spectral clustering.

    Parameters
    ----------
    affinity : csr_matrix of shape (n_labels, n_labels)
        Symmetric, not negative.
    n_parts : int
    balance : float
        No part is larger than the mean size divided by this: 1 makes parts of one size, 0 leaves
        them as they come.

    Examples
    --------
    >>> alike = csr_matrix([[1, 0.9, 0, 0.1], [0.9, 1, 0.1, 0], [0, 0.1, 1, 0.8], [0.1, 0, 0.8, 1]])
    >>> sorted(part.tolist() for part in spectral_split(alike, 2))
    [[0, 1], [2, 3]]
    """
    n = affinity.shape[0]
    if n <= n_parts:
        return list(np.arange(n).reshape(-1, 1))
    vectors, _ = _eigenvectors(affinity, n_parts, seed, tol=1e-2)
    lengths = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    return kmeans_split(vectors / lengths, n_parts, balance=balance, seed=seed)


def kmeans_split(
    points: NDArray[np.floating], n_parts: int, *, balance: float = 0.0, seed: int = 0
) -> list[Labels]:
    """Return the points of each part of a k-means clustering with bounded sizes."""
    n = points.shape[0]
    room = n if balance == 0 else min(n, int(np.ceil(n / (n_parts * balance) - 1e-9)))
    random = np.random.default_rng(seed)
    points = np.ascontiguousarray(points, dtype=np.float32)
    start = _tree_kernels.spread_out(points, n_parts, random.random(n_parts))
    part_of = _tree_kernels.bounded_kmeans(points, start, room, 30)
    return [np.flatnonzero(part_of == part) for part in range(n_parts)]


def spectral_tree(
    affinity: csr_matrix,
    labels: Labels,
    *,
    branching: int,
    leaf_size: int = 1,
    max_depth: int | None = None,
    balance: float = 0.0,
    seed: int = 0,
) -> Tree:
    """Return the tree of ``labels`` that comes from recursive spectral clustering.

    Examples
    --------
    >>> alike = csr_matrix([[1, 0.9, 0, 0.1], [0.9, 1, 0.1, 0], [0, 0.1, 1, 0.8], [0.1, 0, 0.8, 1]])
    >>> tree = spectral_tree(alike, np.arange(4), branching=2)
    >>> sorted(tree.labels_of(node).tolist() for node in tree.children(0))
    [[0, 1], [2, 3]]
    """

    def split(held: Labels) -> list[Labels]:
        alike = csr_matrix(affinity[held][:, held])
        n_parts = _n_parts(held, branching, leaf_size)
        return [held[one] for one in spectral_split(alike, n_parts, balance=balance, seed=seed)]

    return grow(labels, affinity.shape[0], split, leaf_size=leaf_size, max_depth=max_depth)


def random_tree(
    labels: Labels,
    n_labels: int,
    *,
    branching: int,
    leaf_size: int = 1,
    max_depth: int | None = None,
    seed: int = 0,
) -> Tree:
    """Return a balanced tree of ``labels`` in random order: what learned trees have to beat."""
    random = np.random.default_rng(seed)

    def split(held: Labels) -> list[Labels]:
        n_parts = _n_parts(held, branching, leaf_size)
        return [np.sort(part) for part in np.array_split(random.permutation(held), n_parts)]

    return grow(labels, n_labels, split, leaf_size=leaf_size, max_depth=max_depth)


def _n_parts(held: Labels, branching: int, leaf_size: int) -> int:
    """Return how many children to make: no more than leaf-sized ones need."""
    return min(branching, max(2, -(-held.size // leaf_size)))


def _eigenvectors(
    affinity: csr_matrix, n_vectors: int, seed: int, tol: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the leading eigenvectors of D^-½ A D^-½, largest eigenvalue first, and D."""
    n = affinity.shape[0]
    affinity = csr_matrix(affinity, dtype=np.float64)
    sums = np.asarray(affinity.sum(axis=1)).ravel()
    everywhere = max(_EVERYWHERE * sums.mean(), 1e-12) / n
    degrees = sums + everywhere * n
    scales = 1.0 / np.sqrt(degrees)
    if n <= _DENSE:
        dense = (affinity.toarray() + everywhere) * scales * scales[:, np.newaxis]
        vectors = eigh(dense, subset_by_index=[n - n_vectors, n - 1])[1]
        return vectors[:, ::-1], degrees

    def product(x: NDArray[np.float64]) -> NDArray[np.float64]:
        scaled = scales * x.ravel()
        return scales * (affinity @ scaled + everywhere * scaled.sum())

    operator = LinearOperator((n, n), matvec=product, dtype=np.float64)
    start = np.random.default_rng(seed).random(n)
    try:
        values, vectors = eigsh(
            operator, k=n_vectors, which="LA", v0=start, tol=tol, ncv=min(n, 2 * n_vectors + 20)
        )
    except ArpackNoConvergence as unfinished:
        values, vectors = unfinished.eigenvalues, unfinished.eigenvectors
        if not len(values):
            values, vectors = np.zeros(1), start[:, np.newaxis]
    except ArpackError:
        values, vectors = np.zeros(1), start[:, np.newaxis]
    return vectors[:, np.argsort(-values, kind="stable")], degrees
