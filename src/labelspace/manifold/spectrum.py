"""What the Laplacian of a graph says: which nodes belong together, and coordinates for each.

A graph of points may be in several components. Each has a first eigenvector that is known, √degree
there and zero elsewhere; only those after it are searched, component by component. The same graph
gives the same answer, always.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix, csr_matrix
from scipy.sparse.csgraph import connected_components
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from labelspace.graph.spectral import leading_eigenvectors

_RESTARTS = 30


def component_eigenmaps(graph: csr_matrix, n_vectors: int) -> NDArray[np.float64]:
    """Return the leading eigenvectors, divided by √degree (n, n_vectors).

    First comes one for each component, then the others in the order of their eigenvalues. Columns
    have a mean square of one, weighted by degree, and their largest entry is positive; those that a
    small graph does not have are zero.

    >>> path = csr_matrix([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    >>> abs(component_eigenmaps(path, 2).T.round(2))
    array([[1.  , 1.  , 1.  ],
           [1.41, 0.  , 1.41]])
    """
    degrees = np.asarray(graph.sum(axis=1)).ravel()
    root = np.sqrt(np.where(degrees > 0, degrees, 1.0))
    n_components, component_of = connected_components(graph, directed=False)
    wanted = n_vectors - n_components
    columns: list[tuple[float, NDArray[np.int64], NDArray[np.float64]]] = []
    for component in range(n_components):
        inside = np.flatnonzero(component_of == component)
        columns.append((np.inf, inside, root[inside] / np.linalg.norm(root[inside])))
        if wanted > 0 and inside.size > 1:
            part = csr_matrix(graph[inside][:, inside])
            # More threads would add up in another order, and turn eigenvectors of equal value.
            with threadpool_limits(1, user_api="blas"):
                values, vectors, _ = leading_eigenvectors(
                    part, min(wanted + 1, inside.size), tol=1e-10, max_restarts=_RESTARTS
                )
            # The first is known.
            columns += [
                (value, inside, vector)
                for value, vector in zip(values[1:], vectors.T[1:], strict=True)
            ]
    columns.sort(key=lambda column: -column[0])
    found = np.zeros((graph.shape[0], n_vectors))
    for number, (_, inside, vector) in enumerate(columns[:n_vectors]):
        sign = np.sign(vector[np.abs(vector).argmax()])
        found[inside, number] = sign * vector / root[inside] * np.linalg.norm(root)
    return found


def join_components(
    graph: csr_matrix,
    points: NDArray[np.float64],
    candidates: csr_matrix,
    *,
    smallest: float = 0.0,
    n_components: int = 1,
) -> csr_matrix:
    """Return the graph with edges between near components, until at most ``n_components`` are left.

    Those of fewer than ``smallest`` nodes are chips off others and are brought back in any case.
    New edges weigh what edges do on average. ``candidates`` has the distances of the pairs that are
    known; where they lead nowhere, the nearest pair is searched.
    """
    weight = graph.data.mean() if graph.nnz else 1.0
    known = coo_matrix(candidates.maximum(candidates.T))
    while True:
        n_now, component_of = connected_components(graph, directed=False)
        joins = np.bincount(component_of) < smallest
        surplus = n_now
        if not joins.any():
            joins[:] = True
            surplus = n_now - n_components
        if n_now == 1 or surplus <= 0:
            return graph
        here, there = component_of[known.row], component_of[known.col]
        leaving = joins[here] & (here != there)
        rows, columns, lengths = known.row[leaving], known.col[leaving], known.data[leaving]
        if not rows.size:
            rows, columns, lengths = _nearest_outside(points, component_of, np.flatnonzero(joins))
        order = np.argsort(lengths, kind="stable")
        first = order[np.unique(component_of[rows[order]], return_index=True)[1]]
        first = first[np.argsort(lengths[first], kind="stable")][:surplus]
        bridges = csr_matrix(
            (np.full(first.size, weight), (rows[first], columns[first])), shape=graph.shape
        )
        graph = csr_matrix(graph.maximum(bridges).maximum(bridges.T))


def _nearest_outside(
    points: NDArray[np.float64], component_of: NDArray[np.int32], asked: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return of each component asked its point nearest to another, that point, and how far."""
    rows, columns, lengths = [], [], []
    for component in asked:
        inside = np.flatnonzero(component_of == component)
        outside = np.flatnonzero(component_of != component)
        index = NearestNeighbors(n_neighbors=1).fit(points[outside])
        distances, nearest = index.kneighbors(points[inside])
        at = distances[:, 0].argmin()
        rows.append(inside[at])
        columns.append(outside[nearest[at, 0]])
        lengths.append(distances[at, 0])
    return np.array(rows), np.array(columns), np.array(lengths)
