"""What a network says of every label, which only tests ask for at once."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from labelspace.models.neuralxc.label_network import LabelNetwork


def logits(network: LabelNetwork, X: csr_matrix) -> np.ndarray:
    return network.last_hidden(X) @ network.weights.T + network.biases
