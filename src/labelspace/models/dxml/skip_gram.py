"""Skip-gram with negative sampling: vectors of nodes from the walks that they are met on.

A node's vector u should tell which nodes c come near it on walks from nodes n drawn at random,

    Σ log σ(u·v_c) + Σ log σ(−u·v_n),

where v are second vectors that are thrown away afterwards (Mikolov et al., 2013). Pairs (node,
context) are dealt to the cells of a grid, by blocks of nodes one way and of contexts the other.
Cells on a diagonal share no vector, so threads take one each, draw negatives from the cell's own
contexts, and never meet. The grid does not depend on the number of threads: nor does the result.

In a cell, pairs of one node are taken a few at a time and share their negatives, which makes a pair
cost two or three inner products instead of six.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from labelspace import threads
from labelspace.models.dxml import _skip_gram_kernels as kernels

Floats = NDArray[np.float32]

# Blocks of nodes, if there are enough to fill them: as many threads can work at once.
_BLOCKS = 8
_FEW_NODES = 400
# Pairs that are dealt to the grid at a time: bounds memory.
_PAIRS = 4_000_000
# Pairs of one node that share their negatives.
_GROUP = 8
# Negatives are drawn by frequency^¾ from a table per block of so many places, or so many per node.
_NOISE_TABLE = (20_000, 8)


def skip_gram(
    walks: NDArray[np.int32],
    n_nodes: int,
    dim: int = 100,
    *,
    window: int = 5,
    n_negatives: int = 10,
    n_epochs: int = 5,
    learning_rate: float = 0.05,
    seed: int = 0,
    n_threads: int | None = None,
) -> Floats:
    """Return a vector for each node, (n_nodes, dim); nodes that no walk meets keep their first one.

    Parameters
    ----------
    walks : ndarray of shape (n_walks, length), int32
        -1 behind the end of a walk.
    n_nodes, dim : int
    window : int
        Nodes on either side that are a node's context at most; how many is drawn for each place.
    n_negatives : int
        For every pair; the eight pairs of a group share theirs.
    n_epochs : int
        Passes over the walks.
    learning_rate : float
        First step size, falling to almost zero.

    Examples
    --------
    >>> import numpy as np
    >>> walks = np.array([[0, 1, 0, 1], [2, 3, 2, 3]] * 200, dtype=np.int32)
    >>> u = skip_gram(walks, 4, dim=8, n_epochs=5)
    >>> bool(u[0] @ u[1] > u[0] @ u[2])
    True
    """
    rng = np.random.default_rng(seed)
    inputs = rng.random((n_nodes, dim), dtype=np.float32) - np.float32(0.5)
    inputs /= np.float32(dim)
    n_blocks = _BLOCKS if n_nodes >= _FEW_NODES else 1
    noise = _noise_tables(walks, n_nodes, n_blocks)
    grid = _Grid(inputs, np.zeros_like(inputs), noise, n_negatives)
    at_once = max(1, _PAIRS // (walks.shape[1] * (window + 1)))
    starts = range(0, len(walks), at_once)
    chunks = [(epoch, first) for epoch in range(n_epochs) for first in starts]
    n_turns = len(chunks) * n_blocks
    with ThreadPoolExecutor(threads.resolve(n_threads)) as pool:
        for number, (epoch, first) in enumerate(chunks):
            chunk_seed = (seed * 1_000_003 + epoch * len(walks) + first) % (1 << 31)
            some = walks[first : first + at_once]
            pairs = kernels.group_pairs(some, n_blocks, -(-n_nodes // n_blocks), window, chunk_seed)
            for diagonal in range(n_blocks):
                turn = number * n_blocks + diagonal
                left = np.maximum(1.0 - np.array([turn, turn + 1]) / n_turns, 1e-3)
                rates = (learning_rate * left).astype(np.float32)
                grid.train(pool, pairs, diagonal, rates, (seed * 31 + turn) % (1 << 31))
    return inputs


class _Grid(NamedTuple):
    """Vectors of nodes and of contexts, and what negatives are drawn from in each block."""

    inputs: Floats
    outputs: Floats
    noise: NDArray[np.int32]
    n_negatives: int

    def train(
        self,
        pool: ThreadPoolExecutor,
        pairs: tuple[NDArray[np.int32], NDArray[np.int64]],
        diagonal: int,
        rates: Floats,
        seed: int,
    ) -> None:
        """Train the cells of a diagonal at once: no two of them share a vector."""
        n_blocks = len(self.noise)

        def train_cell(block: int) -> None:
            kernels.train_cell(
                *pairs,
                block,
                (block + diagonal) % n_blocks,
                self.noise,
                self.n_negatives,
                _GROUP,
                rates,
                seed,
                self.inputs,
                self.outputs,
            )

        list(pool.map(train_cell, range(n_blocks)))


def _noise_tables(walks: NDArray[np.int32], n_nodes: int, n_blocks: int) -> NDArray[np.int32]:
    """Return for each block its nodes, each as often as it should be drawn as a negative."""
    met = np.bincount(walks[walks >= 0], minlength=n_nodes).astype(np.float64)
    per_block = -(-n_nodes // n_blocks)
    size = max(_NOISE_TABLE[0], _NOISE_TABLE[1] * per_block)
    noise = np.full((n_blocks, size), -1, dtype=np.int32)
    for block in range(n_blocks):
        nodes = np.arange(block, n_nodes, n_blocks)
        weights = np.cumsum(met[nodes] ** 0.75)
        if nodes.size and weights[-1] > 0:
            places = (np.arange(size) + 0.5) * (weights[-1] / size)
            noise[block] = nodes[np.searchsorted(weights, places, side="right")]
    return noise
