"""The network x → z from sparse features to a short vector, for prediction.

What ``SparseNetwork`` has learned, as plain arrays: the first layer is a linear map of sparse rows
with eight-bit weights, the dense layers after it are small. No torch is needed to use it.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.encoders.linear import LinearEncoder
from labelspace.spaces import sphere
from labelspace.store import Storable, schema

Floats = NDArray[np.float32]


class NetworkEncoder(Storable):
    """A network, ready to encode.

    Parameters
    ----------
    first : ndarray of shape (n_features, width)
        Weights of the first layer.
    bias : ndarray of shape (width,)
    layers : list of (weights, bias)
        The layers after it; weights are (inputs, outputs).
    activation : {"relu", "tanh", "linear"}
        What stands between layers.
    unit : bool
        Whether vectors are scaled to length one.
    storage : {"int8", "float32"}
        How the first layer is kept.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_matrix
    >>> network = NetworkEncoder(np.eye(2, dtype=np.float32), np.zeros(2, dtype=np.float32), [])
    >>> network.encode(csr_matrix([[3.0, 4.0]], dtype=np.float32)).round(2).tolist()
    [[0.6..., 0.8...]]
    """

    _schema: ClassVar[schema.Schema] = {
        "first": schema.part("LinearEncoder", n_features="n_features", dim="width"),
        "bias": schema.array("float32", "width"),
        "layers": schema.layers,
        "activation": schema.option("relu", "tanh", "linear"),
        "unit": schema.FLAG,
    }

    @classmethod
    def _check_state(cls, state: schema.State, sizes: schema.Sizes) -> None:
        super()._check_state(state, sizes)
        width = sizes.known["width"]
        if sizes.known.get("inputs", width) != width:
            raise schema.Mismatch("layers do not take what the first one gives")
        sizes.settle("dim", sizes.known.get("outputs", width))

    def __init__(
        self,
        first: Floats,
        bias: Floats,
        layers: list[tuple[Floats, Floats]],
        *,
        activation: str = "relu",
        unit: bool = True,
        storage: str = "int8",
    ) -> None:
        self.first = LinearEncoder(first, storage)
        self.bias = bias
        self.layers = layers
        self.activation = activation
        self.unit = unit

    @property
    def dim(self) -> int:
        return self.layers[-1][0].shape[1] if self.layers else self.first.dim

    def encode(self, X: csr_matrix) -> Floats:
        """Return the vectors of the rows of ``X``."""
        hidden = self.first.encode(X) + self.bias
        for weights, bias in self.layers:
            hidden = activated(hidden, self.activation) @ weights + bias
        return sphere.queries(hidden) if self.unit else hidden


def activated(hidden: Floats, activation: str) -> Floats:
    """Return what goes on from a layer to the next."""
    if activation == "relu":
        return np.maximum(hidden, 0.0)
    return np.tanh(hidden) if activation == "tanh" else hidden
