"""Sparse classifiers on working sets: the answer is that of all rows, and it is sparse."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

from labelspace.models.sparse_margins import working_set
from labelspace.models.sparse_margins.working_set import train_sparse
from tests.planted import planted_corpus

X, Y = planted_corpus(300)


def objective(loss: str, weights: np.ndarray, side: np.ndarray, C: float, shrink: float) -> float:
    """The primal; the constant's weight comes first, and only the third problem shrinks it."""
    missing = np.maximum(0, 1 - side * (X @ weights[1:] + weights[0]))
    cost = C * (missing if loss == "hinge" else np.square(missing)).sum()
    if loss == "squared_hinge":
        return np.abs(weights).sum() + cost
    return 0.5 * weights @ weights + shrink * np.abs(weights[1:]).sum() + cost


@pytest.mark.parametrize(
    ("loss", "shrink"), [("hinge", 0.2), ("squared_hinge_dual", 0.2), ("squared_hinge", 0.0)]
)
def test_the_answer_is_the_optimum_over_all_rows(loss: str, shrink: float) -> None:
    exact = {"loss": loss, "C": 0.5, "shrink": shrink, "tol": 1e-4, "max_passes": 2000}
    weights, biases, _ = train_sparse(X, Y, **exact)
    d = X.shape[1]
    for label in (0, 5):
        side = np.where(Y[:, label].toarray().ravel() > 0, 1.0, -1.0)
        found = np.append(biases[label], weights[label].toarray())
        reached = objective(loss, found, side, 0.5, shrink)

        def split(halves: np.ndarray, side: np.ndarray = side) -> float:
            return objective(loss, halves[: d + 1] - halves[d + 1 :], side, 0.5, shrink)

        # From the answer itself no way leads down.
        start = np.concatenate((np.maximum(found, 0), np.maximum(-found, 0)))
        best = minimize(split, start, bounds=[(0, None)] * (2 * d + 2), method="L-BFGS-B").fun
        assert reached <= best * 1.005 + 1e-3
        random = np.random.default_rng(label)
        for _ in range(50):
            near = found + 0.02 * random.normal(size=d + 1)
            assert objective(loss, near, side, 0.5, shrink) >= reached - 1e-2


@pytest.mark.parametrize("loss", list(working_set.LOSSES))
def test_working_sets_find_what_all_rows_find(loss: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # The third problem is flat about its optimum, and begins where the last round ended.
    tol = 1e-5 if loss == "squared_hinge" else 1e-3
    how = {"loss": loss, "shrink": 0.1, "tol": tol, "max_passes": 1000, "max_rounds": 100}
    whole = train_sparse(X, Y, **how)  # begins with all of the 300 rows, but for a few
    monkeypatch.setattr(working_set, "N_STARTERS", 3)
    grown = train_sparse(X, Y, **how)
    assert grown.n_iter > 1
    scores = [X @ part.weights.T.toarray() + part.biases for part in (whole, grown)]
    assert np.allclose(*scores, atol=0.05)


@pytest.mark.parametrize("loss", list(working_set.LOSSES))
def test_no_row_is_left_that_violates_its_margin_unnoticed(loss: str) -> None:
    weights, biases, _ = train_sparse(X, Y, loss=loss, C=100.0, tol=0.005, max_passes=500)
    margins = (2 * Y.toarray() - 1) * (X @ weights.T.toarray() + biases)
    assert margins.min() > 0.8


def test_a_larger_penalty_makes_fewer_weights() -> None:
    sizes = [train_sparse(X, Y, loss="hinge", shrink=s).weights.nnz for s in (0.0, 0.1, 0.5)]
    assert sizes[0] > sizes[1] > sizes[2] > 0
    assert train_sparse(X, Y, loss="squared_hinge", C=0.3).weights.nnz < sizes[0] / 3


@pytest.mark.parametrize("loss", list(working_set.LOSSES))
def test_the_same_on_any_number_of_threads(loss: str) -> None:
    one, other = (train_sparse(X, Y, loss=loss, n_threads=n, seed=5) for n in (1, 3))
    assert (one.weights != other.weights).nnz == 0
    assert np.array_equal(one.biases, other.biases)


def test_a_label_without_rows_says_no() -> None:
    empty = csr_matrix(np.column_stack((Y.toarray()[:, 0], np.zeros(300))))
    weights, biases, _ = train_sparse(X, empty, loss="hinge")
    assert weights[1].nnz == 0
    assert biases[1] == -1.0


def test_rows_of_a_label_that_count_more_are_fitted_closer() -> None:
    how = {"loss": "squared_hinge", "C": 0.1, "tol": 0.01}
    plain = train_sparse(X, Y, **how)
    heavier = train_sparse(X, Y, positive_weights=np.full(Y.shape[1], 5.0), **how)

    def missing(found: working_set.LinearClassifiers) -> float:
        scores = X @ found.weights.T.toarray() + found.biases
        return float(np.maximum(0, 1 - scores[Y.toarray() > 0]).mean())

    assert missing(heavier) < 0.8 * missing(plain)
