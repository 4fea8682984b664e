"""Places in the unit disk for labels that have parents.

The tree of the labels' parents is laid out like a Poincaré disk: each label gets a slice of the
angle of its parent's slice, as large as its subtree, and lies the further from the middle the
rarer it is, with as many labels in each ring as it has room for. So a label is near its kin, and
the layout takes no more than a few passes over the labels and is the same every time.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from labelspace.graph.relations import NO_PARENT


def tree_positions(parent: NDArray[np.int64], rank: NDArray[np.int64]) -> NDArray[np.float32]:
    """Lay out a forest whose parents are always of lower rank than their children.

    >>> places = tree_positions(np.array([-1, 0, 0]), np.array([0, 1, 2]))
    >>> np.linalg.norm(places, axis=1).round(2)
    array([0.  , 0.71, 1.  ], dtype=float32)
    """
    n_labels = len(parent)
    if n_labels == 0:
        return np.zeros((0, 2), dtype=np.float32)
    order = np.argsort(rank)  # parents first
    size = np.ones(n_labels)
    for label in order[::-1].tolist():
        if parent[label] != NO_PARENT:
            size[parent[label]] += size[label]
    begin, width = _slices(parent, order, size)
    angle = 2 * np.pi * (begin + width / 2)
    # As many labels in a ring as its area holds; the most frequent one lies in the middle.
    radius = np.sqrt(rank / max(1, n_labels - 1))
    places = np.column_stack((radius * np.cos(angle), radius * np.sin(angle)))
    return places.astype(np.float32)


def _slices(
    parent: NDArray[np.int64], order: NDArray[np.int64], size: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return where each label's slice of the full turn begins, and how wide it is (0 to 1)."""
    n_labels = len(parent)
    begin, width = np.zeros(n_labels), np.zeros(n_labels)
    used = np.zeros(n_labels + 1)  # of the parent's slice; the last: of the full turn
    total = np.append(size - 1, size[parent == NO_PARENT].sum())
    for label in order.tolist():
        above = parent[label] if parent[label] != NO_PARENT else n_labels
        share = size[label] / total[above]
        whole, start = (1.0, 0.0) if above == n_labels else (width[above], begin[above])
        begin[label] = start + used[above] * whole
        width[label] = share * whole
        used[above] += share
    return begin, width
