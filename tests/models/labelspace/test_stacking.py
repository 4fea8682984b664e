"""Stacking of votes and margins: whom it trusts, and that no row judges itself."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.special import expit

from labelspace.models.labelspace.candidates import Candidates
from labelspace.models.labelspace.cross_fitting import CrossFit
from labelspace.models.labelspace.name_index import N_FIGURES
from labelspace.models.labelspace.stacking import (
    Stacker,
    _with_unseen_labels,
    learn_stacker,
)
from labelspace.models.labelspace.vector_space import N_FIGURES as N_VECTOR_FIGURES


def candidates(n_rows: int, seed: int) -> tuple[Candidates, csr_matrix, np.ndarray]:
    """Return five candidates a row, of which margins tell the truth and votes tell nothing."""
    rng = np.random.default_rng(seed)
    labels = np.tile(np.arange(5), (n_rows, 1))
    margins = rng.uniform(-2, 2, size=(n_rows, 5)).astype(np.float32)
    shares = rng.uniform(0, 1, size=(n_rows, 5)).astype(np.float32)
    true = expit(4.0 * margins - 1.0)
    Y = csr_matrix((rng.random((n_rows, 5)) < true).astype(np.float32))
    nothing = np.zeros_like(shares)
    rows = np.zeros((n_rows, 4), dtype=np.float32)
    names = np.zeros((n_rows, 5, N_FIGURES), dtype=np.float32)
    given = labels, margins, shares, nothing, nothing, nothing, names, no_vectors(n_rows, 5), rows
    return Candidates(*given), Y, true


def no_vectors(n_rows: int, n_candidates: int) -> np.ndarray:
    return np.zeros((n_rows, n_candidates, 0), dtype=np.float32)


COUNTS = np.full(5, 50)


def unseen_probabilities(given: Candidates, Y: csr_matrix, n_trees: int = 100) -> np.ndarray:
    return CrossFit(given, Y, COUNTS, n_trees=n_trees).probabilities(n_trees)


def test_it_learns_whom_to_trust() -> None:
    given, Y, _ = candidates(3000, seed=0)
    unseen, _, true = candidates(500, seed=1)
    prior = np.abs(Stacker().probabilities(unseen, COUNTS) - true).mean()
    learned = np.abs(learn_stacker(given, Y, COUNTS).probabilities(unseen, COUNTS) - true).mean()
    assert learned < 0.04 < prior


def test_no_row_judges_itself() -> None:
    given, Y, true = candidates(40, seed=0)
    before = unseen_probabilities(given, Y)
    assert before.shape == true.shape
    turned = Y.toarray()
    turned[0] = 1.0 - turned[0]
    after = unseen_probabilities(given, csr_matrix(turned))
    assert np.array_equal(after[::2], before[::2]), "what a half teaches reached the half itself"
    assert not np.array_equal(after[1::2], before[1::2])


@pytest.mark.parametrize("n_rows", [0, 1])
def test_too_few_rows_give_prior_weights_or_nearly(n_rows: int) -> None:
    given, Y, _ = candidates(n_rows, seed=0)
    probabilities = unseen_probabilities(given, Y)
    assert probabilities.shape == (n_rows, 5)
    np.testing.assert_allclose(probabilities, Stacker().probabilities(given, COUNTS), atol=0.05)


def test_votes_are_trusted_where_neighbours_are_near() -> None:
    """Margins and votes are right in turn; how near neighbours are says whose turn it is."""
    rng = np.random.default_rng(0)
    n_rows = 3000
    near = rng.random(n_rows) < 0.5
    labels = np.tile(np.arange(5), (n_rows, 1))
    right = rng.integers(5, size=(2, n_rows))
    margins = np.full((n_rows, 5), -0.5, dtype=np.float32)
    margins[np.arange(n_rows), right[0]] = 0.5
    shares = np.full((n_rows, 5), 0.1, dtype=np.float32)
    shares[np.arange(n_rows), right[1]] = 0.6
    true = np.where(near, right[1], right[0])
    Y = csr_matrix(np.eye(5, dtype=np.float32)[true])
    rows = np.zeros((n_rows, 4), dtype=np.float32)
    rows[:, :3] = np.where(near, 0.9, 0.3)[:, np.newaxis]
    nothing = np.zeros_like(shares)
    names = np.zeros((n_rows, 5, N_FIGURES), dtype=np.float32)
    told = labels, margins, shares, nothing, nothing, nothing, names, no_vectors(n_rows, 5), rows
    given = Candidates(*told)

    def precision(n_trees: int) -> float:
        found = unseen_probabilities(given, Y, n_trees=n_trees).argmax(axis=1)
        return float((found == true).mean())

    assert precision(0) < 0.7
    assert precision(100) > 0.95


def test_a_name_is_worth_something_for_a_label_without_rows() -> None:
    rng = np.random.default_rng(2)
    n_rows = 3000
    given, Y, _ = candidates(n_rows, seed=2)
    names = np.zeros((n_rows, 5, N_FIGURES), dtype=np.float32)
    is_named = (Y.toarray() > 0) & (rng.random((n_rows, 5)) < 0.9)
    names[is_named, 0] = 1.0
    learned = learn_stacker(given._replace(names=names), Y, np.array([50, 50, 50, 50, 2]))
    nothing = np.zeros((1, 2), dtype=np.float32)
    figures = np.zeros((1, 2, N_FIGURES), dtype=np.float32)
    figures[0, 0, 0] = 1.0  # of two labels without rows, the first is named
    asked = Candidates(
        np.array([[0, 1]]),
        nothing - 1.0,
        *(nothing,) * 4,
        figures,
        no_vectors(1, 2),
        np.zeros((1, 4), dtype=np.float32),
    )
    first, second = learned.probabilities(asked, np.zeros(5, dtype=np.int64))[0]
    assert first > 0.5 > 10 * second


@pytest.mark.parametrize("n_trees", [0, 100])
def test_vectors_are_believed_where_they_tell_more_than_votes_and_margins(n_trees: int) -> None:
    rng = np.random.default_rng(3)
    given, Y, _ = candidates(3000, seed=3)
    noise = rng.uniform(-1, 1, size=given.margins.shape).astype(np.float32)
    vectors = np.zeros((*given.labels.shape, N_VECTOR_FIGURES), dtype=np.float32)
    vectors[:, :, 0] = np.where(Y.toarray() > 0, 0.8, 0.2) + 0.1 * noise
    given = given._replace(margins=noise, vectors=vectors)
    found = unseen_probabilities(given, Y, n_trees=n_trees)
    assert ((found > 0.5) == (Y.toarray() > 0)).mean() > 0.95


def test_what_rows_say_of_a_hidden_label_is_hidden_but_its_name_is_not() -> None:
    given, Y, _ = candidates(12, seed=4)
    many = [np.tile(part, (1, 4, *(1,) * (part.ndim - 2))) for part in given[:-1]]
    vectors = np.ones((12, 20, N_VECTOR_FIGURES), dtype=np.float32)
    vectors[:, :, 1] = np.linspace(0.1, 0.9, 20)
    wide = Candidates(*many[:-1], vectors, given.rows)
    wide = wide._replace(labels=np.tile(np.arange(20), (12, 1)))
    counts = np.array([1] * 5 + [9] * 15)
    Y = csr_matrix(np.ones((12, 20), dtype=np.float32))
    both, _, _ = _with_unseen_labels(wide, Y, counts)
    hidden = both.labels[12:, :5]
    assert np.all(hidden == -1), "names farther than ten others are not searched for"
    turned = wide._replace(vectors=vectors[:, ::-1])
    both, _, new_counts = _with_unseen_labels(turned, Y, counts)
    assert np.all(both.labels[12:, :5] == np.arange(20, 25))
    assert np.all(new_counts[20:25] == 0)
    assert not both.vectors[12:, :5, 0].any()
    assert np.array_equal(both.vectors[12:, :5, 1], turned.vectors[:, :5, 1])


def test_few_rows_grow_few_trees_and_many_grow_many() -> None:
    """Noise in the figures is worth no tree; that votes and margins take turns is worth many."""
    few, truth, _ = candidates(40, seed=5)
    assert CrossFit(few, truth, COUNTS).best_n_trees() < 20
    many, truth, _ = candidates(3000, seed=6)
    rows = many.rows.copy()
    rows[::3, 0] = 1.0
    taking_turns = many._replace(
        rows=rows, margins=np.where(rows[:, :1] > 0, many.margins, -many.margins)
    )
    assert CrossFit(taking_turns, truth, COUNTS).best_n_trees() > 20
