"""The network of the fine-tuning study: pooled features, a hidden layer, labels on a sphere."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.deep.loop import train
from labelspace.deep.row_table import RowTable
from labelspace.graph.cooccurrence import cooccurrence, similarity
from labelspace.models.glas.settings import GLaSSettings
from labelspace.models.glas.task import GLaSTask
from labelspace.parameters import CorpusShape

WIDTH = 512  # of the vectors of pieces
CHANGED: dict[str, Any] = {
    "loss": "softmax",
    "hidden": (WIDTH,),
    "tail": 0.0,
    "regularizer_weight": 10.0,
}


def trained_network(
    X: csr_matrix,
    Y: csr_matrix,
    start: NDArray[np.float32] | None = None,
    kept: bool = False,
    seed: int = 0,
) -> GLaSTask:
    """Return the task after training; features begin at ``start``, and may be kept there."""
    usual = GLaSSettings.for_corpus("best", CorpusShape(*X.shape, Y.shape[1]))
    told = GLaSSettings(**{**vars(usual), **CHANGED})
    likeness = similarity(cooccurrence(Y), Y.shape[0], told.similarity)
    task = GLaSTask(X, Y, told, likeness=likeness, seed=seed)
    if start is not None:
        task.network.table.values.copy_(torch.from_numpy(start))
    if kept:
        task.network.table = task.tables["features"] = _KeptTable(task.network.table.values)
    train(task, X.shape[0], told.training(seed))
    return task


class _KeptTable(RowTable):
    """A table that stays as it is."""

    def add_gradient(self, ids: Any, gradient: Any) -> None:
        pass
