"""What the Laplacian of a graph says: which nodes belong together, and coordinates for each.

With D the degrees of a connected graph W, the first eigenvectors of D^{-½} W D^{-½} vary slowly
along edges. The first of all is known, √D, and says nothing; the next give coordinates. The same
start gives the same answer, on any number of threads.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix, csc_matrix, csr_matrix, diags, identity
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh, splu
from sklearn.neighbors import NearestNeighbors

_DENSE = 300  # nodes up to which all eigenvectors at once are the simplest
_RESTARTS = 20
_THREAD = 1e-3  # what a thread between large pieces weighs against an edge


def slowest(graph: csr_matrix, n_vectors: int) -> NDArray[np.float64]:
    """Return the eigenvectors after the first, divided by √degree (n, n_vectors).

    Columns have a mean square of one, weighted by degree, and their largest entry is positive;
    columns that a small graph does not have are zero.

    >>> path = csr_matrix([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    >>> abs(slowest(path, 1).ravel().round(2))
    array([1.41, 0.  , 1.41])
    """
    n = graph.shape[0]
    degrees = np.asarray(graph.sum(axis=1)).ravel()
    root = np.sqrt(np.where(degrees > 0, degrees, 1.0))
    scaled = csr_matrix(diags(1 / root) @ graph @ diags(1 / root))
    wanted = min(n_vectors + 1, n)
    if n <= max(_DENSE, 3 * wanted):
        vectors = np.linalg.eigh(scaled.toarray())[1][:, ::-1][:, :wanted]
    else:
        vectors = _largest(scaled, wanted)
    vectors = vectors[:, 1:] / root[:, None] * np.sqrt(degrees.sum())
    largest = np.abs(vectors).argmax(axis=0)
    vectors = vectors * np.sign(vectors[largest, np.arange(vectors.shape[1])])
    return np.pad(vectors, ((0, 0), (0, n_vectors - vectors.shape[1])))


def _largest(scaled: csr_matrix, wanted: int) -> NDArray[np.float64]:
    """Return eigenvectors of the largest eigenvalues, largest first.

    Plain Lanczos is quick where eigenvalues stand apart, as in graphs of many dimensions. On long
    thin graphs they crowd below one; those are factorised at little cost, and inverted.
    """
    start = np.random.default_rng(0).uniform(0.5, 1.0, scaled.shape[0])
    basis = min(scaled.shape[0], max(4 * wanted, 40))
    try:
        values, vectors = eigsh(
            scaled, wanted, which="LA", v0=start, ncv=basis, maxiter=_RESTARTS, tol=1e-10
        )
    except ArpackNoConvergence:
        shift = 1.0 + 1e-9
        factors = splu(
            csc_matrix(shift * identity(scaled.shape[0]) - scaled),
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
        inverse = LinearOperator(scaled.shape, matvec=lambda x: -factors.solve(x), dtype=float)
        values, vectors = eigsh(scaled, wanted, sigma=shift, OPinv=inverse, v0=start)
    return vectors[:, np.argsort(-values, kind="stable")]


def connected(
    graph: csr_matrix,
    points: NDArray[np.float64],
    candidates: csr_matrix,
    smallest: float = np.inf,
) -> csr_matrix:
    """Return the graph with an edge from each piece to the piece nearest to it, until it is one.

    Pieces of fewer than ``smallest`` nodes are chips off others: the edge that brings them back
    weighs what edges do on average. Larger ones are held together by a thread.
    ``candidates`` has the distances of the pairs that are known; where they lead nowhere, the
    nearest pair is searched.
    """
    weight = graph.data.mean() if graph.nnz else 1.0
    known = coo_matrix(candidates.maximum(candidates.T))
    while True:
        n_pieces, pieces = connected_components(graph, directed=False)
        if n_pieces == 1:
            return graph
        joins = np.bincount(pieces) < smallest
        strength = weight
        if not joins.any():
            joins[:] = True
            strength = _THREAD * weight
        leaving = joins[pieces[known.row]] & (pieces[known.row] != pieces[known.col])
        rows, columns, lengths = known.row[leaving], known.col[leaving], known.data[leaving]
        if not rows.size:
            rows, columns, lengths = _nearest_outside(points, pieces, np.flatnonzero(joins))
        order = np.argsort(lengths, kind="stable")
        first = order[np.unique(pieces[rows[order]], return_index=True)[1]]
        bridges = csr_matrix(
            (np.full(first.size, strength), (rows[first], columns[first])), shape=graph.shape
        )
        graph = csr_matrix(graph.maximum(bridges).maximum(bridges.T))


def _nearest_outside(
    points: NDArray[np.float64], pieces: NDArray[np.int32], asked: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return of each piece asked its point that is nearest to another, that point, and how far."""
    rows, columns, lengths = [], [], []
    for piece in asked:
        inside, outside = np.flatnonzero(pieces == piece), np.flatnonzero(pieces != piece)
        index = NearestNeighbors(n_neighbors=1).fit(points[outside])
        distances, nearest = index.kneighbors(points[inside])
        at = distances[:, 0].argmin()
        rows.append(inside[at])
        columns.append(outside[nearest[at, 0]])
        lengths.append(distances[at, 0])
    return np.array(rows), np.array(columns), np.array(lengths)
