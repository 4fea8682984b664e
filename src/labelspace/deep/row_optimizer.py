"""Steps for tables: only rows that have a gradient move, and only their memory is touched.

``adam`` keeps two numbers for each parameter and moves a row as Adam would if the steps in which
the row was not touched had not happened. ``adagrad`` keeps one number for each row, the sum of its
mean squared gradients, which makes the optimiser of a table of width d cost 1/d of the table.
``momentum`` is plain descent with momentum 0.9 and weight decay, for what papers call SGD.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from labelspace.deep.row_table import RowTable

RULES = ("adam", "adagrad", "momentum")
MOMENTUM = 0.9
_SMALL = 1e-8


class RowOptimizer:
    """Moves the rows of one table.

    Parameters
    ----------
    table : RowTable
    rule : {"adam", "adagrad", "momentum"}
    weight_decay : float
        With ``momentum``: how much of itself a row loses in a step, per step size.

    Examples
    --------
    >>> import torch
    >>> table = RowTable(torch.zeros(2, 2))
    >>> table.add_gradient(torch.tensor([1]), torch.tensor([[4.0, -4.0]]))
    >>> RowOptimizer(table, "adagrad").step(0.5)
    >>> table.values.tolist()
    [[0.0, 0.0], [-0.5, 0.5]]
    """

    def __init__(self, table: RowTable, rule: str = "adam", weight_decay: float = 0.0) -> None:
        if rule not in RULES:
            raise ValueError(f"The rule is {rule!r}: give one of {', '.join(RULES)}.")
        self.table = table
        self.rule = rule
        self.weight_decay = weight_decay
        self.n_steps = 0
        values = table.values
        if rule == "adam":
            self.state = {"first": torch.zeros_like(values), "second": torch.zeros_like(values)}
        elif rule == "adagrad":
            self.state = {"squares": values.new_zeros(values.shape[0])}
        else:
            self.state = {"velocity": torch.zeros_like(values)}

    @torch.no_grad()
    def step(self, learning_rate: float) -> None:
        """Move the rows whose gradients the table has, and clear these."""
        self.n_steps += 1
        for ids, gradient in self.table.pop_gradients():
            if self.rule == "adam":
                self._adam(ids, gradient, learning_rate)
            elif self.rule == "adagrad":
                self._adagrad(ids, gradient, learning_rate)
            else:
                self._momentum(ids, gradient, learning_rate)

    def _adam(self, ids: Tensor, gradient: Tensor, learning_rate: float) -> None:
        first, second = self.state["first"], self.state["second"]
        new_first = first[ids].lerp_(gradient, 0.1)
        new_second = second[ids].mul_(0.999).addcmul_(gradient, gradient, value=0.001)
        first[ids] = new_first
        second[ids] = new_second
        rate = learning_rate * (1 - 0.999**self.n_steps) ** 0.5 / (1 - 0.9**self.n_steps)
        self.table.values.index_add_(
            0, ids, new_first.div_(new_second.sqrt_().add_(_SMALL)), alpha=-rate
        )

    def _adagrad(self, ids: Tensor, gradient: Tensor, learning_rate: float) -> None:
        squares = self.state["squares"]
        new = squares[ids] + gradient.square().mean(dim=1)
        squares[ids] = new
        self.table.values.index_add_(
            0, ids, gradient / (new.sqrt() + _SMALL)[:, None], alpha=-learning_rate
        )

    def _momentum(self, ids: Tensor, gradient: Tensor, learning_rate: float) -> None:
        velocity = self.state["velocity"]
        new = velocity[ids].mul_(MOMENTUM).add_(gradient)
        new.add_(self.table.values[ids], alpha=self.weight_decay)
        velocity[ids] = new
        self.table.values.index_add_(0, ids, new, alpha=-learning_rate)

    def to_state(self) -> dict[str, Any]:
        """Return what goes into a checkpoint."""
        return {"n_steps": self.n_steps} | {
            name: part.cpu().numpy() for name, part in self.state.items()
        }

    def from_state(self, state: dict[str, Any]) -> None:
        """Go on from a checkpoint."""
        self.n_steps = int(state["n_steps"])
        for name, part in self.state.items():
            part.copy_(torch.from_numpy(state[name]))
