"""Places for all labels in the unit disk.

A model that has 2-d vectors of its labels in the disk (``label_map_``) shows those. For any other
the tree of the labels' parents is laid out.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.label_map import Relations, row_profiles, tree_positions
from labelspace.server.served import Served


def profiles_of(served: Served) -> csr_matrix | None:
    """Return a row for each label, or None where the model keeps nothing that tells them apart."""
    Y = served.training_labels()
    return served.label_vectors() if Y is None else row_profiles(Y)


def positions(served: Served, relations: Relations) -> tuple[str, NDArray[np.float32]]:
    """Return the kind of map, and the place of each label as rows of x and y."""
    own = getattr(served.estimator, "label_map_", None)
    if own is not None and own.shape == (len(relations.rank), 2) and np.isfinite(own).all():
        return "poincare", _in_disk(np.asarray(own, dtype=np.float32))
    return "tree", tree_positions(relations.parent, relations.rank)


def _in_disk(places: NDArray[np.float32]) -> NDArray[np.float32]:
    largest = float(np.linalg.norm(places, axis=1).max(initial=0.0))
    return places / largest if largest > 1.0 else places
