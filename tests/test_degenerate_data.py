"""Each method learns and answers, or says why not, on data that has next to nothing in it."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.sparse import random as random_csr

import labelspace
from labelspace import models

pytest.importorskip("torch")

Data = tuple[csr_matrix, csr_matrix]
N_ROWS = 12


def labels_in_turn() -> csr_matrix:
    return csr_matrix(np.eye(3, dtype=np.float32)[np.arange(N_ROWS) % 3])


def some_rows(n_rows: int = N_ROWS, n_features: int = 6) -> csr_matrix:
    return random_csr(n_rows, n_features, 0.5, format="csr", dtype=np.float32, random_state=0)


def many_labels() -> Data:
    columns = np.random.default_rng(0).choice(200_000, 20, replace=False)
    Y = csr_matrix((np.ones(20), (np.repeat(np.arange(10), 2), columns)), shape=(10, 200_000))
    return some_rows(10, 20), Y


DATA: dict[str, Callable[[], Data]] = {
    "rows of zeros": lambda: (csr_matrix((N_ROWS, 5), dtype=np.float32), labels_in_turn()),
    "a row": lambda: (csr_matrix(np.ones((1, 4))), csr_matrix([[1.0, 0.0, 1.0]])),
    "a row with a label": lambda: (csr_matrix(np.ones((1, 4))), csr_matrix([[1.0]])),
    "a label": lambda: (some_rows(), csr_matrix(np.ones((N_ROWS, 1)))),
    "a feature": lambda: (csr_matrix(np.arange(N_ROWS)[:, np.newaxis]), labels_in_turn()),
    "constant features": lambda: (csr_matrix(np.ones((N_ROWS, 5))), labels_in_turn()),
    "the same row again": lambda: (
        csr_matrix(np.tile([[1.0, 0.0, 2.0]], (N_ROWS, 1))),
        csr_matrix(np.tile([[1.0, 0.0, 1.0]], (N_ROWS, 1))),
    ),
    "few rows with labels": lambda: (
        some_rows(),
        csr_matrix(labels_in_turn().multiply(np.arange(N_ROWS)[:, np.newaxis] < 2)),
    ),
    "more labels than rows": many_labels,
}


@pytest.mark.parametrize("name", models.METHODS)
def test_a_method_answers_whatever_it_learns_from(name: str) -> None:
    for what, make in DATA.items():
        X, Y = make()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model = models.make(name, random_state=0).fit(X, Y)
            for asked in (X, csr_matrix(X.shape, dtype=np.float32)):
                top = model.predict_topk(asked, 3)
                assert top.labels.shape == (X.shape[0], 3), what
                assert top.labels.max() < Y.shape[1], what
                assert np.isfinite(top.scores[top.labels >= 0]).all(), what
        nothing = X[:0]
        assert model.predict_topk(nothing, 3).labels.shape == (0, 3), what
        assert model.predict_topk(nothing.toarray()).scores.shape == (0, 5), what
        assert model.predict(nothing).shape == (0, Y.shape[1]), what
        if hasattr(model, "explain"):
            assert model.explain(nothing) == [], what


@pytest.mark.parametrize("name", models.METHODS)
def test_rows_none_of_which_has_a_label_are_refused(name: str) -> None:
    with pytest.raises(labelspace.DataError, match="There is no label to learn"):
        models.make(name).fit(some_rows(), csr_matrix((N_ROWS, 3)))


def test_no_texts_have_no_tags() -> None:
    tagger = labelspace.Tagger("knn").fit(["a red ball", "a blue cube"], [["red"], ["blue"]])
    assert tagger.tag_many([]) == []
    assert tagger.predict([]).shape == (0, 2)
