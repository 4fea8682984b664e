"""Which labels are alike: sparse symmetric matrices from which trees and label vectors are made.

The paper's affinity is the confusion matrix of one-vs-all classifiers, made symmetric: labels that
are taken for each other belong together. C_kl is the mean, over the rows that have label k, of one
over the rank of the answer l, whether the row has l as well or not; a label is not compared with
itself. It stays sparse because only the first ten answers of each row count, and of each label's
confusions the largest twenty. Where one-vs-all would be too costly, the centroids of the labels'
rows, or how often labels come together, say nearly the same.

The confusions are those on rows that the classifiers have not seen: each half of the rows is judged
by the other's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, diags

from labelspace.graph.centroids import (
    label_centroids,
    largest,
    largest_entries,
    off_diagonal,
)
from labelspace.graph.cooccurrence import cooccurrence, similarity
from labelspace.graph.label_knn import shortest_lists
from labelspace.linear.squared_hinge import train_squared_hinge
from labelspace.search.sparse import SparseIndex
from labelspace.topk import TopK

AFFINITIES = ("confusion", "centroid", "cooccurrence")
FEW_LABELS = 200  # up to so many one-vs-all costs little
N_ANSWERS = 10  # of each row, in which confusions are looked for
_CHEAP = 50_000_000  # products that take no time worth saving


def label_affinity(
    X: csr_matrix,
    Y: csr_matrix,
    kind: str = "auto",
    *,
    n_neighbors: int = 20,
    n_threads: int | None = None,
    seed: int = 0,
) -> csr_matrix:
    """Return a sparse symmetric matrix (n_labels, n_labels), larger for labels more alike.

    Parameters
    ----------
    X, Y : csr_matrix
        Rows of length one, and their labels.
    kind : {"auto", "confusion", "centroid", "cooccurrence"}
        "auto": confusion for few labels, else centroid.
    n_neighbors : int
        Entries kept for each label.

    Examples
    --------
    >>> X = csr_matrix([[1, 0.5, 0], [0.5, 1, 0], [0, 0, 1]], dtype=np.float32)
    >>> alike = label_affinity(X, csr_matrix(np.eye(3, dtype=np.float32)), "centroid")
    >>> bool(alike[0, 1] > alike[0, 2])
    True
    """
    if kind == "auto":
        kind = "confusion" if Y.shape[1] <= FEW_LABELS else "centroid"
    if kind == "cooccurrence":
        return cooccurrence_affinity(Y, n_neighbors)
    if kind == "centroid":
        return centroid_affinity(X, Y, n_neighbors)
    return confusion_affinity(Y, _answers(X, Y, n_threads, seed), n_neighbors)


def confusion_affinity(Y: csr_matrix, answers: TopK, n_neighbors: int = 20) -> csr_matrix:
    """Return how often labels are taken for each other: ½ (C + Cᵀ), its diagonal zero.

    C_kl is the mean, over the rows that have label k, of one over the rank of the answer l ≠ k.

    Parameters
    ----------
    Y : csr_matrix of shape (n_examples, n_labels)
    answers : TopK
        What classifiers say of the same rows; the answer at rank r counts 1 / r.
    n_neighbors : int
        Largest confusions of a label, entries of a row of C, that are kept.

    Examples
    --------
    >>> Y = csr_matrix([[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    >>> answers = TopK(np.array([[1], [1], [2]]), np.ones((3, 1), dtype=np.float32))
    >>> confusion_affinity(Y, answers).toarray()
    array([[0. , 0.5, 0. ],
           [0.5, 0. , 0. ],
           [0. , 0. , 0. ]], dtype=float32)
    """
    rows, ranks = np.nonzero(answers.labels >= 0)
    given = csr_matrix(
        ((1.0 / (1.0 + ranks)).astype(np.float32), (rows, answers.labels[rows, ranks])),
        shape=Y.shape,
    )
    counts = np.maximum(np.bincount(Y.indices, minlength=Y.shape[1]), 1)
    weights: Any = (1.0 / counts).astype(np.float32)
    shares = diags(weights) @ csr_matrix(Y.T, dtype=np.float32)
    return symmetric(largest(csr_matrix(shares), given, n_neighbors))


def centroid_affinity(
    X: csr_matrix,
    Y: csr_matrix,
    n_neighbors: int = 20,
    *,
    n_features: int = 100,
    budget: int = 3000,
) -> csr_matrix:
    """Return the cosines of the labels' centroids, the largest of each label.

    Parameters
    ----------
    X : csr_matrix of shape (n_examples, n_features)
    Y : csr_matrix of shape (n_examples, n_labels)
    n_neighbors : int
    n_features : int
        Largest values of a centroid that are looked at.
    budget : int
        Labels compared with a label on average. The features that most labels have are left out
        until the rest fits: they say little and would cost most. Small label sets keep all.
    """
    centroids = label_centroids(X, Y, n_features)
    in_labels = np.bincount(centroids.indices, minlength=X.shape[1])
    telling: Any = shortest_lists(in_labels, max(budget * Y.shape[1], _CHEAP)).astype(np.float32)
    by_feature = csr_matrix(diags(telling) @ centroids.T)
    by_feature.eliminate_zeros()
    return symmetric(largest(centroids, by_feature, n_neighbors))


def cooccurrence_affinity(Y: csr_matrix, n_neighbors: int = 20) -> csr_matrix:
    """Return how often labels come together, as the cosine of their sets of rows.

    Labels of which each row has one never do: this is for multi-label corpora.
    """
    alike = similarity(cooccurrence(Y), Y.shape[0], "geometric")
    return symmetric(largest_entries(off_diagonal(alike, 0), n_neighbors))


def symmetric(matrix: csr_matrix) -> csr_matrix:
    """Return ½ (M + Mᵀ)."""
    return csr_matrix((matrix + matrix.T) * np.float32(0.5), dtype=np.float32)


def _answers(X: csr_matrix, Y: csr_matrix, n_threads: int | None, seed: int) -> TopK:
    """Return what classifiers trained on the other half of the rows say of each row."""
    answers = TopK.empty(X.shape[0], min(N_ANSWERS, Y.shape[1]))
    half = np.random.default_rng(seed).permutation(X.shape[0]) % 2 == 0
    for asked in (half, ~half):
        if asked.all() or not asked.any():
            continue
        weights, biases, _ = train_squared_hinge(
            csr_matrix(X[~asked]), csr_matrix(Y[~asked]), n_threads=n_threads, seed=seed
        )
        found = SparseIndex(weights, biases).search(csr_matrix(X[asked]), answers.k)
        answers.labels[asked], answers.scores[asked] = found.labels, found.scores
    return answers
