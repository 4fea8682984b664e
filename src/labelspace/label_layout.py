"""Places for labels such that those that are alike lie side by side: t-SNE on the nearest labels.

Each label pulls at its nearest labels and all labels push each other away,

    F_i = Σ_j p_ij q_ij (y_i − y_j)  −  Σ_j q_ij² (y_i − y_j) / Z,    q_ij = 1 / (1 + ‖y_i − y_j‖²)

with p the same for all nearest labels of a label, both ways. What all labels push is summed on a
grid: charges are spread on its nodes, convolved with q and with q² (y_i − y_j) by the fast Fourier
transform and read off again, so that an iteration takes a time in proportion to the labels, not to
their pairs.

Regions of the map are found by k-means on the places, and called by their most frequent label.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import fft
from scipy.sparse import coo_matrix, csr_matrix

from labelspace._layout_kernels import attraction, read_off, spread

N_ITERATIONS = 750
N_EARLY = 100  # in which labels pull harder, so that groups find together
EARLY = 12.0
CELL = 0.5  # side of a cell of the grid, where the grid may be as large as that
MOST_CELLS = 256
STEP = 1.05  # by which the grid grows, so that what depends on its cells alone can be kept
LABELS_PER_REGION = 250
FEWEST_REGIONS, MOST_REGIONS = 4, 24

Places = NDArray[np.float64]


class Regions(NamedTuple):
    """Parts of a map: the part of each label, and of each part its place and its foremost label."""

    of_labels: NDArray[np.int64]
    places: Places
    foremost: NDArray[np.int64]


def neighbourhood_layout(
    nearest: NDArray[np.int64], start: Places, n_iterations: int = N_ITERATIONS
) -> NDArray[np.float32]:
    """Return places in the unit disk for labels with some ``nearest`` ones (-1: none).

    >>> nearest = np.array([[1, 2], [0, 2], [0, 1], [4, 5], [3, 5], [3, 4]])
    >>> places = neighbourhood_layout(nearest, np.random.default_rng(0).random((6, 2)))
    >>> bool(np.linalg.norm(places[0] - places[1]) < np.linalg.norm(places[0] - places[3]))
    True
    """
    n = len(nearest)
    P = _pulls(nearest)
    y = np.asarray(start, dtype=np.float64)
    y = (y - y.mean(axis=0)) / max(float(y.std()), 1e-12)
    speed = np.zeros_like(y)
    for iteration in range(n_iterations):
        early = iteration < N_EARLY
        pull = attraction(P.indptr, P.indices, P.data, y)
        gradient = (EARLY if early else 1.0) * pull - _push(y)
        speed = (0.5 if early else 0.8) * speed - max(n / EARLY, 1.0) * 4 * gradient
        length = np.linalg.norm(speed, axis=1, keepdims=True)
        y = y + speed * np.minimum(1.0, 5.0 / np.maximum(length, 1e-12))
        y -= y.mean(axis=0)
    return (y / max(float(np.linalg.norm(y, axis=1).max()), 1e-12)).astype(np.float32)


def regions_of(places: Places, counts: NDArray[np.int64]) -> Regions:
    """Return the regions of a map whose labels have so many rows."""
    from sklearn.cluster import MiniBatchKMeans

    wanted = int(np.clip(len(places) // LABELS_PER_REGION, FEWEST_REGIONS, MOST_REGIONS))
    n_regions = min(wanted, len(np.unique(places, axis=0)))
    if not n_regions:
        none = np.zeros(0, dtype=np.int64)
        return Regions(none, np.zeros((0, 2)), none)
    means = MiniBatchKMeans(n_regions, random_state=0, n_init=3, batch_size=4096)
    of_labels = means.fit_predict(np.asarray(places, dtype=np.float64)).astype(np.int64)
    foremost, middle = [], []
    for region in np.unique(of_labels):
        inside = np.flatnonzero(of_labels == region)
        foremost.append(inside[np.argmax(counts[inside])])
        middle.append(places[inside].mean(axis=0))
    used = np.unique(of_labels, return_inverse=True)[1].ravel()
    return Regions(used.astype(np.int64), np.array(middle), np.array(foremost, dtype=np.int64))


def kept_neighbours(nearest: NDArray[np.int64], places: Places) -> float:
    """Return the share of labels' nearest ones that are as near on the map.

    >>> kept_neighbours(np.array([[1], [0], [1]]), np.array([[0.0, 0], [0.1, 0], [5, 5]]))
    1.0
    """
    from scipy.spatial import cKDTree

    k = nearest.shape[1]
    tree = cKDTree(places)
    found = tree.query(places, k=min(k + 1, len(places)))[1].reshape(len(places), -1)
    kept = total = 0
    for label, (wanted, near) in enumerate(zip(nearest, found, strict=True)):
        there = set(wanted[wanted >= 0].tolist())
        total += len(there)
        kept += len(there & (set(near.tolist()) - {label}))
    return kept / max(total, 1)


def _pulls(nearest: NDArray[np.int64]) -> csr_matrix:
    """Return what labels pull at each other, the same both ways, 1 in all."""
    n, k = nearest.shape
    rows, columns = np.repeat(np.arange(n), k), nearest.ravel()
    there = columns >= 0
    ones = np.ones(int(there.sum()))
    W = csr_matrix(coo_matrix((ones, (rows[there], columns[there])), shape=(n, n)))
    P = csr_matrix(W + W.T)
    P.data /= max(P.data.sum(), 1e-12)
    return P


def _push(y: Places) -> Places:
    """Return what all labels push each away, as a share of the sum over all pairs."""
    low = y.min(axis=0)
    extent = max(float((y.max(axis=0) - low).max()), 1e-6)
    extent = STEP ** np.ceil(np.log(extent) / np.log(STEP))
    n_cells = int(np.clip(np.ceil(extent / CELL), 8, MOST_CELLS))
    cell = extent / n_cells
    # The last place may lie on the last node, and a place has a node below and right of it. Fields
    # go round at the edges, so that as many nodes are left empty.
    long = fft.next_fast_len(2 * (n_cells + 2), real=True)
    at = (y - low) / cell
    near, *aside = _transformed(cell, long)
    charges = fft.rfft2(spread(at, long).astype(np.float32))
    total = read_off(fft.irfft2(charges * near, s=(long, long)), at).sum() - len(y)
    pushed = [read_off(fft.irfft2(charges * one, s=(long, long)), at) for one in aside]
    return np.column_stack(pushed) / max(float(total), 1e-6)


@lru_cache(maxsize=2)
def _transformed(cell: float, long: int) -> tuple[NDArray[Any], ...]:
    """Return the transforms of q, and of q² (y_i − y_j) along both axes, on a grid's nodes."""
    steps = np.arange(long)
    offset = cell * np.where(steps > long // 2, steps - long, steps)
    down, right = offset[:, np.newaxis], offset[np.newaxis]
    q = 1.0 / (1.0 + down**2 + right**2)
    return tuple(fft.rfft2(one.astype(np.float32)) for one in (q, q * q * down, q * q * right))
