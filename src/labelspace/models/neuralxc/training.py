"""Auto-encoders of rows and label sets, trained."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.deep.history import History
from labelspace.deep.loop import DeepSettings, device_of, train
from labelspace.encoders.network import NetworkEncoder
from labelspace.models.neuralxc.autoencoder_settings import AutoencoderSettings
from labelspace.models.neuralxc.dense_layers import DenseLayers
from labelspace.models.neuralxc.task import AutoencoderTask

Floats = NDArray[np.float32]


def train_autoencoder(
    X: csr_matrix,
    Y: csr_matrix,
    settings: AutoencoderSettings,
    training: DeepSettings,
    *,
    held_out: tuple[csr_matrix, csr_matrix] | None = None,
    start: tuple[NetworkEncoder, DenseLayers, Floats, Floats] | None = None,
    device: str = "auto",
) -> tuple[AutoencoderTask, History]:
    """Return the networks, trained on all rows, and the record of each epoch.

    Parameters
    ----------
    X, Y : csr_matrix
        Each row has a label.
    settings : AutoencoderSettings
        What is learned.
    training : DeepSettings
        How it is learned, and from which seed.
    held_out, start
        As in ``AutoencoderTask``.
    device : {"auto", "cpu", "cuda"}
    """
    task = AutoencoderTask(
        X,
        Y,
        settings,
        held_out=held_out,
        start=start,
        seed=training.seed,
        device=device_of(device),
    )
    return task, train(task, X.shape[0], training)
