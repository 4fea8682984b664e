"""What every estimator in ``labelspace.models`` must do; found by looking, not listed by hand."""

from __future__ import annotations

import copy
import importlib
import inspect
import pkgutil
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csc_array, csr_array, csr_matrix, lil_array
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer
from sklearn.utils.estimator_checks import parametrize_with_checks

import labelspace
from labelspace import Tagger, models
from labelspace.base import LabelRanker
from labelspace.explanation import Explanation
from labelspace.topk import TopK
from tests.planted import planted_corpus
from tests.small import fitted, small

# By contract predict returns CSR for multi-label targets, where scikit-learn expects dense.
EXPECTED_FAILURES = {
    "check_classifiers_multilabel_representation_invariance": "predict returns CSR by contract",
    "check_classifiers_multilabel_output_format_predict": "predict returns CSR by contract",
}

# Their scores are float32 products that round with the number of rows asked together, and with some
# BLAS by a row's place among them, by more than the 1e-7 that scikit-learn allows; our own tests of
# the same things allow 1e-5.
ROUND_WITH_THE_BATCH = ("DXML", "GLaS", "NeuralXC", "XMLCNN")
ASKED_TOGETHER = ("check_methods_subset_invariance", "check_methods_sample_order_invariance")

# Their votes are cosines: there is nothing to switch off.
COMPARE_BY_COSINE = ("LabelSpace", "NearestNeighbors")

# What some methods tell of their search, beside the answer.
COUNTS = ("count_visited", "count_products", "encode")


def discover() -> list[type[LabelRanker]]:
    found = set()
    for module in pkgutil.walk_packages(models.__path__, "labelspace.models."):
        for _, kind in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            own = kind.__module__ == module.name
            if own and issubclass(kind, LabelRanker) and not inspect.isabstract(kind):
                found.add(kind)
    return sorted(found, key=lambda kind: kind.__name__)


ESTIMATORS = discover()
every_estimator = pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda kind: kind.__name__)


def learns(kind: type[LabelRanker]) -> bool:
    """Tell whether a method looks at the features at all."""
    return not kind().__sklearn_tags__().classifier_tags.poor_score


@every_estimator
def test_rows_can_be_left_at_their_length(kind: type[LabelRanker]) -> None:
    if kind.__name__ in COMPARE_BY_COSINE or not learns(kind):
        pytest.skip("compares rows by cosine, or does not look at them")
    model = small(kind, normalize=False).fit(*planted_corpus(60))
    X = csr_matrix(3.0 * planted_corpus(5)[0])
    lengths = np.sqrt(model.rows_.encode(X).power(2).sum(axis=1))  # type: ignore[attr-defined]
    np.testing.assert_allclose(lengths, np.sqrt(X.power(2).sum(axis=1)), rtol=1e-5)


def same(one: TopK, other: TopK) -> bool:
    return np.array_equal(one.labels, other.labels) and np.allclose(
        one.scores, other.scores, rtol=1e-5, atol=1e-6
    )


@pytest.fixture(scope="module")
def corpus() -> tuple[csr_matrix, csr_matrix]:
    return planted_corpus()


def expected_failures(estimator: LabelRanker) -> dict[str, str]:
    return EXPECTED_FAILURES | getattr(type(estimator), "_expected_sklearn_failures", {})


@parametrize_with_checks(
    [small(kind) for kind in ESTIMATORS], expected_failed_checks=expected_failures
)
def test_scikit_learn_accepts_it(estimator: LabelRanker, check: partial) -> None:
    rounds = type(estimator).__name__ in ROUND_WITH_THE_BATCH
    if rounds and check.func.__name__ in ASKED_TOGETHER:
        pytest.skip("scores differ in their last bits")
    check(estimator)


def test_every_estimator_has_a_name_on_the_command_line() -> None:
    named = {models.find(name) for name in models.METHODS}
    assert named == set(ESTIMATORS)


