from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from labelspace.deep.row_table import RowTable


def test_gradients_of_rows_and_those_that_were_added_are_handed_over_once():
    table = RowTable(torch.eye(3))
    table.rows(torch.tensor([2])).sum().backward()
    table.add_gradient(torch.tensor([0]), torch.ones(1, 3))
    assert [ids.tolist() for ids, _ in table.pop_gradients()] == [[2], [0]]
    assert table.pop_gradients() == []


def test_rows_that_no_loss_has_seen_have_no_gradient():
    table = RowTable(torch.eye(3))
    table.rows(torch.tensor([1]))
    with torch.no_grad():
        assert not table.rows(torch.tensor([0])).requires_grad
    assert table.pop_gradients() == []
