from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from labelspace.deep.row_optimizer import RowOptimizer
from labelspace.deep.row_table import RowTable


@pytest.mark.parametrize("rule", ["adam", "adagrad"])
def test_rows_without_a_gradient_stay_and_others_go_downhill(rule):
    table = RowTable(torch.ones(3, 4))
    optimizer = RowOptimizer(table, rule)
    for _ in range(50):
        table.rows(torch.tensor([0, 2])).square().sum().backward()
        optimizer.step(0.1)
    assert torch.equal(table.values[1], torch.ones(4))
    assert table.values[[0, 2]].abs().max() < 0.2


def test_adam_of_rows_is_torchs_adam_where_every_row_is_touched():
    start = torch.randn(4, 3, generator=torch.Generator().manual_seed(0))
    table, dense = RowTable(start.clone()), start.clone().requires_grad_()
    ours, theirs = RowOptimizer(table, "adam"), torch.optim.Adam([dense], lr=0.05)
    for _ in range(5):
        table.rows(torch.arange(4)).pow(3).sum().backward()
        ours.step(0.05)
        theirs.zero_grad()
        dense.pow(3).sum().backward()
        theirs.step()
    assert torch.allclose(table.values, dense.detach(), atol=1e-5)


def test_momentum_moves_rows_as_torch_does():
    values = torch.arange(6.0).reshape(3, 2)
    table, dense = RowTable(values.clone()), torch.nn.Parameter(values.clone())
    ours = RowOptimizer(table, "momentum", weight_decay=0.1)
    theirs = torch.optim.SGD([dense], lr=0.5, momentum=0.9, weight_decay=0.1)
    for step in range(3):
        gradient = torch.full((3, 2), 1.0 + step)
        table.add_gradient(torch.arange(3), gradient)
        ours.step(0.5)
        dense.grad = gradient.clone()
        theirs.step()
    assert torch.allclose(table.values, dense.detach())


def test_a_rule_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match="adam, adagrad, momentum"):
        RowOptimizer(RowTable(torch.ones(1, 1)), "newton")
