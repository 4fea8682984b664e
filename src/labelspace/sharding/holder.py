"""A shard in memory; run as a program, it answers on stdout what is asked on stdin.

python -m labelspace.sharding.holder FOLDER N_LABELS N_FEATURES
"""

from __future__ import annotations

import os
import pickle
import sys
from pathlib import Path
from typing import Any

from scipy.sparse import csr_matrix

from labelspace import store
from labelspace.errors import LabelspaceError, ModelFileError
from labelspace.search.sparse import SparseIndex
from labelspace.topk import TopK


class ShardInside:
    """A shard that is mapped into the memory of this process.

    A stranger's shard is checked as all models are, and against what the front says of it.
    """

    def __init__(self, folder: Path, n_labels: int, n_features: int) -> None:
        index = store.load(folder)
        if (
            not isinstance(index, SparseIndex)
            or index.n_keys != n_labels
            or index.inverted.shape[0] + index.n_dense != n_features
        ):
            raise ModelFileError(
                f"{folder} holds no shard of {n_labels} labels and {n_features} features, as its "
                "model says: cut the model into shards again."
            )
        self._index = index

    def search(self, Z: csr_matrix, k: int) -> TopK:
        """Return the best labels of the shard for rows."""
        return self._index.search(Z, min(k, self._index.n_keys))

    def close(self) -> None:
        """Nothing is held but memory."""


def main(folder: str, n_labels: int, n_features: int) -> None:
    """Answer until nobody asks any more: labels and scores, or why there are none."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    refused = None
    try:
        shard = ShardInside(Path(folder), n_labels, n_features)
    except LabelspaceError as error:
        refused = str(error)
    while True:
        try:
            Z, k = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        answer: Any = refused
        if refused is None:
            top = shard.search(Z, k)
            answer = top.labels, top.scores
        pickle.dump(answer, answers)
        answers.flush()


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
