"""A partition of the rows by linear scores: a row belongs where its score is largest.

AnnexML divides a large corpus so that each part can have a map and an index of its own; a new row
is sent to a part by the same scores. How scores are learned is not known here.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.store import Storable


class Partition(Storable):
    """Linear scorers, one per part.

    Parameters
    ----------
    weights : csr_matrix of shape (n_features, n_parts)

    Examples
    --------
    >>> from scipy.sparse import csr_matrix
    >>> halves = Partition(csr_matrix([[1.0, 0.0], [0.0, 1.0]]))
    >>> halves.assign(csr_matrix([[0.9, 0.1], [0.2, 0.7]]))
    array([0, 1])
    """

    def __init__(self, weights: csr_matrix) -> None:
        self.weights = csr_matrix(weights, dtype=np.float32)

    @property
    def n_parts(self) -> int:
        return self.weights.shape[1]

    def scores(self, X: csr_matrix) -> NDArray[np.float32]:
        """Return how well each row fits into each part (n, n_parts)."""
        return np.asarray((X @ self.weights).toarray(), dtype=np.float32)

    def assign(self, X: csr_matrix) -> NDArray[np.int64]:
        """Return the part of each row."""
        return self.scores(X).argmax(axis=1)


def balanced(scores: NDArray[np.float32], slack: float = 0.1) -> NDArray[np.int64]:
    """Return a part for each row such that no part has more than its share and some slack.

    Rows that would lose most by going elsewhere choose first.

    >>> import numpy as np
    >>> balanced(np.array([[3, 0], [2, 0], [1, 0], [1, 0]], dtype=np.float32), slack=0.0)
    array([0, 0, 1, 1])
    """
    n_rows, n_parts = scores.shape
    room = np.full(n_parts, int(np.ceil((1 + slack) * n_rows / n_parts)))
    ranked = np.argsort(-scores, axis=1, kind="stable")
    in_order = np.take_along_axis(scores, ranked, axis=1)
    loss = in_order[:, 0] - in_order[:, 1] if n_parts > 1 else in_order[:, 0]
    parts = np.empty(n_rows, dtype=np.int64)
    for row in np.argsort(-loss, kind="stable"):
        part = next(part for part in ranked[row] if room[part] > 0)
        parts[row] = part
        room[part] -= 1
    return parts
