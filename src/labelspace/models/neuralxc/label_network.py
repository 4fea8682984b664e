"""From a row to its code, on to the code of its labels, and out to a score for each label.

What the two halves of a pair of auto-encoders give for prediction: plain arrays, no torch.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.encoders.network import NetworkEncoder
from labelspace.models.neuralxc.dense_layers import DenseLayers
from labelspace.spaces import sphere
from labelspace.store import Storable, schema

Floats = NDArray[np.float32]


class LabelNetwork(Storable):
    """An encoder of rows, dense layers, and a linear output for each label.

    Parameters
    ----------
    encoder : NetworkEncoder
        Rows to codes.
    layers : DenseLayers
        What lies between codes and outputs.
    weights, biases : ndarray of shape (n_labels, width) and (n_labels,)
        Of the outputs.
    mean_hidden : ndarray of shape (width,)
        Mean of what the outputs read.
    unit : bool
        Whether what the outputs read is scaled to length one.
    own_score, mean_score : float
        How labels score in their rows, and all labels at the mean: where new labels start.
    """

    _schema: ClassVar[schema.Schema] = {
        "encoder": schema.part("NetworkEncoder", n_features="n_features", dim="code"),
        "layers": schema.part("DenseLayers", inputs="code", outputs="width"),
        "weights": schema.array("float32", "n_labels", None),
        "biases": schema.array("float32", "n_labels"),
        "mean_hidden": schema.array("float32", "width"),
        "unit": schema.FLAG,
        "own_score": schema.number(),
        "mean_score": schema.number(),
    }

    @classmethod
    def _check_state(cls, state: schema.State, sizes: schema.Sizes) -> None:
        super()._check_state(state, sizes)
        if not state["layers"].layers:
            sizes.settle("width", sizes.known["code"])
        sizes.settle("width", state["weights"].shape[1])

    def __init__(
        self,
        encoder: NetworkEncoder,
        layers: DenseLayers,
        weights: Floats,
        biases: Floats,
        mean_hidden: Floats,
        own_score: float = 0.0,
        mean_score: float = 0.0,
        *,
        unit: bool = False,
    ) -> None:
        self.encoder = encoder
        self.layers = layers
        self.weights = weights
        self.biases = biases
        self.mean_hidden = mean_hidden
        self.unit = unit
        self.own_score = own_score
        self.mean_score = mean_score

    def last_hidden(self, X: csr_matrix) -> Floats:
        """Return what the last layer reads."""
        hidden = self.layers.apply(self.encoder.encode(X))
        return sphere.queries(hidden) if self.unit else hidden

    def add_labels(self, X: csr_matrix, Y: csr_matrix) -> None:
        """Give labels that are new in ``Y`` weights that tell their rows from others.

        Such a label scores at the mean of its rows as labels do in their rows, but no more than
        0, lest it drive out others that come with it. It falls off towards the mean of all rows,
        down to what labels score there, but no more steeply than labels do so far; where all
        outputs have weights of one length, so has it.
        """
        n_old = len(self.weights)
        if Y.shape[1] == n_old:
            return
        own = csr_matrix(Y[:, n_old:].T)
        counts = np.maximum(np.diff(own.indptr), 1).astype(np.float32)
        means = np.asarray(own @ self.last_hidden(X), dtype=np.float32) / counts[:, np.newaxis]
        away = means - self.mean_hidden
        lengths = np.linalg.norm(away, axis=1).clip(1e-6)
        longest = np.linalg.norm(self.weights, axis=1).max(initial=1e-3)
        steep = np.full(lengths.size, longest)
        if not self.unit:
            steep = np.minimum((self.own_score - self.mean_score) / lengths, longest)
        weights = away * (steep / lengths)[:, np.newaxis]
        biases = min(self.own_score, 0.0) - np.einsum("ij,ij->i", weights, means)
        biases = np.minimum(biases, self.biases.max(initial=-20.0))
        self.weights = np.concatenate((self.weights, weights.astype(np.float32)))
        self.biases = np.concatenate((self.biases, biases.astype(np.float32)))
