from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from labelspace.deep import label_losses


@pytest.fixture
def batch():
    rng = np.random.default_rng(0)
    scores = torch.from_numpy(rng.standard_normal((4, 6))).requires_grad_()
    relevant = torch.tensor(
        [[1, 0, 0, 0, 1, 0], [0, 1, 0, 0, 0, 0], [1, 1, 1, 0, 0, 0], [0, 0, 0, 0, 0, 1]],
        dtype=torch.bool,
    )
    return scores, relevant, torch.tensor([4, 1, 0, 5])


def test_margin_counts_every_label_that_is_too_near(batch):
    scores, relevant, chosen = batch[0].detach(), *batch[1:]
    expected = 0.0
    for row in range(4):
        for label in range(6):
            if not relevant[row, label]:
                expected += max(0.0, float(scores[row, label] - scores[row, chosen[row]]) + 0.3)
    assert float(label_losses.margin(scores, relevant, chosen, 0.3)) == pytest.approx(expected / 4)


def test_mining_takes_the_hardest_and_with_all_of_them_is_the_margin_loss(batch):
    scores, relevant, chosen = batch
    hardest = torch.where(relevant, -torch.inf, scores).max(dim=1).values
    own = scores.gather(1, chosen[:, None])[:, 0]
    expected = torch.relu(hardest - own + 0.3).mean()
    assert torch.allclose(
        label_losses.negative_mining(scores, relevant, chosen, 0.3, n_hardest=1), expected
    )
    assert torch.allclose(
        label_losses.negative_mining(scores, relevant, chosen, 0.3, n_hardest=6),
        label_losses.margin(scores, relevant, chosen, 0.3),
    )


def test_softmax_of_all_labels_is_the_mean_over_those_drawn(batch):
    scores, relevant, _ = batch
    expected = -(torch.log_softmax(scores, dim=1) * relevant).sum(dim=1) / relevant.sum(dim=1)
    assert torch.allclose(label_losses.softmax(scores, relevant), expected.mean())


def test_weights_make_a_sample_stand_for_all_labels():
    rng = np.random.default_rng(1)
    scores = torch.from_numpy(rng.standard_normal((2, 9)))
    relevant = torch.zeros((2, 9), dtype=torch.bool)
    relevant[:, 0] = True
    whole = label_losses.binary(scores, relevant)
    sampled = []
    for _ in range(1000):
        some = np.flatnonzero(rng.random(8) < 0.5) + 1
        kept = torch.from_numpy(np.concatenate(([0], some)))
        weights = torch.full((len(kept),), 2.0, dtype=scores.dtype)
        sampled.append(float(label_losses.binary(scores[:, kept], relevant[:, kept], weights)))
    assert np.mean(sampled) == pytest.approx(float(whole), rel=0.05)


@pytest.mark.parametrize("name", ["margin", "mining", "softmax", "one_drawn", "binary"])
def test_gradients_match_finite_differences_in_double_precision(name, batch):
    scores, relevant, chosen = batch
    weights = torch.linspace(1.0, 3.0, 6, dtype=scores.dtype)
    losses = {
        "margin": lambda s: label_losses.margin(s, relevant, chosen, 0.3),
        "mining": lambda s: label_losses.negative_mining(s, relevant, chosen, 0.3, 2),
        "softmax": lambda s: label_losses.softmax(s, relevant, weights=weights),
        "one_drawn": lambda s: label_losses.softmax(s, relevant, chosen),
        "binary": lambda s: label_losses.binary(s, relevant, weights),
    }
    assert torch.autograd.gradcheck(losses[name], (scores,))