@every_estimator
def test_known_answer(kind: type[LabelRanker]) -> None:
    score = fitted(kind).score(*planted_corpus(100, seed=1))
    if learns(kind):
        assert score >= 0.95
    else:
        assert 0.0 < score < 0.6


@every_estimator
def test_answer_is_well_formed(
    kind: type[LabelRanker], corpus: tuple[csr_matrix, csr_matrix]
) -> None:
    X, Y = corpus
    top = fitted(kind).predict_topk(X, k=20)
    assert top.labels.shape == top.scores.shape == (X.shape[0], 20)
    assert top.labels.dtype.kind == "i"
    assert top.scores.dtype.kind == "f"
    for labels, scores in zip(top.labels, top.scores, strict=True):
        given = labels[labels >= 0]
        assert np.all(labels[given.size :] == -1)
        assert np.unique(given).size == given.size <= Y.shape[1]
        assert np.all(np.diff(scores[: given.size]) <= 0)
        assert np.all(np.isfinite(scores[: given.size]))


@every_estimator
def test_predict_gives_k_labels_or_those_above_the_threshold(
    kind: type[LabelRanker], corpus: tuple[csr_matrix, csr_matrix]
) -> None:
    X, Y = corpus
    model = copy.copy(fitted(kind)).set_params(k=2)
    top = model.predict_topk(X, k=2)
    given = model.predict(X)
    assert isinstance(given, csr_matrix)
    assert given.shape == Y.shape
    assert np.array_equal(given.sum(axis=1).A1, (top.labels >= 0).sum(axis=1))
    middle = float(np.median(top.scores[np.isfinite(top.scores)]))
    assert model.predict(X, threshold=middle).nnz == (top.scores >= middle).sum()


@every_estimator
@pytest.mark.parametrize("form", ["float64", "dense", "int64", "unsorted", "duplicates"])
def test_form_of_the_features_does_not_matter(
    kind: type[LabelRanker], form: str, corpus: tuple[csr_matrix, csr_matrix]
) -> None:
    X, Y = corpus
    expected = fitted(kind).predict_topk(X, k=3)
    other = in_form(X, form)
    before = other.copy()
    model = small(kind).fit(other, Y)
    assert same(model.predict_topk(other, k=3), expected)
    if form == "dense":
        assert np.array_equal(other, before)
    else:
        assert np.array_equal(other.indices, before.indices), "the caller's matrix was changed"
        assert np.array_equal(other.data, before.data), "the caller's matrix was changed"


def in_form(X: csr_matrix, form: str) -> csr_matrix | np.ndarray:
    if form == "float64":
        return X.astype(np.float64)
    if form == "dense":
        return X.toarray()
    if form == "int64":
        wide = X.copy()
        wide.indices, wide.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
        return wide
    if form == "unsorted":
        turned = X.copy()
        for start, end in zip(X.indptr[:-1], X.indptr[1:], strict=True):
            turned.indices[start:end] = X.indices[start:end][::-1]
            turned.data[start:end] = X.data[start:end][::-1]
        turned.has_sorted_indices = False
        return turned
    halves = np.repeat(X.data / 2, 2)
    doubled = csr_matrix((halves, np.repeat(X.indices, 2), X.indptr * 2), shape=X.shape)
    doubled.has_canonical_format = False
    return doubled


@every_estimator
def test_form_of_the_labels_does_not_matter(
    kind: type[LabelRanker], corpus: tuple[csr_matrix, csr_matrix]
) -> None:
    X, Y = corpus
    lists = [row.indices.tolist() for row in Y]
    names = [[f"label {label:02}" for label in row] for row in lists]
    expected = fitted(kind).predict_topk(X, k=3)
    for labels in (Y.toarray(), Y.astype(np.int64), lists, names):
        assert same(small(kind).fit(X, labels).predict_topk(X, k=3), expected)


@every_estimator
def test_one_label(kind: type[LabelRanker]) -> None:
    X, _ = planted_corpus(30)
    model = small(kind).fit(X, np.ones((30, 1)))
    top = model.predict_topk(X, k=5)
    assert np.all(top.labels[:, 0] == 0)
    assert np.all(top.labels[:, 1:] == -1)


