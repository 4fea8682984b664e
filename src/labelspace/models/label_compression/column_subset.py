"""ML-CSSP: learn a few labels that speak for the others.

Bi and Kwok (2013) compress by choosing: labels are drawn with the probability of their leverage,
their share in the first singular vectors of the label matrix,

    p_l = ‖row l of V_m‖² / m,   V_m the first m right singular vectors of Y

m different ones are taken, only these are regressed, and the rest is decoded by what they were in
train, Y ≈ C·C⁺Y with C the chosen columns.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.utils.extmath import randomized_svd

from labelspace.models.label_compression.compressed_labels import (
    LinearlyDecoded,
    share_of_labels,
)
from labelspace.parameters import CorpusShape
from labelspace.store import schema

Floats = NDArray[np.float32]

_SHARES = {"best": (1.0, 300), "paper": (0.8, 500)}
_POWERS = 4
_SOME_LABELS = 16_384


class MLCSSP(LinearlyDecoded):
    """Multi-label classification by column subset selection: some labels speak for all.

    The default learns all labels where these are 300 or fewer, so that none has to be decoded.

    Parameters
    ----------
    preset : {"best", "paper"}, default="best"
        "best" is what measures best; "paper" is as in published comparisons.
    dim : int, optional
        Labels that are learned: all, 300 at most (four fifths, 500 at most).
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
    chosen_ : ndarray of shape (dim,)
        The labels that are learned.

    Examples
    --------
    >>> from labelspace.models import MLCSSP
    >>> X = [[1.0, 0.0], [0.9, 0.2], [0.0, 1.0], [0.1, 0.8]]
    >>> model = MLCSSP(dim=2, random_state=0).fit(X, [["red"], ["red"], ["round"], ["round"]])
    >>> model.classes_[model.predict_topk([[0.7, 0.1]], k=1).labels]
    array([['red']], dtype='<U5')
    """

    _schema: ClassVar[schema.Schema] = {
        "chosen_": schema.array("int64", "dim", low=0, below="n_labels", unique=True),
    }

    def _usual_dim(self, shape: CorpusShape) -> int:
        return share_of_labels(shape, *_SHARES[self.preset])

    def _compress(self, X: csr_matrix, Y: csr_matrix, dim: int, seed: int) -> Floats:
        self.chosen_ = choose_columns(Y, dim, seed)
        columns = csr_matrix(Y[:, self.chosen_])
        self._keep_decoder(decoder(columns, Y), np.zeros(Y.shape[1], dtype=np.float32))
        return np.asarray(columns.toarray(), dtype=np.float32)


def leverage(Y: csr_matrix, dim: int, seed: int = 0) -> NDArray[np.float64]:
    """Return the probabilities by which labels are drawn.

    >>> leverage(csr_matrix([[1.0, 0, 0], [1, 1, 0], [0, 1, 0]]), 2).round(2).tolist()
    [0.5, 0.5, 0.0]
    """
    shares = np.zeros(Y.shape[1])
    used = np.unique(Y.indices)  # the others weigh nothing
    there = csr_matrix(Y[:, used])
    _, _, right = randomized_svd(there, min(dim, *there.shape), n_iter=_POWERS, random_state=seed)
    shares[used] = np.square(right.astype(np.float64)).sum(axis=0)
    return shares / max(shares.sum(), 1e-30)


def choose_columns(Y: csr_matrix, dim: int, seed: int = 0) -> NDArray[np.int64]:
    """Return different labels drawn by leverage, in order; those without rows are left out."""
    shares = leverage(Y, dim, seed)
    shares[np.bincount(Y.indices, minlength=Y.shape[1]) == 0] = 0.0
    shares /= shares.sum()
    dim = min(dim, int(np.count_nonzero(shares)))
    rng = np.random.default_rng(seed)
    return np.sort(rng.choice(Y.shape[1], size=dim, replace=False, p=shares))


def decoder(columns: csr_matrix, Y: csr_matrix) -> Floats:
    """Return (C⁺Y)ᵀ: what each of the columns says of each label.

    >>> Y = csr_matrix([[1.0, 0, 1], [0, 1, 1], [1, 0, 1]])
    >>> decoder(Y[:, :2], Y).round(2).tolist()
    [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
    """
    together = np.asarray((columns.T @ columns).toarray(), dtype=np.float64)
    inverse = np.linalg.pinv(together, hermitian=True, rcond=1e-6)
    rows_of = csr_matrix(Y.T)
    found = np.empty((Y.shape[1], columns.shape[1]), dtype=np.float32)
    for start in range(0, len(found), _SOME_LABELS):
        block = slice(start, start + _SOME_LABELS)
        found[block] = (rows_of[block] @ columns).toarray() @ inverse
    return found
