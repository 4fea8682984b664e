from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from labelspace.models import MLCSSP
from labelspace.models.label_compression.column_subset import choose_columns, decoder, leverage
from tests.planted import planted_corpus


@pytest.fixture
def labels() -> csr_matrix:
    rng = np.random.default_rng(0)
    return csr_matrix(rng.random((80, 10)) < np.linspace(0.05, 0.5, 10), dtype=np.float32)


def test_leverage_is_that_of_dense_numpy(labels) -> None:
    right = np.linalg.svd(labels.toarray())[2][:4]
    assert np.allclose(leverage(labels, 4), np.square(right).sum(axis=0) / 4, atol=1e-3)


def test_labels_are_drawn_as_often_as_their_leverage_says(labels) -> None:
    drawn = [choose_columns(labels, 1, seed=seed)[0] for seed in range(2000)]
    often = np.bincount(drawn, minlength=10) / 2000
    assert np.allclose(often, leverage(labels, 1), atol=0.04)


def test_no_label_is_drawn_twice_nor_one_without_rows() -> None:
    Y = csr_matrix(np.array([[1, 0, 1, 0], [0, 0, 1, 1]], dtype=np.float32))
    for seed in range(20):
        chosen = choose_columns(Y, 4, seed=seed)
        assert np.unique(chosen).size == chosen.size
        assert 1 not in chosen


def test_decoder_is_the_pseudo_inverse_of_dense_numpy(labels) -> None:
    columns = csr_matrix(labels[:, [1, 4, 7]])
    expected = (np.linalg.pinv(columns.toarray()) @ labels.toarray()).T
    assert np.allclose(decoder(columns, labels), expected, atol=1e-4)


def test_labels_that_were_not_learned_are_given_where_they_follow_from_others() -> None:
    """Each label has a twin; half of the columns are enough for both."""
    X, Y = planted_corpus()
    twins = csr_matrix(np.hstack([Y.toarray(), Y.toarray()]))
    model = MLCSSP(dim=12, penalty=0.3, random_state=1).fit(X, twins)
    covered = np.unique(model.chosen_ % 12)
    new_X, new_Y = planted_corpus(100, seed=1)
    best = model.predict_topk(new_X, k=2).labels % 12
    known = np.flatnonzero(np.asarray(new_Y[:, covered].sum(axis=1)).ravel() > 0)
    right = [new_Y[row, best[row, 0]] > 0 and best[row, 0] == best[row, 1] for row in known]
    assert np.mean(right) > 0.8
