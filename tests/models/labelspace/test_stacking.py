"""Stacking of votes and margins: whom it trusts, and that no row judges itself."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.special import expit

from labelspace.models.labelspace.candidates import Candidates
from labelspace.models.labelspace.stacking import (
    Stacker,
    learn_stacker,
    unseen_probabilities,
)


def candidates(n_rows: int, seed: int) -> tuple[Candidates, csr_matrix, np.ndarray]:
    """Return five candidates a row, of which margins tell the truth and votes tell nothing."""
    rng = np.random.default_rng(seed)
    labels = np.tile(np.arange(5), (n_rows, 1))
    margins = rng.uniform(-2, 2, size=(n_rows, 5)).astype(np.float32)
    shares = rng.uniform(0, 1, size=(n_rows, 5)).astype(np.float32)
    true = expit(4.0 * margins - 1.0)
    Y = csr_matrix((rng.random((n_rows, 5)) < true).astype(np.float32))
    return Candidates(labels, margins, shares, np.zeros_like(shares)), Y, true


COUNTS = np.full(5, 50)


def test_it_learns_whom_to_trust() -> None:
    given, Y, _ = candidates(3000, seed=0)
    unseen, _, true = candidates(500, seed=1)
    prior = np.abs(Stacker().probabilities(unseen, COUNTS) - true).mean()
    learned = np.abs(learn_stacker(given, Y, COUNTS).probabilities(unseen, COUNTS) - true).mean()
    assert learned < 0.03 < prior


def test_no_row_judges_itself() -> None:
    given, Y, true = candidates(40, seed=0)
    before = unseen_probabilities(given, Y, COUNTS)
    assert before.shape == true.shape
    turned = Y.toarray()
    turned[0] = 1.0 - turned[0]
    after = unseen_probabilities(given, csr_matrix(turned), COUNTS)
    assert np.array_equal(after[::2], before[::2]), "what a half teaches reached the half itself"
    assert not np.array_equal(after[1::2], before[1::2])


@pytest.mark.parametrize("n_rows", [0, 1])
def test_too_few_rows_give_prior_weights_or_nearly(n_rows: int) -> None:
    given, Y, _ = candidates(n_rows, seed=0)
    probabilities = unseen_probabilities(given, Y, COUNTS)
    assert probabilities.shape == (n_rows, 5)
    np.testing.assert_allclose(probabilities, Stacker().probabilities(given, COUNTS), atol=0.05)
