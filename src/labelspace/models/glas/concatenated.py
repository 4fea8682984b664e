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
    columns : ndarray, optional
        The features that the encoders take, of ``n_features``; the others count for nothing. All
        of them unless given.
    n_features : int, optional

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_matrix
    >>> one = NetworkEncoder(np.eye(2, dtype=np.float32), np.zeros(2, dtype=np.float32), [])
    >>> both = ConcatenatedEncoder([one, one], (0.64, 0.36))
    >>> both.encode(csr_matrix([[0.0, 2.0]], dtype=np.float32)).round(2).tolist()
    [[0.0, 0.8..., 0.0, 0.6...]]
    """

    columns: NDArray[np.int64] | None = None
    n_features: int

    _schema: ClassVar[schema.Schema] = {
        "n_features": schema.maybe(schema.size("n_features", most=2**31)),
        "columns": schema.maybe(
            schema.array("int64", "n_taken", low=0, below="n_features", unique=True)
        ),
        "parts": schema.list_of(
            schema.part("NetworkEncoder", n_features="n_taken"), least=1, length="n_parts"
        ),
        "shares": schema.list_of(schema.number(0), length="n_parts"),
    }

    @classmethod
    def _check_state(cls, state: schema.State, sizes: schema.Sizes) -> None:
        super()._check_state(state, sizes)
        if "columns" not in state:
            sizes.settle("n_features", sizes.known["n_taken"])
        sizes.settle("dim", sum(sizes.of(part)["dim"] for part in state["parts"]))

    def __init__(
        self,
        parts: list[NetworkEncoder],
        shares: Sequence[float],
        columns: NDArray[np.int64] | None = None,
        n_features: int = 0,
    ) -> None:
        self.parts = parts
        self.shares = [float(share) for share in shares]
        if columns is not None:
            self.columns, self.n_features = columns, n_features

    @property
    def dim(self) -> int:
        return sum(part.dim for part in self.parts)

    def encode(self, X: csr_matrix) -> Floats:
        """Return the unit vectors of the rows of ``X``."""
        return self.encode_taken(self.taken(X))

    def encode_taken(self, X: csr_matrix) -> Floats:
        """Return the same for rows of the features that the encoders take."""
        return concatenated([part.encode(X) for part in self.parts], self.shares)

    def taken(self, X: csr_matrix) -> csr_matrix:
        """Return the features of rows that the encoders take."""
        return X if self.columns is None else columns_of(X, self.columns)

    def take_more(self, X: csr_matrix) -> None:
        """Take the features that rows have, too; they count for nothing until they are learned."""
        if self.columns is None:
            return
        new = np.setdiff1d(X.indices, self.columns)
        self.columns = np.concatenate((self.columns, new))
        for part in self.parts:
            part.first.append(len(new))

    def split(self, vectors: Floats) -> list[Floats]:
        """Return the coordinates of each part."""
        ends = np.cumsum([part.dim for part in self.parts])
        return np.split(vectors, ends[:-1], axis=1)


def columns_in_use(X: csr_matrix) -> NDArray[np.int64] | None:
    """Return the columns that have anything in them; None where most have.

    >>> columns_in_use(csr_matrix([[0, 0, 0, 1.0, 0]]))
    array([3])
    """
    used = np.flatnonzero(np.bincount(X.indices, minlength=X.shape[1]))
    return used if 2 * used.size < X.shape[1] else None


def columns_of(X: csr_matrix, columns: NDArray[np.int64]) -> csr_matrix:
    """Return some columns of a matrix, in this order.

    >>> columns_of(csr_matrix([[5.0, 6.0, 7.0]]), np.array([2, 0])).toarray()
    array([[7., 5.]])
    """
    some = csr_matrix(X[:, columns])
    some.sort_indices()
    return some


def concatenated(vectors: Sequence[Floats], shares: Sequence[float]) -> Floats:
    """Return unit vectors side by side, as one unit vector."""
    ends = np.cumsum([part.shape[1] for part in vectors])
    whole = np.empty((len(vectors[0]), ends[-1]), dtype=np.float32)
    for part, share, end in zip(vectors, shares, ends, strict=True):
        np.multiply(part, np.float32(share**0.5), out=whole[:, end - part.shape[1] : end])
    return whole
