from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from labelspace.linear import label_ridge as module
from labelspace.linear.label_ridge import label_ridge, refitted, refitted_label_ridge
from labelspace.spaces import sphere
from tests.planted import planted_corpus


@pytest.mark.parametrize("made", [label_ridge, refitted_label_ridge])
def test_rows_lie_by_their_labels(made):
    X, Y = planted_corpus()
    W, mean, V = made(X, Y, 64)
    assert np.allclose(np.linalg.norm(V, axis=1), 1.0, atol=1e-5)
    X_new, Y_new = planted_corpus(100, seed=1)
    best = np.argmax((X_new @ W + mean) @ V.T, axis=1)
    assert np.mean(Y_new[np.arange(100), best]) > 0.8


def test_refitted_labels_are_the_least_squares_solution():
    rng = np.random.default_rng(0)
    Z = sphere.queries(rng.standard_normal((50, 6)).astype(np.float32))
    V = sphere.keys(rng.standard_normal((9, 6)).astype(np.float32))
    Y = csr_matrix(rng.random((50, 9)) < 0.3, dtype=np.float32)
    found = refitted(Z, Y, V)
    # The same as one regression on rows and, with the weight of the penalty, on V itself.
    wanted = Y.toarray() / np.sqrt(np.maximum(Y.sum(axis=1), 1))
    weight = np.sqrt(2.0 * 50 / 6)
    A = np.concatenate((Z, weight * np.eye(6)))
    expected = np.linalg.lstsq(A, np.concatenate((np.asarray(wanted), weight * V.T)))[0].T
    assert np.allclose(found, expected / np.linalg.norm(expected, axis=1)[:, None], atol=1e-4)


def test_what_all_rows_share_is_no_reason_for_a_label():
    """A label whose random vector lies where all rows point would be given to each of them."""
    rng = np.random.default_rng(0)
    shared = np.zeros((200, 8), dtype=np.float32)
    shared[:, 0] = 1.0
    Z = sphere.queries(shared + 0.2 * rng.standard_normal((200, 8)).astype(np.float32))
    Y = csr_matrix(Z[:, 1:2] > 0.2, dtype=np.float32)
    V = np.eye(1, 8, dtype=np.float32)
    moved = refitted(Z, Y, V)
    before, after = (np.corrcoef((Z @ v.T)[:, 0], Y.toarray()[:, 0])[0, 1] for v in (V, moved))
    assert after > before + 0.5


@pytest.mark.parametrize("good", [0.3, 1.0])
def test_the_penalty_that_answers_best_is_chosen_and_few_rows_have_the_usual(monkeypatch, good):
    X, Y = planted_corpus(2400)

    def spoiled(X, Y, dim, *, penalty, **more):
        W, mean, V = label_ridge(X, Y, dim, penalty=penalty, **more)
        return (W, mean, V) if penalty == good else (0.0 * W, mean, V)

    monkeypatch.setattr(module, "label_ridge", spoiled)
    assert module.chosen_penalty(X, Y) == good
    assert module.chosen_penalty(X[:100], Y[:100]) == 1.0
