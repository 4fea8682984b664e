"""C is chosen by what ranks rows held out better."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.metrics import average_precision_score

from labelspace.models.labelspace.choose_c import CHOICES, USUAL, average_precision, choose_C


def corpus(noise: float, seed: int = 0) -> tuple[csr_matrix, csr_matrix, np.ndarray]:
    """A label is there where its feature is, but for a share of rows where that is turned round."""
    rng = np.random.default_rng(seed)
    has = rng.random((400, 8)) < 0.3
    X = np.concatenate((has, rng.random((400, 60)) < 0.2), axis=1) * 1.0
    turned = rng.random(has.shape) < noise
    held_out = np.arange(400) % 4 == 0
    X /= np.sqrt(np.maximum((X**2).sum(axis=1, keepdims=True), 1.0))
    return csr_matrix(X, dtype=np.float32), csr_matrix((has ^ turned) * 1.0), held_out


@pytest.mark.parametrize(("noise", "expected"), [(0.3, min(CHOICES)), (0.0, max(CHOICES))])
def test_noisy_labels_get_a_small_C_and_clear_ones_a_large_one(
    noise: float, expected: float
) -> None:
    X, Y, held_out = corpus(noise)
    assert choose_C(X, Y, csr_matrix(Y.shape), held_out) == expected


def test_nothing_held_out_gives_the_usual_C() -> None:
    X, Y, held_out = corpus(noise=0.0)
    assert choose_C(X, Y, csr_matrix(Y.shape), np.zeros_like(held_out)) == USUAL


def test_average_precision_of_one_label_is_scikit_learns() -> None:
    rng = np.random.default_rng(1)
    scores, has = rng.random((50, 1)), rng.random((50, 1)) < 0.3
    expected = average_precision_score(has[:, 0], scores[:, 0])
    assert average_precision(scores, has) == pytest.approx(expected)
