"""Stratified folds, group splits and cross-validation for whatever ``fit`` takes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.model_selection import cross_validate as sklearn_cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from labelspace import Tagger, metrics
from labelspace.csr import NamedColumns
from labelspace.errors import DataError, UsageError
from labelspace.model_selection import (
    IterativeStratification,
    cross_validate,
    take,
    train_test_split,
)
from labelspace.models import NearestNeighbors, OneVsAll
from tests.planted import planted_corpus

X, Y = planted_corpus(120, 6)
LISTS = [row.indices.tolist() for row in Y]
NAMES = [[f"label{label}" for label in row] for row in LISTS]


def test_every_label_has_its_share_in_each_fold() -> None:
    random = np.random.default_rng(0)
    labels = csr_matrix(random.random((400, 30)) < np.linspace(0.01, 0.2, 30))
    folds = IterativeStratification(4, random_state=0)
    seen = []
    for learned, tested in folds.split(None, labels):
        assert not np.intersect1d(learned, tested).size
        assert learned.size + tested.size == 400
        assert 95 <= tested.size <= 105
        seen.append(tested)
    assert np.sort(np.concatenate(seen)).tolist() == list(range(400))
    by_chance = [tested for _, tested in KFold(4, shuffle=True, random_state=0).split(labels)]
    assert uneven(labels, seen) < 0.4 * uneven(labels, by_chance)


def uneven(labels: csr_matrix, folds: list[Any]) -> float:
    """Return how far the labels of folds are from their shares, on the whole."""
    share = labels.sum(axis=0) / len(folds)
    return float(sum(np.abs(labels[fold].sum(axis=0) - share).sum() for fold in folds))


def test_folds_depend_on_the_seed_alone() -> None:
    one, same, other = (
        IterativeStratification(3, random_state=seed).folds(LISTS) for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(one, same)
    assert (one != other).any()


def test_rows_of_a_group_stay_together() -> None:
    groups = np.arange(120) // 4
    fold = IterativeStratification(5, random_state=0).folds(Y, groups)
    assert all(np.unique(fold[groups == group]).size == 1 for group in range(30))
    assert np.bincount(fold).min() >= 16
    with pytest.raises(DataError, match="30 groups for 40 folds"):
        IterativeStratification(40).folds(Y, groups)
    with pytest.raises(DataError, match="120 rows but 2 groups"):
        IterativeStratification(2).folds(Y, [1, 2])


def test_a_split_keeps_the_kind_of_rows_and_labels() -> None:
    learned, tested, Y_learned, Y_tested = train_test_split(X, Y, test_size=0.25, random_state=0)
    assert tested.shape == (30, X.shape[1])
    assert learned.shape[0] == Y_learned.shape[0] == 90
    assert abs(Y_tested.sum() - Y.sum() / 4) <= 4
    named = NamedColumns(Y, [f"label{at}" for at in range(6)])
    assert train_test_split(X, named, random_state=0)[3].names == named.names
    with pytest.raises(UsageError, match="test_size is 2"):
        train_test_split(X, Y, test_size=2)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_rows_of_frames_are_taken(library: str) -> None:
    module = pytest.importorskip(library)
    columns = {"text": ["a red one", "a blue one"] * 4, "labels": [["red"], ["blue"]] * 4}
    table = module.table(columns) if library == "pyarrow" else module.DataFrame(columns)
    assert list(take(table, np.array([3, 0])).shape) == [2, 2]
    figures = cross_validate(
        Tagger("knn"), table["text"], table["labels"], cv=2, scoring=["P@1", "R@1"]
    )
    assert figures["test_P@1"].tolist() == figures["test_R@1"].tolist() == [100.0, 100.0]


@pytest.mark.parametrize("labels", [Y, LISTS, NAMES, Y.toarray(), NamedColumns(Y, list("abcdef"))])
def test_cross_validation_takes_what_fit_takes(labels: Any) -> None:
    figures = cross_validate(
        make_pipeline(MaxAbsScaler(), OneVsAll(random_state=0)), X, labels, cv=3
    )
    assert figures["test_P@1"].shape == figures["fit_time"].shape == (3,)
    assert figures["test_P@1"].min() > 90
    assert set(figures) >= {"test_nDCG@5", "test_PSP@5", "score_time"}


def test_cross_validation_takes_splitters_and_groups_and_gives_estimators() -> None:
    figures = cross_validate(
        NearestNeighbors(), X, Y, cv=KFold(2), scoring="coverage@5", return_estimator=True
    )
    assert [model.n_examples_ for model in figures["estimator"]] == [60, 60]
    by_group = cross_validate(NearestNeighbors(), X, Y, cv=2, groups=np.arange(120) // 60)
    assert by_group["test_P@1"].shape == (2,)


def test_scorers_serve_scikit_learns_own_search_and_validation() -> None:
    search = GridSearchCV(
        NearestNeighbors(), {"n_neighbors": [1, 5]}, scoring=metrics.scorer("nDCG@3"), cv=2
    ).fit(X, Y.toarray())
    assert 50 < search.best_score_ <= 100
    several = {name: metrics.scorer(name) for name in ("P@1", "PSP@3", "RP@3")}
    found = sklearn_cross_validate(NearestNeighbors(), X, Y.toarray(), scoring=several, cv=2)
    assert found["test_P@1"].min() > 50


def test_a_scorer_gives_what_evaluate_gives() -> None:
    model = NearestNeighbors().fit(X[:80], Y[:80])
    figures = metrics.evaluate(
        Y[80:], model.predict_topk(X[80:], 5), label_counts=model.label_counts_, n_examples=80
    )
    for name in ("P@5", "nDCG@3", "PSP@1", "PSnDCG@5"):
        assert metrics.scorer(name)(model, X[80:], Y[80:]) == pytest.approx(figures[name])


@pytest.mark.parametrize("name", ["P@", "P5", "Q@5", "P@0", "accuracy"])
def test_no_such_figure(name: str) -> None:
    with pytest.raises(UsageError, match="no figure"):
        metrics.scorer(name)


def test_figures_of_names_are_those_of_columns() -> None:
    tagger = Tagger("knn").fit(X, NAMES)
    ranked = tagger.tag_many(X, k=5)
    counts = {f"label{at}": n for at, n in enumerate(np.asarray(Y.sum(axis=0)).ravel())}
    by_name = metrics.evaluate(NAMES, ranked, label_counts=counts, n_examples=120)
    by_number = tagger.evaluate(X, NAMES)
    assert by_name == pytest.approx(by_number)
    assert tagger.score(X, NAMES) == pytest.approx(by_number["P@1"] / 100)
    with pytest.raises(DataError, match="dict of name to count"):
        metrics.evaluate(NAMES, ranked, label_counts=[1, 2], n_examples=3)
