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
    >>> [(ids.tolist(), gradient.tolist()) for ids, gradient in table.pop_gradients()]
    [([1], [[2.0, 2.0, 2.0]])]
    """

    def __init__(self, values: Tensor) -> None:
        self.values = values
        self._looked_up: list[tuple[Tensor, Tensor]] = []
        self._added: list[tuple[Tensor, Tensor]] = []

    def rows(self, ids: Tensor) -> Tensor:
        """Return some rows, each once, as a tensor whose gradient the table will find."""
        rows = self.values[ids].requires_grad_(torch.is_grad_enabled())
        if rows.requires_grad:
            self._looked_up.append((ids, rows))
        return rows

    def add_gradient(self, ids: Tensor, gradient: Tensor) -> None:
        """Note the gradient of some rows, each once."""
        self._added.append((ids, gradient))

    def pop_gradients(self) -> list[tuple[Tensor, Tensor]]:
        """Return ids and gradients since the last call, and forget them."""
        found = [(ids, rows.grad) for ids, rows in self._looked_up if rows.grad is not None]
        found += self._added
        self._looked_up, self._added = [], []
        return found