@every_estimator
def test_ten_rows(kind: type[LabelRanker]) -> None:
    X, Y = planted_corpus(10)
    assert len(small(kind).fit(X, Y).predict_topk(X, k=5)) == 10


@every_estimator
def test_a_hundred_thousand_labels(kind: type[LabelRanker]) -> None:
    rng = np.random.default_rng(0)
    n_examples, n_labels = 400, 100_000
    X = csr_matrix(rng.random((n_examples, 60)) * (rng.random((n_examples, 60)) < 0.1))
    labels = rng.choice(n_labels, size=n_examples)
    labels[-1] = n_labels - 1
    Y = csr_matrix((np.ones(n_examples), (np.arange(n_examples), labels)), (n_examples, n_labels))
    top = small(kind).fit(X, Y).predict_topk(X[:20], k=5)
    assert top.labels.max() < n_labels


@every_estimator
def test_rows_without_features_or_labels_are_no_trouble(kind: type[LabelRanker]) -> None:
    X, Y = planted_corpus(120)
    X, Y = X.tolil(), Y.tolil()
    X[3] = 0
    X[50] = 0
    Y[3] = 0
    Y[7] = 0
    Y[:, 5] = 0
    X, Y = X.tocsr(), Y.tocsr()
    X.eliminate_zeros()
    Y.eliminate_zeros()
    model = small(kind).fit(X, Y)
    top = model.predict_topk(X, k=3)
    assert len(top) == 120
    assert not np.isnan(top.scores).any()


@every_estimator
def test_saved_and_loaded_it_answers_the_same(
    kind: type[LabelRanker], corpus: tuple[csr_matrix, csr_matrix], tmp_path: Path
) -> None:
    X, _ = corpus
    model = fitted(kind)
    model.save(tmp_path / "model")
    loaded = labelspace.load(tmp_path / "model")
    assert type(loaded) is kind
    assert loaded.get_params() == model.get_params()
    expected, got = model.predict_topk(X, k=5), loaded.predict_topk(X, k=5)
    assert np.array_equal(got.labels, expected.labels)
    assert np.array_equal(got.scores, expected.scores)
    assert np.array_equal(loaded.label_counts_, model.label_counts_)
    assert not any(file.suffix in {".pkl", ".pickle"} for file in (tmp_path / "model").iterdir())


@every_estimator
def test_same_seed_same_model(
    kind: type[LabelRanker], corpus: tuple[csr_matrix, csr_matrix], tmp_path: Path
) -> None:
    X, Y = corpus
    models = [fitted(kind, n_threads=1), small(kind, n_threads=1).fit(X, Y)]
    one, other = (model.predict_topk(X, k=5) for model in models)
    assert np.array_equal(one.labels, other.labels)
    assert np.array_equal(one.scores, other.scores)
    written = []
    for model in models:
        model.save(tmp_path / "model")
        files = sorted((tmp_path / "model").iterdir())
        written.append({file.name: file.read_bytes() for file in files})
    assert written[0] == written[1], "the files of the two models differ"


@every_estimator
def test_number_of_threads_does_not_change_quality(kind: type[LabelRanker]) -> None:
    X_test, Y_test = planted_corpus(100, seed=1)
    scores = [fitted(kind, n_threads=n).score(X_test, Y_test) for n in (1, 2)]
    assert abs(scores[0] - scores[1]) <= 0.03


