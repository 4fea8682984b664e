"""Probabilities that are off, set right by what was true of rows held out (Platt's scaling).

A probability p becomes σ(a·logit(p) + b). With a > 0 the order stays, so ranking does not change;
two numbers are learned from some hundreds of rows without fear of learning them by heart.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.special import expit, logit

from labelspace import metrics
from labelspace.linear.logistic_regression import PSEUDO_ROWS, logistic_regression
from labelspace.store import Storable, schema
from labelspace.topk import TopK

# Where a probability is as good as 0 or 1.
_SMALLEST = 1e-7
# The order has to stay.
_SMALLEST_SLOPE = 0.05


class Platt(Storable):
    """The map from one probability to another.

    Parameters
    ----------
    slope, shift : float
        a and b; as they are, nothing changes.

    Examples
    --------
    >>> top = TopK(np.array([[4, 2]]), np.array([[0.5, 0.2]], dtype=np.float32))
    >>> Platt(slope=1.0, shift=np.log(4.0)).apply(top).scores.round(2).tolist()
    [[0.8..., 0.5]]
    """

    _schema: ClassVar[schema.Schema] = {
        "slope": schema.number(0, 1e6),
        "shift": schema.number(-1e6, 1e6),
    }

    def __init__(self, slope: float = 1.0, shift: float = 0.0) -> None:
        self.slope = slope
        self.shift = shift

    def apply(self, top: TopK) -> TopK:
        """Return the same labels with their probabilities set right."""
        logits = self.slope * _logits(top.scores) + self.shift
        return TopK(top.labels, np.where(top.labels >= 0, expit(logits), top.scores))

    def faded(self, share: float) -> Platt:
        """Return a map that goes only a share of the way, for what is only a share of true."""
        return Platt(1.0 + share * (self.slope - 1.0), share * self.shift)


def learn_platt(top: TopK, Y: csr_matrix) -> Platt:
    """Return the map that makes the probabilities in ``top`` fit ``Y`` best, by log loss."""
    given = top.labels >= 0
    if not given.any():
        return Platt()
    logits = _logits(top.scores[given]).astype(np.float64)
    terms = np.column_stack((logits, np.ones_like(logits)))
    usual = np.array([1.0, 0.0])
    slope, shift = logistic_regression(terms, metrics.hits(Y, top)[given] > 0, usual, PSEUDO_ROWS)
    return Platt(max(float(slope), _SMALLEST_SLOPE), float(shift))


def _logits(probabilities: NDArray[np.float32]) -> NDArray[np.floating]:
    return logit(np.clip(probabilities, _SMALLEST, 1.0 - _SMALLEST))
