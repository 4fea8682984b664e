"""The WARP loss: a wrong label costs more the higher it ranks, and its rank is guessed by sampling.

For a row x with a label y that ranks r-th among those it has not, the loss is

    L(r) · (1 + f_w(x) − f_y(x)),   L(r) = 1 + 1/2 + … + 1/r,   f_l(x) = xW·v_l

for a wrong label w that scores within 1 of y. Labels are drawn until one does; if that took N draws
of the n wrong labels, the rank is about n/N. Right labels at the top are hard to violate, so that
they are left in peace, and those far down are moved by much. After each step vectors that are
longer than a limit are made so long again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace import progress
from labelspace.models.wsabie import _warp_kernels as kernels

Floats = NDArray[np.float32]

# Draws for a violation at most: a label that ranks so low costs next to nothing.
_MOST_TRIALS = 1000


@dataclass(frozen=True)
class WarpTraining:
    """How vectors are learned.

    Attributes
    ----------
    n_epochs : int
        Passes over all pairs of a row and a label of it.
    learning_rate : float
        First step size; it falls to a tenth.
    longest : float
        Length that no vector exceeds.
    adaptive : bool
        Whether vectors that have been moved much are moved by less (AdaGrad).
    """

    n_epochs: int
    learning_rate: float
    longest: float
    adaptive: bool = True


def random_vectors(n: int, dim: int, rng: np.random.Generator) -> Floats:
    """Return vectors to begin with, of length one on average."""
    return (rng.standard_normal((n, dim)) / np.sqrt(dim)).astype(np.float32)


def train_warp(
    X: csr_matrix, Y: csr_matrix, W: Floats, V: Floats, training: WarpTraining, seed: int
) -> tuple[Floats, Floats, list[float]]:
    """Return the vectors of features and labels after training, and the loss of each pass.

    One step follows the other, so that the same seed gives the same vectors.

    Examples
    --------
    >>> X = csr_matrix(np.eye(3, dtype=np.float32))
    >>> rng = np.random.default_rng(0)
    >>> start = random_vectors(3, 4, rng), random_vectors(3, 4, rng)
    >>> W, V, met = train_warp(X, X, *start, WarpTraining(50, 0.1, 3.0), seed=0)
    >>> (W @ V.T).argmax(axis=1).tolist(), met[-1] < met[0]
    ([0, 1, 2], True)
    """
    rng = np.random.default_rng(seed)
    W, V = W.copy(), V.copy()
    n_seen = (len(W), len(V)) if training.adaptive else (0, 0)
    squares = [np.zeros(n, dtype=np.float32) for n in n_seen]
    weights = kernels.harmonic(max(Y.shape[1], 1))
    met = []
    for turn in progress.track(range(training.n_epochs), "Training"):
        rate = training.learning_rate * (1.0 - 0.9 * turn / max(training.n_epochs, 1))
        met.append(
            kernels.epoch(
                *(X.indptr, X.indices, X.data, Y.indptr, Y.indices, rng.permutation(Y.nnz)),
                *(weights, W, V, *squares, np.float32(rate), np.float32(training.longest)),
                *(min(_MOST_TRIALS, max(Y.shape[1], 1)), seed, turn),
            )
        )
    return W, V, met
