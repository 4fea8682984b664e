"""Auto-encoders of rows and label sets, trained: all of the networks, or what encodes rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.deep.autoencoder.settings import AutoencoderSettings
from labelspace.deep.autoencoder.task import AutoencoderTask
from labelspace.deep.history import History
from labelspace.deep.loop import DeepSettings, device_of, train
from labelspace.encoders.dense import DenseLayers
from labelspace.encoders.network import NetworkEncoder
from labelspace.encoders.unit_rows import UnitRows
from labelspace.parameters import CorpusShape
from labelspace.selection import split_rows

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


def learn_encoder(X: csr_matrix, Y: csr_matrix, dim: int, *, seed: int) -> NetworkEncoder:
    """Return what encodes rows of length one in ``dim`` dimensions; other settings are the best.

    Examples
    --------
    >>> X = csr_matrix(np.eye(2, dtype=np.float32)[np.arange(100) % 2])
    >>> learn_encoder(X, X, dim=8, seed=0).encode(X).shape
    (100, 8)
    """
    shape = CorpusShape(X.shape[0], X.shape[1], Y.shape[1])
    settings = replace(AutoencoderSettings.for_corpus("best", shape), dim=dim)
    rows, _ = split_rows(Y, 0.0, seed)
    X = UnitRows().encode(X)
    task, _ = train_autoencoder(X[rows], Y[rows], settings, settings.training(seed=seed))
    return task.encoder.exported(settings.storage)
