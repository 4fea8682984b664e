"""PLST and CPLST: label vectors projected on a few directions, which are then regressed.

With Ȳ the label vectors without their mean, Tai and Lin (2012) take the directions in which they
are longest, the right singular vectors of Ȳ (PLST). Chen and Lin (2012) take those that are long
*and* can be predicted (CPLST): with P = X(XᵀX + λI)⁻¹Xᵀ what ridge regression makes of targets,

    V = argmax tr(Vᵀ Ȳᵀ P Ȳ V),  VᵀV = I,     the first eigenvectors of ȲᵀPȲ

Codes are ȲV, and a new row's scores x·W·Vᵀ + mean. Eigenvectors are found by subspace iteration,
which needs products with X and Y only.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.linear.ridge import ridge
from labelspace.models.label_compression.compressed_labels import (
    N_STEPS,
    LinearlyDecoded,
    share_of_labels,
)
from labelspace.parameters import CorpusShape

Floats = NDArray[np.float32]

# Dimensions as a share of the labels, and at most.
_SHARES = {"best": (0.8, 300), "paper": (0.8, 500)}
# Turns of subspace iteration, and directions beyond those wanted, which make it converge.
_TURNS = 6
_MORE = 10


class PLST(LinearlyDecoded):
    """Principal label space transformation: the directions in which label vectors are longest.

    Parameters
    ----------
    preset : {"best", "paper"}, default="best"
        "best" is what measures best; "paper" is as in published comparisons.
    dim : int, optional
        Length of codes: four fifths of the labels, 300 at most (500 at most).
    penalty : float, optional
        λ of the ridge regression: 1 (10, for rows as they are).
    idf : bool, default=False
        Whether features are weighted by inverse document frequency: for 0-1 features or counts.
    normalize : bool, optional
        Whether rows are scaled to length one: True (False).
    k, threshold, random_state, n_threads
        As in every estimator; see :class:`labelspace.base.LabelRanker`. Scores are near 1 for
        labels that a row has, near 0 for others.

    Attributes
    ----------
    encoder_ : LinearEncoder
        The regression of features to codes.
    labels_ : ExactIndex
        The directions, seen from each label, and the labels' shares of the rows.

    Examples
    --------
    >>> from labelspace.models import PLST
    >>> X = [[1.0, 0.0], [0.9, 0.2], [0.0, 1.0], [0.1, 0.8]]
    >>> model = PLST(dim=1).fit(X, [["red"], ["red"], ["round"], ["round"]])
    >>> model.classes_[model.predict_topk([[0.7, 0.1]], k=1).labels]
    array([['red']], dtype='<U5')
    """

    def _usual_dim(self, shape: CorpusShape) -> int:
        return share_of_labels(shape, *_SHARES[self.preset])

    def _compress(self, X: csr_matrix, Y: csr_matrix, dim: int, seed: int) -> Floats:
        mean = np.asarray(Y.mean(axis=0), dtype=np.float32).ravel()
        V = self._directions(X, Y, dim, seed)
        self._keep_decoder(V, mean)
        return np.asarray(Y @ V) - mean @ V

    def _directions(self, X: csr_matrix, Y: csr_matrix, dim: int, seed: int) -> Floats:
        return principal_directions(Y, dim, seed=seed)


class CPLST(PLST):
    """Conditional principal label space transformation: long directions that can be predicted.

    Parameters
    ----------
    preset : {"best", "paper"}, default="best"
        "best" is what measures best; "paper" is as in published comparisons.
    dim : int, optional
        Length of codes: four fifths of the labels, 300 at most (500 at most).
    penalty : float, optional
        λ of the ridge regression, and of the choice of directions: 1 (10, for rows as they are).
    idf : bool, default=False
        Whether features are weighted by inverse document frequency: for 0-1 features or counts.
    normalize : bool, optional
        Whether rows are scaled to length one: True (False).
    k, threshold, random_state, n_threads
        As in every estimator; see :class:`labelspace.base.LabelRanker`. Scores are near 1 for
        labels that a row has, near 0 for others.

    Attributes
    ----------
    encoder_ : LinearEncoder
        The regression of features to codes.
    labels_ : ExactIndex
        The directions, seen from each label, and the labels' shares of the rows.

    Examples
    --------
    >>> from labelspace.models import CPLST
    >>> X = [[1.0, 0.0], [0.9, 0.2], [0.0, 1.0], [0.1, 0.8]]
    >>> model = CPLST(dim=1).fit(X, [["red"], ["red"], ["round"], ["round"]])
    >>> model.classes_[model.predict_topk([[0.7, 0.1]], k=1).labels]
    array([['red']], dtype='<U5')
    """

    def _directions(self, X: csr_matrix, Y: csr_matrix, dim: int, seed: int) -> Floats:
        return principal_directions(
            Y, dim, X=X, penalty=self._penalty, seed=seed, n_threads=self.n_threads
        )


def principal_directions(
    Y: csr_matrix,
    dim: int,
    *,
    X: csr_matrix | None = None,
    penalty: float = 1.0,
    seed: int = 0,
    n_turns: int = _TURNS,
    n_threads: int | None = None,
) -> Floats:
    """Return the first eigenvectors of ȲᵀPȲ as columns, longest first; of ȲᵀȲ without ``X``.

    >>> Y = csr_matrix(np.array([[1, 1, 0], [1, 1, 0], [0, 0, 0], [0, 0, 1]], dtype=np.float32))
    >>> np.abs(principal_directions(Y, 1)).round(2).ravel()
    array([0.64, 0.64, 0.41], dtype=float32)
    """
    n_labels, most = Y.shape[1], min(Y.shape)  # directions that there are
    dim, width = min(dim, most), min(dim + _MORE, most)
    used = np.unique(Y.indices)  # the other labels lie in no direction
    if width <= used.size < n_labels:
        told: Any = {"X": X, "penalty": penalty, "n_turns": n_turns, "n_threads": n_threads}
        directions = np.zeros((n_labels, dim), dtype=np.float32)
        directions[used] = principal_directions(csr_matrix(Y[:, used]), dim, seed=seed, **told)
        return directions
    mean = np.asarray(Y.mean(axis=0), dtype=np.float32).ravel()
    rng = np.random.default_rng(seed)
    V = np.linalg.qr(rng.standard_normal((n_labels, width)))[0].astype(np.float32)
    transposed = csr_matrix(Y.T)
    seen: Any = np.eye(width)
    for turn in range(n_turns + 1):
        codes = np.asarray(Y @ V) - mean @ V
        if X is not None:
            W, _ = ridge(
                X, codes, penalty=penalty, n_steps=N_STEPS, center=False, n_threads=n_threads
            )
            codes = np.asarray(X @ W)
        ahead = np.asarray(transposed @ codes) - np.outer(mean, codes.sum(axis=0))
        if turn == n_turns:
            seen = V.T.astype(np.float64) @ ahead
            break
        V = np.linalg.qr(ahead.astype(np.float64))[0].astype(np.float32)
    # Within the subspace the eigenvectors are those of a small matrix.
    _, turned = np.linalg.eigh((seen + seen.T) / 2.0)
    return np.ascontiguousarray(V @ turned[:, ::-1][:, :dim].astype(np.float32))
