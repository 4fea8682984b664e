"""Several maps to spheres, side by side in one space.

The coordinates of a row are those that each map gives, times the square root of the map's share. So
the row is on the unit sphere again, and an inner product is the mean of the maps' inner products.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.encoders.network import NetworkEncoder
from labelspace.store import Storable, schema

Floats = NDArray[np.float32]


class ConcatenatedEncoder(Storable):
    """Encoders whose coordinates stand beside each other.

    Parameters
    ----------
    parts : list of NetworkEncoder
    shares : sequence of float
        What each counts; together one.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_matrix
    >>> one = NetworkEncoder(np.eye(2, dtype=np.float32), np.zeros(2, dtype=np.float32), [])
    >>> both = ConcatenatedEncoder([one, one], (0.64, 0.36))
    >>> both.encode(csr_matrix([[0.0, 2.0]], dtype=np.float32)).round(2).tolist()
    [[0.0, 0.8..., 0.0, 0.6...]]
    """

    _schema: ClassVar[schema.Schema] = {
        "parts": schema.list_of(
            schema.part("NetworkEncoder", n_features="n_features"), least=1, length="n_parts"
        ),
        "shares": schema.list_of(schema.number(0), length="n_parts"),
    }

    @classmethod
    def _check_state(cls, state: schema.State, sizes: schema.Sizes) -> None:
        super()._check_state(state, sizes)
        sizes.settle("dim", sum(sizes.of(part)["dim"] for part in state["parts"]))

    def __init__(self, parts: list[NetworkEncoder], shares: Sequence[float]) -> None:
        self.parts = parts
        self.shares = [float(share) for share in shares]

    @property
    def dim(self) -> int:
        return sum(part.dim for part in self.parts)

    def encode(self, X: csr_matrix) -> Floats:
        """Return the unit vectors of the rows of ``X``."""
        return concatenated([part.encode(X) for part in self.parts], self.shares)

    def split(self, vectors: Floats) -> list[Floats]:
        """Return the coordinates of each part."""
        ends = np.cumsum([part.dim for part in self.parts])
        return np.split(vectors, ends[:-1], axis=1)


def concatenated(vectors: Sequence[Floats], shares: Sequence[float]) -> Floats:
    """Return unit vectors side by side, as one unit vector."""
    ends = np.cumsum([part.shape[1] for part in vectors])
    whole = np.empty((len(vectors[0]), ends[-1]), dtype=np.float32)
    for part, share, end in zip(vectors, shares, ends, strict=True):
        np.multiply(part, np.float32(share**0.5), out=whole[:, end - part.shape[1] : end])
    return whole
