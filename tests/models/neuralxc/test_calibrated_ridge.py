from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from labelspace import metrics
from labelspace.models.neuralxc import calibrated_ridge as module
from labelspace.models.neuralxc.calibrated_ridge import calibrated_ridge
from labelspace.topk import topk_dense
from tests.models.neuralxc.logits import logits
from tests.planted import planted_corpus


def test_it_ranks_a_rows_own_labels_first():
    X, Y = planted_corpus(400)
    X_test, Y_test = planted_corpus(100, seed=1)
    found = logits(calibrated_ridge(X, Y, 64, n_threads=1), X_test)
    assert metrics.evaluate(Y_test, topk_dense(found, 1), ks=(1,))["P@1"] > 95


def test_scores_are_logits_on_rows_that_it_has_not_seen():
    """Labels that are there by chance: what is said with probability p is true p of the time."""
    rng = np.random.default_rng(0)
    X = csr_matrix((rng.random((6000, 30)) < 0.15).astype(np.float32))
    chance = 1.0 / (1.0 + np.exp(3.0 - 4.0 * X.toarray()[:, :20]))
    Y = csr_matrix((rng.random(chance.shape) < chance).astype(np.float32))
    labels = calibrated_ridge(X[:4000], Y[:4000], 64, n_threads=1)
    told = 1.0 / (1.0 + np.exp(-logits(labels, X[4000:])))
    true = Y[4000:].toarray()
    for low, high in ((0.0, 0.2), (0.2, 0.5), (0.5, 1.0)):
        there = (told >= low) & (told < high)
        assert abs(told[there].mean() - true[there].mean()) < 0.1


def test_two_numbers_minimise_the_log_loss(monkeypatch):
    rng = np.random.default_rng(1)
    cosines = rng.uniform(-1, 1, size=(500, 3)).astype(np.float32)
    true = rng.random(cosines.shape) < 1.0 / (1.0 + np.exp(1.0 - 5.0 * cosines))
    monkeypatch.setattr(module, "PSEUDO_ROWS", 1e-6)
    a, b = module._calibrated(topk_dense(cosines, 3), csr_matrix(true.astype(np.float32)))
    missed = 1.0 / (1.0 + np.exp(-(a * cosines + b))) - true
    assert missed.mean() == pytest.approx(0.0, abs=1e-3)
    assert (missed * cosines).mean() == pytest.approx(0.0, abs=1e-3)


@pytest.mark.parametrize("n_rows", [1, 10])
def test_few_rows_and_one_label(n_rows):
    X = csr_matrix(np.ones((n_rows, 3), dtype=np.float32))
    Y = csr_matrix(np.ones((n_rows, 1), dtype=np.float32))
    assert np.isfinite(logits(calibrated_ridge(X, Y, 8, n_threads=1), X)).all()
