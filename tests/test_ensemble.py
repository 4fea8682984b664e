"""Learners that are trained side by side and asked together."""

from __future__ import annotations

import operator

import numpy as np
from scipy.sparse import csr_matrix

from labelspace import progress
from labelspace.encoders.linear import LinearEncoder
from labelspace.ensemble import Learner, search_all, train_learners, with_constant
from labelspace.search.exact import ExactIndex
from labelspace.search.ivf import IVFIndex

EYE = np.eye(2, dtype=np.float32)
X = csr_matrix(np.array([[3.0, 0.5, 9.0]], dtype=np.float32))


def learner(turned: bool, labels: IVFIndex | None = None) -> Learner:
    """Return a learner that knows features 0 and 1 and has a row at each axis."""
    weights = np.ascontiguousarray(EYE[::-1] if turned else EYE)
    index = ExactIndex(EYE, np.array([7, 8]))
    return Learner(LinearEncoder(weights, "float32"), index, labels, features=np.array([0, 1]))


def test_a_learner_sees_the_features_that_it_knows_at_unit_length() -> None:
    Z = learner(turned=False).encode(X)
    np.testing.assert_allclose(Z, [[3.0, 0.5]] / np.hypot(3.0, 0.5), rtol=1e-6)


def test_what_learners_find_stands_side_by_side() -> None:
    rows, labels = search_all([learner(turned=False), learner(turned=True)], X, 1, 3)
    assert rows.ids.tolist() == [[7, 8]]
    assert labels.ids.shape == (1, 0)


def test_the_bias_of_a_label_counts_beside_its_cosine() -> None:
    biased = IVFIndex(np.column_stack((EYE, [0.0, 2.0])), storage="float32")
    _, labels = learner(turned=False, labels=biased).search(X, 1, 2)
    assert labels.ids.tolist() == [[1, 0]]
    np.testing.assert_allclose(labels.products[0, 0], 2.0 + 0.5 / np.hypot(3.0, 0.5), rtol=1e-6)
    assert with_constant(EYE).tolist() == [[1, 0, 1], [0, 1, 1]]


def test_learners_come_in_the_order_of_their_seeds(monkeypatch) -> None:
    heard = []
    task = progress.task

    def listening(title: str, total: int):
        heard.append((title, total))
        return task(title, total=total)

    monkeypatch.setattr(progress, "task", listening)
    assert train_learners(operator.mul, 2, [5, 3, 4], n_threads=2) == [10, 6, 8]
    assert heard == [("Training", 3)]
