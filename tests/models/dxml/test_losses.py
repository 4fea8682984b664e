from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from labelspace.models.dxml import losses as row_targets


def a_batch(n: int = 6, dim: int = 4):
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((n, dim))
    T = rng.standard_normal((n, dim))
    Z /= np.linalg.norm(Z, axis=1, keepdims=True)
    T /= np.linalg.norm(T, axis=1, keepdims=True)
    alike = np.eye(n, dtype=bool)
    alike[0, 3] = alike[3, 0] = True
    return Z, T, alike


def written_out(name: str, Z, T, alike, setting: float) -> float:
    """The formulas of the file, one row and one negative at a time."""
    n = len(Z)
    total, n_negatives = 0.0, 0
    if name == "smooth_l1":
        for z, t in zip(Z, T, strict=True):
            gaps = np.abs(z - t)
            total += np.where(gaps <= 1, gaps**2 / 2, gaps - 0.5).sum() / n
        return total
    gaps = np.array([[np.linalg.norm(z - t) for t in T] for z in Z])
    if name == "contrastive":
        pushed = 0.0
        for i in range(n):
            total += gaps[i, i] ** 2 / n
            for j in np.flatnonzero(~alike[i]):
                pushed += max(0.0, setting - gaps[i, j]) ** 2
                n_negatives += 1
        return total + pushed / n_negatives
    for i in range(n):
        hardest = min(gaps[i, j] ** 2 for j in np.flatnonzero(~alike[i]))
        total += max(0.0, setting + gaps[i, i] ** 2 - hardest) / n
    return total


LOSSES = {
    "smooth_l1": lambda Z, T, alike: row_targets.smooth_l1(Z, T),
    "contrastive": lambda Z, T, alike: row_targets.contrastive(Z, T, alike, 1.2),
    "triplet": lambda Z, T, alike: row_targets.triplet(Z, T, alike, 1.2),
}


@pytest.mark.parametrize("name", LOSSES)
def test_loss_is_the_formula_written_out(name):
    Z, T, alike = a_batch()
    if name == "smooth_l1":
        Z = 2.0 * Z  # some gaps beyond one
    got = LOSSES[name](torch.tensor(Z), torch.tensor(T), torch.tensor(alike))
    assert got.item() == pytest.approx(written_out(name, Z, T, alike, 1.2), abs=1e-6)


@pytest.mark.parametrize("name", LOSSES)
def test_gradient_is_that_of_finite_differences(name):
    Z, T, alike = a_batch()
    Z, T = (torch.tensor(one, requires_grad=True) for one in (Z, T))
    alike = torch.tensor(alike)
    assert torch.autograd.gradcheck(lambda z, t: LOSSES[name](z, t, alike), (Z, T), atol=1e-4)


def test_softmax_is_cross_entropy_and_least_where_rows_are_on_their_targets():
    Z, T, _ = (torch.tensor(one) for one in a_batch())
    wanted = torch.softmax(10.0 * (T @ T.T), dim=1)
    got = row_targets.softmax(Z, T, wanted, 10.0)
    logits = 10.0 * (Z @ T.T).numpy()
    chances = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    assert got.item() == pytest.approx(-(wanted.numpy() * np.log(chances)).sum(axis=1).mean())
    there = T.clone().requires_grad_()
    row_targets.softmax(there, T, wanted, 10.0).backward()
    assert there.grad.abs().max() < 1e-9


def test_rank_labels_lets_a_rows_labels_be():
    scores = torch.tensor([[2.0, -1.0, 0.5], [0.0, 1.0, -2.0]], dtype=torch.float64)
    own = torch.tensor([[True, True, False], [False, True, False]])
    e = np.exp(scores.numpy())
    first = -np.log(e[0, 0] / (e[0, 0] + e[0, 2])) - np.log(e[0, 1] / (e[0, 1] + e[0, 2]))
    second = -np.log(e[1, 1] / e[1].sum())
    assert row_targets.rank_labels(scores, own).item() == pytest.approx((first / 2 + second) / 2)
    scores.requires_grad_()
    assert torch.autograd.gradcheck(lambda one: row_targets.rank_labels(one, own), (scores,))


def test_rows_that_have_every_label_or_targets_that_are_all_alike_cost_nothing_to_push():
    everything = torch.ones(2, 3, dtype=torch.bool)
    assert row_targets.rank_labels(torch.randn(2, 3), everything).item() == 0.0
    Z = torch.eye(3)
    alike = torch.ones(3, 3, dtype=torch.bool)
    assert row_targets.triplet(Z, Z, alike, 1.0).item() == 0.0
    assert row_targets.contrastive(Z, Z, alike, 1.0).item() == 0.0
