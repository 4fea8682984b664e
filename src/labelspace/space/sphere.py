"""The unit sphere: vectors compared by their cosine.

With every vector on the sphere, nearest by angle is largest inner product, so queries and keys of
a search are the unit vectors themselves.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

# A row without features has a zero vector: it stays one instead of becoming NaN.
_SMALLEST_NORM = 1e-12


def project(Z: Floats) -> tuple[Floats, Floats]:
    """Return the rows of ``Z`` at unit length, and the lengths (n, 1) that they had.

    >>> import numpy as np
    >>> project(np.array([[3.0, 4.0]], dtype=np.float32))[0].round(3).tolist()
    [[0.6000000238418579, 0.800000011920929]]
    """
    norms = np.sqrt(np.einsum("ij,ij->i", Z, Z))[:, np.newaxis]
    np.maximum(norms, _SMALLEST_NORM, out=norms)
    return Z / norms, norms


def pull_back(gradient: Floats, U: Floats, norms: Floats) -> Floats:
    """Return the gradient at ``Z`` of a loss whose gradient at ``U = project(Z)`` is given.

    dL/dz = (g − (g·u) u) / ‖z‖: what points along the vector itself cannot turn it.
    """
    along = np.einsum("ij,ij->i", gradient, U)[:, np.newaxis]
    turned = gradient - along * U
    turned /= norms
    # A zero vector has no direction to turn from.
    turned[norms[:, 0] <= _SMALLEST_NORM] = 0.0
    return turned


def queries(Z: Floats) -> Floats:
    """Return the vectors that search for the neighbours of ``Z`` among ``keys``."""
    return project(Z)[0]


def keys(Z: Floats) -> Floats:
    """Return the vectors under which ``Z`` is found by ``queries``."""
    return project(Z)[0]
