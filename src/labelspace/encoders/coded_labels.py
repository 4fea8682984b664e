"""From a row to its code, on to the code of its labels, and out to a score for each label.

What the two halves of a pair of auto-encoders give for prediction: plain arrays, no torch.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.encoders.dense import DenseLayers
from labelspace.encoders.network import NetworkEncoder
from labelspace.store import Storable

Floats = NDArray[np.float32]


class CodedLabels(Storable):
    """An encoder of rows, dense layers, and a linear output for each label.

    Parameters
    ----------
    encoder : NetworkEncoder
        Rows to codes.
    layers : DenseLayers
        What lies between codes and outputs.
    weights, biases : ndarray of shape (n_labels, width) and (n_labels,)
        Of the outputs.
    middle : ndarray of shape (width,)
        Mean of what the outputs read.
    own_score, mean_score : float
        How labels score in their rows, and all labels in the middle: where new labels start.
    """

    def __init__(
        self,
        encoder: NetworkEncoder,
        layers: DenseLayers,
        weights: Floats,
        biases: Floats,
        middle: Floats,
        own_score: float = 0.0,
        mean_score: float = 0.0,
    ) -> None:
        self.encoder = encoder
        self.layers = layers
        self.weights = weights
        self.biases = biases
        self.middle = middle
        self.own_score = own_score
        self.mean_score = mean_score

    def last_hidden(self, X: csr_matrix) -> Floats:
        """Return what the last layer reads."""
        return self.layers.apply(self.encoder.encode(X))

    def add_labels(self, X: csr_matrix, Y: csr_matrix) -> None:
        """Give labels that are new in ``Y`` weights that tell their rows from others.

        Such a label scores in the middle of its rows as labels do in their rows, and in the middle
        of all rows as labels do there; weights are not longer than the longest so far.
        """
        n_old = len(self.weights)
        if Y.shape[1] == n_old:
            return
        own = csr_matrix(Y[:, n_old:].T)
        counts = np.maximum(np.diff(own.indptr), 1).astype(np.float32)
        middles = np.asarray(own @ self.last_hidden(X), dtype=np.float32) / counts[:, np.newaxis]
        away = middles - self.middle
        lengths = np.linalg.norm(away, axis=1).clip(1e-6)
        longest = np.linalg.norm(self.weights, axis=1).max(initial=1e-3)
        steep = np.minimum((self.own_score - self.mean_score) / lengths, longest)
        weights = away * (steep / lengths)[:, np.newaxis]
        biases = self.mean_score - weights @ self.middle
        self.weights = np.concatenate((self.weights, weights.astype(np.float32)))
        self.biases = np.concatenate((self.biases, biases.astype(np.float32)))
