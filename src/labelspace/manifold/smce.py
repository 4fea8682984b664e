"""Sparse manifold clustering and embedding: which points lie on one surface, and where on it.

Elhamifar and Vidal (2011) let each point y choose its own neighbours: with Ȳ the unit directions to
the other points and q their distances, made to add up to one,

    min  λ ‖q ⊙ c‖₁ + ½ ‖Ȳ c‖²   with  Σ c = 1,

picks about d + 1 near points whose affine span passes by y, where d is the dimension of y's
manifold. The graph of these choices keeps apart manifolds that nearly touch, where a k-NN graph
would mix them; its Laplacian gives the clusters, and within each cluster the coordinates.
"""

from __future__ import annotations

import os
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)
from sklearn.cluster import KMeans
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from labelspace import store, threads
from labelspace.manifold.self_expression import SelfExpression, express
from labelspace.manifold.spectrum import component_eigenmaps, join_components
from labelspace.parameters import one_of, real, split_state, whole
from labelspace.store import schema

Fitted = TypeVar("Fitted", bound="SMCE")


class SMCE(
    store.Storable,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    ClusterMixin,
    BaseEstimator,
):
    """Clusters points by the manifold that they lie on, and gives each manifold coordinates.

    Parameters
    ----------
    n_clusters : int, default=2
        Manifolds to tell apart; 1 for an embedding of all points together.
    n_components : int, default=2
        Coordinates of the embedding.
    preset : {"best", "paper"}, default="best"
        "best" lets each point choose among its nearest 50, "paper" among all others, which takes
        time and memory that grow with the square of the points. λ is the paper's in both, but
        distances count as shares of those that may be chosen: among all, near ones cost less.
    n_candidates : int, optional
        Nearest points among which each point chooses: 50 (all others).
    penalty : float, optional
        λ: larger takes fewer and nearer points, smaller fits the surface more closely: 10 (10).
    tol : float, default=1e-8
        How far the optimality conditions of a point's problem may be missed.
    max_iter : int, default=10000
        Steps of coordinate descent for a point, at most.
    random_state : int, RandomState or None
        Seed of the k-means that reads clusters off the eigenvectors.
    n_threads : int, optional
        Threads to use; all cores unless given. The answer does not depend on it.

    Attributes
    ----------
    labels_ : ndarray of shape (n_examples,)
        Cluster of each point; cluster 0 has the first point.
    embedding_ : ndarray of shape (n_examples, n_components)
        Coordinates of each point among those of its cluster: between clusters they say nothing.
    affinity_matrix_ : csr_matrix of shape (n_examples, n_examples)
        The symmetric graph.
    coefficients_ : csr_matrix of shape (n_examples, n_examples)
        The solution c of each point, row by row. A row that repeats an earlier one has its
        coefficient there.
    intrinsic_dimension_ : ndarray of shape (n_clusters,)
        How many dimensions each cluster's manifold has.
    sorted_coefficients_ : ndarray of shape (n_clusters, n_candidates)
        Medians over a cluster of the coefficients' sizes, largest first: where they fall off after
        d + 1 of them, the manifold has d dimensions.
    n_iter_ : int
        Steps that the hardest point took.
    X_ : ndarray of shape (n_examples, n_features_in_)
        The points.

    Examples
    --------
    >>> import numpy as np
    >>> from labelspace.manifold import SMCE
    >>> angle = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    >>> circle = np.column_stack((np.cos(angle), np.sin(angle)))
    >>> two = np.concatenate((circle, 1.3 * circle))
    >>> model = SMCE(n_clusters=2, n_candidates=10, random_state=0).fit(two)
    >>> model.labels_[:60].tolist() == [0] * 60, model.labels_[60:].tolist() == [1] * 60
    (True, True)
    >>> model.intrinsic_dimension_
    array([1, 1])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": [whole()],
        "n_components": [whole()],
        "preset": [one_of("best", "paper")],
        "n_candidates": [whole(), None],
        "penalty": [real(0), None],
        "tol": [real(0)],
        "max_iter": [whole(1, 2**31 - 1)],
        "random_state": ["random_state"],
        "n_threads": [whole(1, threads.MOST), None],
    }

    _schema: ClassVar[schema.Schema] = {
        "n_features_in_": schema.size("n_features"),
        "X_": schema.array("float64", "n_examples", "n_features"),
        "originals_": schema.array("int64", "n_distinct", low=0, below="n_examples"),
        "labels_": schema.array("int32", "n_examples", low=0, below="n_clusters"),
        "embedding_": schema.array("float64", "n_examples", "n_components"),
        "sorted_coefficients_": schema.array("float64", "n_clusters", None),
        "intrinsic_dimension_": schema.array("int64", "n_clusters"),
        "coefficients_": schema.csr("float64", "n_examples", "n_examples"),
        "affinity_matrix_": schema.csr("float64", "n_examples", "n_examples"),
        "n_iter_": schema.integer(),
        "_n_features_out": schema.integer(),
        "feature_names_in_": schema.maybe(schema.anything),
    }

    @classmethod
    def _check_state(cls, state: schema.State, sizes: schema.Sizes) -> None:
        made, learned = split_state(cls, state)
        made._validate_params()
        sizes.known |= {"n_clusters": made.n_clusters, "n_components": made.n_components}
        super()._check_state(learned, sizes)
        if not sizes.known["n_distinct"]:
            raise schema.Mismatch("originals_ has no rows")

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        n_components: int = 2,
        preset: str = "best",
        n_candidates: int | None = None,
        penalty: float | None = None,
        tol: float = 1e-8,
        max_iter: int = 10_000,
        random_state: Any = None,
        n_threads: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.preset = preset
        self.n_candidates = n_candidates
        self.penalty = penalty
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_threads = n_threads

    def fit(self: Fitted, X: Any, y: Any = None) -> Fitted:
        """Find the graph, the clusters and the coordinates of the points ``X``."""
        self._validate_params()
        X = validate_data(self, X, dtype=np.float64, order="C", ensure_min_samples=2)
        if len(X) < self.n_clusters:
            raise ValueError(f"{len(X)} points cannot form {self.n_clusters} clusters: give more.")
        with threads.limit(self.n_threads):
            self._fit(X)
        return self

    def _fit(self, X: NDArray[np.float64]) -> None:
        self.X_ = X
        self.originals_, copied = distinct_rows(X)
        points = np.ascontiguousarray(X[self.originals_])
        n_distinct = len(points)
        solved = self._express(points)
        edges = solved.as_csr(solved.edges(), n_distinct)
        graph = csr_matrix(edges.maximum(edges.T))
        distances = solved.as_csr(solved.distances, n_distinct)
        whole = join_components(
            graph,
            points,
            distances,
            smallest=_CHIP * n_distinct / self.n_clusters,
            n_components=self.n_clusters,
        )
        labels = self._clusters(whole)
        embedding = np.zeros((n_distinct, self.n_components))
        for cluster in range(self.n_clusters):
            inside = np.flatnonzero(labels == cluster)
            if inside.size > 1:
                part = csr_matrix(graph[inside][:, inside])
                known = csr_matrix(distances[inside][:, inside])
                part = join_components(part, points[inside], known)
                embedding[inside] = component_eigenmaps(part, self.n_components + 1)[:, 1:]
        self.labels_ = labels[copied].astype(np.int32)
        self.embedding_ = embedding[copied]
        self.sorted_coefficients_ = np.array(
            [_typical(solved.coefficients[labels == cluster]) for cluster in range(self.n_clusters)]
        )
        self.intrinsic_dimension_ = _dimensions(self.sorted_coefficients_)
        self.coefficients_ = self._spread(solved.as_csr(solved.coefficients, n_distinct), copied)
        graph = self._spread(graph, copied)
        self.affinity_matrix_ = csr_matrix(graph.maximum(graph.T))
        self.n_iter_ = max(solved.n_iter, 1)
        self._n_features_out = self.n_components

    def fit_transform(self, X: Any, y: Any = None) -> NDArray[np.float64]:
        """Return the coordinates of the points ``X``, each among those of its cluster."""
        return self.fit(X).embedding_

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return coordinates of new points: the mean of the points that express them.

        A point of the training set gets the coordinates that it has in ``embedding_``.
        """
        solved, labels, owners = self._place(X)
        weights = solved.edges() * (labels[solved.candidates] == owners[:, None])
        weights /= weights.sum(axis=1, keepdims=True)
        embedding = self.embedding_[self.originals_]
        return np.einsum("nk,nkd->nd", weights, embedding[solved.candidates])

    def predict(self, X: Any) -> NDArray[np.int32]:
        """Return the clusters of new points: that of most of the points that express them."""
        return self._place(X)[2]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to the folder ``path``; ``labelspace.load`` reads it."""
        check_is_fitted(self)
        store.save(self, path)

    def _place(self, X: Any) -> tuple[SelfExpression, NDArray[np.int32], NDArray[np.int32]]:
        """Express new points; return also clusters of the distinct points and of the new ones."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        labels = self.labels_[self.originals_]
        with threads.limit(self.n_threads):
            solved = self._express(np.ascontiguousarray(self.X_[self.originals_]), X)
        votes = np.zeros((len(X), self.n_clusters))
        rows = np.broadcast_to(np.arange(len(X))[:, None], solved.candidates.shape)
        np.add.at(votes, (rows, labels[solved.candidates]), solved.edges())
        return solved, labels, votes.argmax(axis=1).astype(np.int32)

    def _express(
        self, points: NDArray[np.float64], queries: NDArray[np.float64] | None = None
    ) -> SelfExpression:
        by_preset = len(points) if self.preset == "paper" else _N_CANDIDATES
        return express(
            points,
            queries,
            n_candidates=by_preset if self.n_candidates is None else self.n_candidates,
            penalty=_PENALTY if self.penalty is None else self.penalty,
            tol=self.tol,
            max_iter=self.max_iter,
            n_threads=self.n_threads,
        )

    def _clusters(self, graph: csr_matrix) -> NDArray[np.int64]:
        """Return the parts of a graph that hang together least, by its Laplacian."""
        if self.n_clusters == 1:
            return np.zeros(graph.shape[0], dtype=np.int64)
        vectors = component_eigenmaps(graph, self.n_clusters)
        seed = check_random_state(self.random_state).randint(1 << 31)
        means = KMeans(self.n_clusters, n_init=10, random_state=seed).fit(vectors)
        _, first, number = np.unique(means.labels_, return_index=True, return_inverse=True)
        return np.argsort(np.argsort(first))[number]

    def _spread(self, matrix: csr_matrix, copied: NDArray[np.int64]) -> csr_matrix:
        """Return a matrix of the distinct points for all rows: copies point to their original."""
        n = copied.size
        if matrix.shape[0] == n:
            return matrix
        found = matrix.tocoo()
        is_copy = np.ones(n, dtype=np.bool_)
        is_copy[self.originals_] = False
        copies = np.flatnonzero(is_copy)
        rows = np.concatenate((self.originals_[found.row], copies))
        columns = np.concatenate((self.originals_[found.col], self.originals_[copied[copies]]))
        return csr_matrix((np.append(found.data, np.ones(copies.size)), (rows, columns)), (n, n))


# λ of the paper's experiments, and among how many points it is enough to choose.
_PENALTY = 10.0
_N_CANDIDATES = 50

# Pieces of the graph smaller than this share of the mean cluster are no clusters.
_CHIP = 0.1
# A coefficient counts as one of the d + 1 from this share of the largest on.
_COUNTS = 0.01


def _typical(coefficients: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the medians of the rows' sizes, each row sorted from large to small."""
    if not len(coefficients):
        return np.zeros(coefficients.shape[1])
    return np.median(-np.sort(-np.abs(coefficients), axis=1), axis=0)


def _dimensions(typical: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return one less than the number of coefficients that matter, for each cluster."""
    return np.maximum((typical > _COUNTS * typical[:, :1]).sum(axis=1) - 1, 0)


def distinct_rows(X: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows that repeat no earlier row, and for each row which of these it equals."""
    _, first, same = np.unique(X, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    return first[order], rank[same.ravel()]