@every_estimator
def test_partial_fit_takes_new_rows_and_new_labels(
    kind: type[LabelRanker], corpus: tuple[csr_matrix, csr_matrix]
) -> None:
    model = small(kind)
    if not hasattr(model, "partial_fit"):
        pytest.skip(f"{kind.__name__} does not learn on")
    X, Y = corpus
    old = np.flatnonzero(Y[:, 10:].sum(axis=1).A1 == 0)
    new = np.setdiff1d(np.arange(X.shape[0]), old)
    model.partial_fit(X[old], Y[old][:, :10])
    assert model.n_labels_ == 10
    model.partial_fit(X[new], Y[new])
    assert model.n_labels_ == 12
    assert model.n_examples_ == X.shape[0]
    assert np.array_equal(model.label_counts_, Y.sum(axis=0).A1)
    if learns(kind):
        found = model.predict_topk(X[new], k=3).labels
        assert np.mean([np.any(row >= 10) for row in found]) > 0.8, "new labels are not found"
        assert model.score(X[old], Y[old]) > 0.9, "old rows were forgotten"


@every_estimator
def test_explain_gives_reasons(
    kind: type[LabelRanker], corpus: tuple[csr_matrix, csr_matrix]
) -> None:
    model = fitted(kind)
    if not hasattr(model, "explain"):
        pytest.skip(f"{kind.__name__} does not explain")
    X, Y = corpus
    top = model.predict_topk(X[:5], k=2)
    explained = model.explain(X[:5], k=2)
    assert len(explained) == 5
    for labels, row in zip(top.labels, explained, strict=True):
        assert [explanation.label for explanation in row] == [one for one in labels if one >= 0]
        assert all(isinstance(explanation, Explanation) for explanation in row)
        assert row[0].reasons, "the best label has no reason"
        for explanation in row:
            for reason in explanation.reasons:
                assert reason.kind in {"example", "feature", "label"}
                if reason.kind == "example":
                    assert Y[reason.id, explanation.label] == 1, "a row voted for a label not its"


@every_estimator
def test_works_in_a_pipeline_and_a_grid_search(kind: type[LabelRanker]) -> None:
    X, Y = planted_corpus(80)

    def recall(model: LabelRanker, X: csr_matrix, Y: csr_matrix) -> float:
        return model.predict(X).multiply(Y).sum() / Y.sum()

    pipeline = make_pipeline(Normalizer(), small(kind, k=3)).fit(X, Y)
    assert pipeline.predict(X).shape == Y.shape
    choices = {"k": [1, 5]}
    search = GridSearchCV(small(kind), choices, scoring=recall, cv=2, refit=False)
    assert search.set_params(error_score="raise").fit(X, Y).best_params_ == {"k": 5}


@every_estimator
def test_wrong_input_gives_one_clear_sentence(
    kind: type[LabelRanker], corpus: tuple[csr_matrix, csr_matrix]
) -> None:
    X, Y = corpus
    bad = X.toarray()
    bad[2, 2] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        kind().fit(bad, Y)
    with pytest.raises(ValueError, match="299 rows of labels"):
        kind().fit(X, Y[:-1])
    with pytest.raises(ValueError, match="0 and 1"):
        kind().fit(X, Y * 2)
    with pytest.raises(ValueError, match="outside 0"):
        kind().fit(X[:2], [[0], [-1]])
    with pytest.raises(ValueError, match="outside 0"):
        kind().fit(X[:2], [[0], [10**12]])
    with pytest.raises(ValueError, match="n_threads"):
        kind(n_threads=0).fit(X, Y)
    model = fitted(kind)
    with pytest.raises(ValueError, match="features"):
        model.predict_topk(X[:, :-1])
    with pytest.raises(labelspace.UsageError, match="whole number"):
        model.predict_topk(X, k=0)
    if hasattr(model, "explain"):
        with pytest.raises(labelspace.UsageError, match="whole number"):
            model.explain(X[:2], n_reasons=-1)


@every_estimator
def test_features_that_would_overflow_are_refused_and_tiny_ones_are_not(
    kind: type[LabelRanker],
) -> None:
    X, Y = planted_corpus(30)
    model = kind(random_state=0)
    with pytest.raises(labelspace.DataError, match="scale them down"):
        model.fit(X * np.float32(2e38), Y)
    model.fit(X, Y)
    with pytest.raises(labelspace.DataError, match="scale them down"):
        model.predict_topk(X * np.float32(1e30))
    top = model.predict_topk(X * np.float32(1e-40), 3)
    assert not np.isnan(top.scores).any()
    assert all(np.unique(row).size == row.size for row in top.labels)


