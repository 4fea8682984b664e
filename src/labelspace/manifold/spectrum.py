"""What the Laplacian of a graph says: which nodes belong together, and coordinates for each.

With D the degrees of a graph W, the leading eigenvectors of D^{-½} W D^{-½} vary slowly along
edges. The first of each piece of the graph is known, √D there and zero elsewhere, so only those
after it are searched, piece by piece. The same graph gives the same answer, always.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix, csc_matrix, csr_matrix, diags, identity
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh, splu
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

_DENSE = 300  # nodes up to which all eigenvectors at once are the simplest
_RESTARTS = 30


def slowest(graph: csr_matrix, n_vectors: int) -> NDArray[np.float64]:
    """Return the leading eigenvectors, divided by √degree (n, n_vectors).

    First comes one for each piece, then the others in the order of their eigenvalues. Columns have
    a mean square of one, weighted by degree, and their largest entry is positive; those that a
    small graph does not have are zero.

    >>> path = csr_matrix([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    >>> abs(slowest(path, 2).T.round(2))
    array([[1.  , 1.  , 1.  ],
           [1.41, 0.  , 1.41]])
    """
    degrees = np.asarray(graph.sum(axis=1)).ravel()
    root = np.sqrt(np.where(degrees > 0, degrees, 1.0))
    scaled = csr_matrix(diags(1 / root) @ graph @ diags(1 / root))
    n_pieces, pieces = connected_components(graph, directed=False)
    wanted = n_vectors - n_pieces
    columns: list[tuple[float, NDArray[np.int64], NDArray[np.float64]]] = []
    for piece in range(n_pieces):
        inside = np.flatnonzero(pieces == piece)
        first = root[inside] / np.linalg.norm(root[inside])
        columns.append((np.inf, inside, first))
        if wanted > 0 and inside.size > 1:
            part = csr_matrix(scaled[inside][:, inside])
            # More threads would add up in another order, and turn eigenvectors of equal value.
            with threadpool_limits(1, user_api="blas"):
                values, vectors = _after_first(part, first, min(wanted, inside.size - 1))
            columns += [
                (value, inside, vector) for value, vector in zip(values, vectors.T, strict=True)
            ]
    columns.sort(key=lambda column: -column[0])
    found = np.zeros((graph.shape[0], n_vectors))
    for number, (_, inside, vector) in enumerate(columns[:n_vectors]):
        sign = np.sign(vector[np.abs(vector).argmax()])
        found[inside, number] = sign * vector / root[inside] * np.linalg.norm(root)
    return found


def _after_first(
    scaled: csr_matrix, first: NDArray[np.float64], wanted: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the largest eigenvalues but the first, and their vectors.

    All are between 1 and -1; the first, 1, is moved below the others.
    Plain Lanczos is quick where eigenvalues stand apart, as in graphs of many dimensions. On long
    thin graphs they crowd below one; those are factorised at little cost, and inverted.
    """
    n = scaled.shape[0]
    if n <= max(_DENSE, 3 * wanted):
        values, vectors = np.linalg.eigh(scaled.toarray() - 3 * np.outer(first, first))
        return values[::-1][:wanted], vectors[:, ::-1][:, :wanted]
    start = np.random.default_rng(0).uniform(-1.0, 1.0, n)
    rest = LinearOperator(
        scaled.shape, matvec=lambda x: scaled @ x - 3 * first * (first @ x), dtype=np.float64
    )
    basis = min(n, max(4 * wanted, 40))
    try:
        values, vectors = eigsh(
            rest, wanted, which="LA", v0=start, ncv=basis, maxiter=_RESTARTS, tol=1e-10
        )
    except ArpackNoConvergence:
        shift = 1.0 + 1e-9
        factors = splu(
            csc_matrix(shift * identity(n) - scaled),
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
        inverse = LinearOperator(scaled.shape, matvec=lambda x: -factors.solve(x), dtype=np.float64)
        values, vectors = eigsh(scaled, wanted + 1, sigma=shift, OPinv=inverse, v0=start)
        order = np.argsort(-values, kind="stable")[1:]
        return values[order], vectors[:, order]
    order = np.argsort(-values, kind="stable")
    return values[order], vectors[:, order]


def connected(
    graph: csr_matrix,
    points: NDArray[np.float64],
    candidates: csr_matrix,
    *,
    smallest: float = 0.0,
    n_pieces: int = 1,
) -> csr_matrix:
    """Return the graph with edges between near pieces, until there are at most ``n_pieces``.

    Pieces of fewer than ``smallest`` nodes are chips off others and are brought back in any case.
    New edges weigh what edges do on average. ``candidates`` has the distances of the pairs that are
    known; where they lead nowhere, the nearest pair is searched.
    """
    weight = graph.data.mean() if graph.nnz else 1.0
    known = coo_matrix(candidates.maximum(candidates.T))
    while True:
        n_now, pieces = connected_components(graph, directed=False)
        joins = np.bincount(pieces) < smallest
        surplus = n_now
        if not joins.any():
            joins[:] = True
            surplus = n_now - n_pieces
        if n_now == 1 or surplus <= 0:
            return graph
        leaving = joins[pieces[known.row]] & (pieces[known.row] != pieces[known.col])
        rows, columns, lengths = known.row[leaving], known.col[leaving], known.data[leaving]
        if not rows.size:
            rows, columns, lengths = _nearest_outside(points, pieces, np.flatnonzero(joins))
        order = np.argsort(lengths, kind="stable")
        first = order[np.unique(pieces[rows[order]], return_index=True)[1]]
        first = first[np.argsort(lengths[first], kind="stable")][:surplus]
        bridges = csr_matrix(
            (np.full(first.size, weight), (rows[first], columns[first])), shape=graph.shape
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
