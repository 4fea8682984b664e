"""Dense layers after an encoder, for prediction: plain arrays, no torch."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from labelspace.encoders.network import activated
from labelspace.store import Storable, schema

Floats = NDArray[np.float32]


class DenseLayers(Storable):
    """Linear layers, each followed by its activation.

    Parameters
    ----------
    layers : list of (weights, bias)
        Weights are (inputs, outputs).
    activations : list of {"relu", "tanh", "linear"}
        One for each layer.

    Examples
    --------
    >>> import numpy as np
    >>> turn = np.array([[0, 1], [-1, 0]], dtype=np.float32)
    >>> layers = DenseLayers([(turn, np.zeros(2, dtype=np.float32))], ["relu"])
    >>> layers.apply(np.array([[2, 1]], dtype=np.float32)).tolist()
    [[0.0, 2.0]]
    """

    _schema: ClassVar[schema.Schema] = {
        "layers": schema.layers,
        "activations": schema.list_of(schema.option("relu", "tanh", "linear")),
    }

    @classmethod
    def _check_state(cls, state: schema.State, sizes: schema.Sizes) -> None:
        super()._check_state(state, sizes)
        if len(state["layers"]) != len(state["activations"]):
            raise schema.Mismatch("activations has not one for each layer")

    def __init__(self, layers: list[tuple[Floats, Floats]], activations: list[str]) -> None:
        self.layers = layers
        self.activations = activations

    def apply(self, Z: Floats) -> Floats:
        """Return what the last layer makes of each row of ``Z``."""
        for (weights, bias), activation in zip(self.layers, self.activations, strict=True):
            Z = activated(Z @ weights + bias, activation)
        return Z

    def then(self, others: DenseLayers) -> DenseLayers:
        """Return these layers with others behind them."""
        return DenseLayers(self.layers + others.layers, self.activations + others.activations)

    def part(self, begin: int, end: int | None) -> DenseLayers:
        """Return some of the layers."""
        return DenseLayers(self.layers[begin:end], self.activations[begin:end])
