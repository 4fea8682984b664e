"""How far a decoder is from the sparse rows that it should make again, from a sample of columns.

‖x̂ − x‖² has a term for every column, of which almost all are x̂², for x is sparse. So the terms of
non-zeros are worked out as they are, and those of zeros for a sample C of m of the n columns:

    Σ_{x_c ≠ 0} (x̂_c − x_c)²  +  n/m Σ_{c ∈ C, x_c = 0} x̂_c²

If all samples of m columns are equally likely, a zero is in it with probability m/n, and the mean
over samples is ‖x̂ − x‖². With m = n it is ‖x̂ − x‖² itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from torch import Tensor

from labelspace.models.neuralxc.sddmm import NonZeros, sddmm


@dataclass(frozen=True)
class ReconstructionTarget:
    """Rows to be made again, and the columns that it takes.

    Attributes
    ----------
    columns : ndarray of int64
        All columns of the non-zeros and of the sample, ascending.
    sampled : Tensor of int
        Places of the sample among ``columns``.
    weight : float
        n/m.
    non_zeros : NonZeros
        With places in ``columns`` for column numbers.
    hit_rows, hit_columns : Tensor of int
        Non-zeros in columns of the sample: row, and place in ``sampled``.
    """

    columns: NDArray[np.int64]
    sampled: Tensor
    weight: float
    non_zeros: NonZeros
    hit_rows: Tensor
    hit_columns: Tensor

    @staticmethod
    def of(
        X: csr_matrix,
        sample: NDArray[np.int64],
        device: torch.device | str = "cpu",
        dtype: type[np.floating] = np.float32,
    ) -> ReconstructionTarget:
        """Return the rows of ``X`` for a sample of its columns, ascending."""
        columns = np.union1d(X.indices, sample).astype(np.int64)
        places = np.searchsorted(columns, X.indices)
        local = csr_matrix((X.data, places, X.indptr), shape=(X.shape[0], columns.size))
        in_sample = np.full(columns.size, -1, dtype=np.int64)
        sampled = np.searchsorted(columns, sample)
        in_sample[sampled] = np.arange(sample.size)
        hits = in_sample[places]
        rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))[hits >= 0]
        return ReconstructionTarget(
            columns,
            torch.from_numpy(sampled).to(device),
            X.shape[1] / max(sample.size, 1),
            NonZeros.of(local, device, dtype),
            torch.from_numpy(rows).to(device),
            torch.from_numpy(hits[hits >= 0]).to(device),
        )


def sampled_squared_error(
    H: Tensor, W: Tensor, biases: Tensor, rows: ReconstructionTarget
) -> Tensor:
    """Return the estimate of ‖x̂ − x‖² with x̂ = H·Wᵀ + b, averaged over rows.

    Parameters
    ----------
    H : Tensor of shape (n_rows, width)
    W, biases : Tensor of shape (n_columns, width) and (n_columns,)
        Of ``rows.columns``.
    """
    own = rows.non_zeros
    missed = sddmm(H, W, own) + biases[own.columns] - own.values
    elsewhere = torch.addmm(biases[rows.sampled], H, W[rows.sampled].T)
    hits = elsewhere[rows.hit_rows, rows.hit_columns]
    zeros = elsewhere.square().sum() - hits.square().sum()
    return (missed.square().sum() + rows.weight * zeros) / H.shape[0]


def squared_probability_error(scores: Tensor, relevant: Tensor, weights: Tensor | None) -> Tensor:
    """Return ‖σ(s) − y‖² from the scores of a sample of labels, averaged over rows.

    Each label counts ``weights`` times, one over the probability that it is in the sample.
    """
    squares = (torch.sigmoid(scores) - relevant.to(scores.dtype)).square()
    if weights is not None:
        squares = squares * weights
    return squares.sum(dim=1).mean()
