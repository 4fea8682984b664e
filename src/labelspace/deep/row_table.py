"""A matrix of parameters of which a batch touches a few rows.

Features and labels have a row each, and there may be millions. So a table keeps its values outside
of the graph of gradients; a batch takes the rows that it needs, and leaves the gradients of these
rows, and only these, for the optimiser to pick up.
"""

from __future__ import annotations

import torch
from torch import Tensor


class RowTable:
    """Values, and the gradients of rows that the last batch has left.

    Parameters
    ----------
    values : Tensor of shape (n_rows, width)

    Examples
    --------
    >>> import torch
    >>> table = RowTable(torch.eye(3))
    >>> (2 * table.rows(torch.tensor([1]))).sum().backward()
    >>> [(ids.tolist(), gradient.tolist()) for ids, gradient in table.take_gradients()]
    [([1], [[2.0, 2.0, 2.0]])]
    """

    def __init__(self, values: Tensor) -> None:
        self.values = values
        self._taken: list[tuple[Tensor, Tensor]] = []
        self._left: list[tuple[Tensor, Tensor]] = []

    def rows(self, ids: Tensor) -> Tensor:
        """Return some rows, each once, as a tensor whose gradient the table will find."""
        taken = self.values[ids].requires_grad_(torch.is_grad_enabled())
        if taken.requires_grad:
            self._taken.append((ids, taken))
        return taken

    def leave(self, ids: Tensor, gradient: Tensor) -> None:
        """Note the gradient of some rows, each once."""
        self._left.append((ids, gradient))

    def take_gradients(self) -> list[tuple[Tensor, Tensor]]:
        """Return ids and gradients since the last call, and forget them."""
        found = [(ids, rows.grad) for ids, rows in self._taken if rows.grad is not None]
        found += self._left
        self._taken, self._left = [], []
        return found
