"""Maps from sparse features to points of a space: z = θᵀx, or θ₂ᵀ tanh(θᵀx), then into the space.

Into the ball there are two ways: ``"clip"``, the projection p(z) of Gerald and Baskiotis (2019),
which leaves z as it is inside and brings it back from outside, and ``"lift"``, which takes z as
the space-like part of the Lorentz form. With the first, rows that are pushed beyond the edge all
end up there, and hardly come back; the second has no edge that training could run into.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.encoders.linear import LinearEncoder
from labelspace.spaces import euclidean, poincare, sphere
from labelspace.store import Storable, schema

Floats = NDArray[np.float64]


def embed(Z: NDArray[Any], space: str, way: str) -> tuple[Floats, Floats]:
    """Return the points of ``space`` for the rows of ``Z``, and the norms (n, 1) of these.

    >>> embed(np.array([[0.0, 0.75]]), "poincare", "lift")[0].round(6).tolist()
    [[0.0, 0.333333]]
    """
    Z = Z.astype(np.float64)
    if space == "sphere":
        return sphere.project(Z)  # type: ignore[return-value]
    if space == "euclidean":
        return euclidean.project(Z)
    return poincare.lift(Z) if way == "lift" else poincare.project(Z)


def pull_back(
    gradient: Floats, U: Floats, norms: Floats, space: str, way: str, *, scaled: bool = True
) -> Floats:
    """Return the gradient at ``Z`` of a loss whose gradient at ``U = embed(Z)[0]`` is given.

    Of the clipped map it is the one in the ball's metric, as the paper has it: a row near the edge
    would otherwise jump. Unless ``scaled`` it is the usual one there, too.
    """
    if space == "sphere":
        return sphere.pull_back(gradient, U, norms)  # type: ignore[arg-type, return-value]
    if space == "euclidean":
        return gradient
    if way == "lift":
        return poincare.pull_back_lift(gradient, U, norms)
    return poincare.pull_back(poincare.riemannian(gradient, U) if scaled else gradient, U, norms)


class SpaceEncoder(Storable):
    """A trained map, ready to encode.

    Parameters
    ----------
    weights : ndarray of shape (n_features, dim or n_hidden), float32
    top : ndarray of shape (n_hidden, dim), optional
        The second layer of a network with a tanh between.
    space, way : str
    storage : {"int8", "float32"}
        How the weights are kept.
    """

    _schema: ClassVar[schema.Schema] = {
        "linear": schema.part("LinearEncoder", n_features="n_features", dim="width"),
        "top": schema.optional(schema.array("float32", "width", "dim")),
        "space": schema.option("poincare", "sphere", "euclidean"),
        "way": schema.option("clip", "lift"),
    }

    @classmethod
    def _check_state(cls, state: schema.State, sizes: schema.Sizes) -> None:
        super()._check_state(state, sizes)
        if state["top"] is None:
            sizes.settle("dim", sizes.known["width"])

    def __init__(
        self,
        weights: NDArray[np.float32],
        top: NDArray[np.float32] | None,
        space: str,
        way: str,
        storage: str = "int8",
    ) -> None:
        self.linear = LinearEncoder(weights, storage)
        self.top = top
        self.space = space
        self.way = way

    def encode(self, X: csr_matrix) -> Floats:
        """Return the points of the rows of ``X``."""
        Z: NDArray[Any] = self.linear.encode(X)
        if self.top is not None:
            Z = np.tanh(Z) @ self.top
        return embed(Z, self.space, self.way)[0]