@every_estimator
def test_a_fit_that_fails_leaves_no_half_model(kind: type[LabelRanker]) -> None:
    X, Y = planted_corpus(30)
    model = small(kind)
    for wrong in (Y[:-1], np.zeros((30, 0))):
        with pytest.raises(labelspace.DataError):
            model.fit(X, wrong)
    for ask in (
        model.predict_topk,
        *(getattr(model, name) for name in COUNTS if name in dir(kind)),
    ):
        with pytest.raises(NotFittedError):
            ask(X)
    model.fit(X, [["a", "b"], ["c"], *[["a"]] * 28])
    before = model.predict_topk(X, k=3)
    with pytest.raises(labelspace.DataError):
        model.fit(X[:, :5], Y[:-1])
    if hasattr(model, "partial_fit"):
        with pytest.raises(labelspace.DataError):
            model.partial_fit(X[:2], [["new"], ["b"], ["c"]])
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert same(model.predict_topk(X, k=3), before)


@every_estimator
def test_partial_fit_learns_all_or_nothing(
    kind: type[LabelRanker], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, Y = planted_corpus(60)
    model = kind(random_state=0)
    if not hasattr(model, "partial_fit"):
        pytest.skip(f"{kind.__name__} does not learn on")
    model.fit(X[:50], Y[:50, :10])
    model.save(tmp_path / "before")
    learn_on = kind._partial_fit

    def fail_at_the_end(self: LabelRanker, X: csr_matrix, Y: csr_matrix, **more: Any) -> None:
        learn_on(self, X, Y, **more)
        raise KeyboardInterrupt

    monkeypatch.setattr(kind, "_partial_fit", fail_at_the_end)
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(X[50:], Y[50:])
    model.save(tmp_path / "after")
    for file in (tmp_path / "before").iterdir():
        assert file.read_bytes() == (tmp_path / "after" / file.name).read_bytes(), file.name


@every_estimator
@pytest.mark.parametrize("place", [0, 59])
def test_learns_on_from_rows_like_one_without_features(kind: type[LabelRanker], place: int) -> None:
    X, Y = planted_corpus(80)
    model = kind(random_state=0)
    if not hasattr(model, "partial_fit"):
        pytest.skip(f"{kind.__name__} does not learn on")
    rows, labels = X[:60].toarray(), Y[:60].toarray()
    rows[place], labels[:, 7], labels[place] = 0.0, 0.0, np.arange(12) == 7
    model.fit(csr_matrix(rows), csr_matrix(labels))
    new = np.flatnonzero(Y[60:, 7].toarray().ravel()) + 60
    model.partial_fit(X[new], Y[new])
    assert model.label_counts_[7] == 1 + new.size
    if learns(kind):
        assert np.mean(np.any(model.predict_topk(X[new], k=3).labels == 7, axis=1)) > 0.5


def test_sparse_arrays_are_taken_and_given_back(tmp_path):
    X, Y = csr_array(np.eye(4, dtype=np.float32)), csr_array(np.eye(4, dtype=np.int8))
    model = labelspace.models.NearestNeighbors(n_neighbors=1).fit(X, Y)
    given = model.predict(csc_array(X), k=1)
    assert isinstance(given, csr_array)
    np.testing.assert_array_equal(given.toarray(), np.eye(4))
    model.save(tmp_path / "model")
    assert isinstance(labelspace.load(tmp_path / "model").predict(X), csr_array)
    assert isinstance(Tagger("knn").fit(X, Y, list("abcd")).predict(X), csr_array)
    assert isinstance(model.fit(X, csr_matrix(Y)).predict(X), csr_matrix)
    wide = lil_array((4, 3000))
    wide[range(4), range(4)] = 1
    assert isinstance(model.fit(X, wide).decision_function(X), csr_array)
