"""A shard in memory; run as a program, it answers on stdout what is asked on stdin.

python -m labelspace.sharding.holder FOLDER
"""

from __future__ import annotations

import os
import pickle
import sys
from pathlib import Path

from scipy.sparse import csr_matrix

from labelspace import store
from labelspace.search.sparse import SparseIndex
from labelspace.topk import TopK


class ShardInside:
    """A shard that is mapped into the memory of this process."""

    def __init__(self, folder: Path) -> None:
        self._index: SparseIndex = store.load(folder)

    def search(self, Z: csr_matrix, k: int) -> TopK:
        """Return the best labels of the shard for rows."""
        return self._index.search(Z, min(k, self._index.n_keys))

    def close(self) -> None:
        """Nothing is held but memory."""


def main(folder: str) -> None:
    """Answer until nobody asks any more."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    shard = ShardInside(Path(folder))
    while True:
        try:
            Z, k = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        top = shard.search(Z, k)
        pickle.dump((top.labels, top.scores), answers)
        answers.flush()


if __name__ == "__main__":
    main(sys.argv[1])
