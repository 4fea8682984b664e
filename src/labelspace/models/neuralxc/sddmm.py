"""Sampled dense-dense product (SDDMM): H·Wᵀ where a sparse matrix has its non-zeros.

A decoder of tens of thousands of columns must be right where a row has something, which is in a few
places. Going forward costs non-zeros × width. Going back is a product with the sparse matrix of the
entries' gradients, from the left and from the right, so that nothing of the size non-zeros × width
is kept in between.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from torch import Tensor
from torch.nn import functional

# Entries worked out at a time: bounds memory.
_BLOCK = 4096


@dataclass(frozen=True)
class NonZeros:
    """Where a sparse matrix has non-zeros, by row and by column, and what they are."""

    rows: Tensor
    columns: Tensor
    values: Tensor
    row_starts: Tensor
    by_column: Tensor
    column_starts: Tensor

    @staticmethod
    def of(X: csr_matrix, device: torch.device | str = "cpu", dtype: Any = np.float32) -> NonZeros:
        """Return the non-zeros of ``X``."""
        by_column = np.argsort(X.indices, kind="stable")
        in_columns = np.bincount(X.indices, minlength=X.shape[1])

        def tensor(array: NDArray[Any], kind: Any = np.int64) -> Tensor:
            return torch.from_numpy(np.ascontiguousarray(array, dtype=kind)).to(device)

        return NonZeros(
            tensor(np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))),
            tensor(X.indices),
            tensor(X.data, dtype),
            tensor(X.indptr[:-1]),
            tensor(by_column),
            tensor(np.cumsum(in_columns) - in_columns),
        )


def sddmm(H: Tensor, W: Tensor, at: NonZeros) -> Tensor:
    """Return h_r · w_c for each entry (r, c).

    Examples
    --------
    >>> at = NonZeros.of(csr_matrix([[0.0, 1.0], [1.0, 0.0]]))
    >>> sddmm(torch.tensor([[1.0], [10.0]]), torch.tensor([[2.0], [3.0]]), at).tolist()
    [3.0, 20.0]
    """
    result: Tensor = _Sddmm.apply(H, W, at)
    return result


class _Sddmm(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, H: Tensor, W: Tensor, at: NonZeros) -> Tensor:
        ctx.save_for_backward(H, W)
        ctx.at = at
        products = H.new_empty(at.rows.shape[0])
        for start in range(0, at.rows.shape[0], _BLOCK):
            some = slice(start, start + _BLOCK)
            torch.sum(H[at.rows[some]].mul_(W[at.columns[some]]), dim=1, out=products[some])
        return products

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        H, W = ctx.saved_tensors
        at, gradient = ctx.at, gradients[0].contiguous()
        at_rows = functional.embedding_bag(
            at.columns, W, at.row_starts, mode="sum", per_sample_weights=gradient
        )
        at_columns = functional.embedding_bag(
            at.rows[at.by_column],
            H,
            at.column_starts,
            mode="sum",
            per_sample_weights=gradient[at.by_column],
        )
        return at_rows, at_columns, None
