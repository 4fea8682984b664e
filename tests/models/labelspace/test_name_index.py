"""Names of labels: found in rows as brute force finds them, trusted as rows say."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix, hstack, identity, random_array

import labelspace
from labelspace.errors import DataError
from labelspace.label_features import LabelFeatures
from labelspace.models import LabelSpace
from labelspace.models.labelspace._name_kernels import DOUBT, RATE
from labelspace.models.labelspace.name_index import NameIndex
from tests.planted import planted_corpus

N_ROWS, N_FEATURES, N_LABELS, N_NAMES = 40, 30, 12, 25


@pytest.fixture(scope="module")
def named() -> LabelFeatures:
    rng = np.random.default_rng(0)
    rows = (rng.random((N_NAMES, N_FEATURES)) < 0.06).astype(np.float32)
    rows[np.arange(N_NAMES), rng.integers(0, N_FEATURES, N_NAMES)] = 1.0
    alike = np.arange(N_FEATURES)
    alike[[7, 20]] = 3  # three forms of one word
    labels = rng.integers(0, N_LABELS - 1, N_NAMES)  # the last label has no name
    return LabelFeatures.of(LabelFeatures(csr_matrix(rows), labels, alike), N_LABELS, N_FEATURES)


@pytest.fixture(scope="module")
def X() -> csr_matrix:
    rng = np.random.default_rng(1)
    return csr_matrix(random_array((N_ROWS, N_FEATURES), density=0.3, rng=rng, dtype=np.float32))


def words(row: csr_matrix, alike: np.ndarray) -> set[int]:
    return set(alike[row.indices].tolist())


def test_whole_names_are_found_as_by_comparing_all(named: LabelFeatures, X: csr_matrix) -> None:
    index = NameIndex(named, X, N_LABELS)
    found = index.find(X, N_LABELS)
    for row in range(N_ROWS):
        there = words(X[row], named.alike)
        whole = {
            int(label)
            for name, label in enumerate(named.labels)
            if words(named.rows[name], named.alike) <= there
        }
        assert set(found[row].tolist()) - {-1} == whole


def test_shares_weigh_rare_words_more(named: LabelFeatures, X: csr_matrix) -> None:
    index = NameIndex(named, X, N_LABELS)
    labels = np.tile(np.arange(N_LABELS), (N_ROWS, 1))
    figures = index.figures(X, labels)
    weight = index.weights
    for row in range(N_ROWS):
        there = words(X[row], named.alike)
        for label in range(N_LABELS):
            shares = [0.0]
            for name in np.flatnonzero(named.labels == label):
                own = sorted(words(named.rows[name], named.alike))
                total = weight[own].sum()
                shares.append(sum(weight[one] for one in own if one in there) / total)
            assert figures[row, label, 0] == pytest.approx(max(shares), abs=1e-5)
    frequent, rare = np.argmax(np.diff(X.tocsc().indptr)), np.argmin(np.diff(X.tocsc().indptr))
    assert weight[rare] > weight[frequent]


def test_trust_is_the_share_of_rows_with_the_name_that_have_the_label(X: csr_matrix) -> None:
    named = LabelFeatures.of(csr_matrix(np.eye(2, N_FEATURES)), 2, N_FEATURES)
    index = NameIndex(named, X, 2)
    Y = csr_matrix(np.ones((N_ROWS, 2)))
    Y[:, 1] = 0.0
    Y.eliminate_zeros()
    index.counts = index.learn(X, Y)
    having = np.diff(X.tocsc().indptr)[:2]
    assert index.counts.tolist() == [[having[0], having[0]], [having[1], 0]]
    share = (having[0] + DOUBT * RATE) / (having[0] + DOUBT)
    both = np.flatnonzero(np.all(X[:, :2].toarray() > 0, axis=1))[:1]
    figures = index.figures(csr_matrix(X[both]), np.array([[0, 1]]))[0]
    assert figures[0, 3] == pytest.approx(np.log(share / (1 - share)), rel=1e-5)
    assert figures[0, 4] == pytest.approx(np.log1p(having[0]))
    assert figures[1, 3] < figures[0, 3]


def test_a_name_with_a_word_that_is_no_feature_is_never_whole(X: csr_matrix) -> None:
    rows = csr_matrix(np.eye(2, N_FEATURES))
    told = LabelFeatures(rows, np.arange(2), None, np.array([0, 1]))
    index = NameIndex(LabelFeatures.of(told, 2, N_FEATURES), X, 2)
    everything = csr_matrix(np.ones((1, N_FEATURES), dtype=np.float32))
    assert index.find(everything, 2)[0].tolist() == [0, -1]
    figures = index.figures(everything, np.array([[0, 1]]))
    assert figures[0, 0, 0] == pytest.approx(1.0)
    assert 0.0 < figures[0, 1, 0] < 0.9


def test_names_can_come_later(named: LabelFeatures, X: csr_matrix) -> None:
    whole = NameIndex(named, X, N_LABELS)
    first = named.labels < 6
    parts = [
        named._replace(rows=named.rows[some], labels=named.labels[some], n_unknown=None)
        for some in (first, ~first)
    ]
    index = NameIndex(parts[0], X, 6)
    index.add(parts[1], N_LABELS)
    assert np.array_equal(index.find(X, N_LABELS), whole.find(X, N_LABELS))
    assert (index.names != whole.names).nnz == 0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (csr_matrix((3, N_FEATURES)), "3 rows for 12 labels"),
        (csr_matrix((N_LABELS, 4)), "4 columns"),
        (LabelFeatures(csr_matrix((1, N_FEATURES)), np.array([12])), "12 labels"),
        (LabelFeatures(csr_matrix((1, N_FEATURES)), np.array([0, 1])), "2 labels"),
    ],
)
def test_label_features_that_do_not_fit_are_refused(given: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        LabelFeatures.of(given, N_LABELS, N_FEATURES)


def named_corpus() -> tuple[csr_matrix, csr_matrix, csr_matrix]:
    """Return rows that have a feature of their own for each of their labels, most of the time."""
    X, Y = planted_corpus()
    rng = np.random.default_rng(5)
    mentions = Y.multiply(rng.random(Y.shape) < 0.7)
    rows = csr_matrix(hstack([X, 0.3 * mentions]), dtype=np.float32)
    nothing = csr_matrix((Y.shape[1], X.shape[1]))
    names = csr_matrix(hstack([nothing, identity(Y.shape[1])]), dtype=np.float32)
    return rows, csr_matrix(Y), names


def test_labels_without_rows_are_given_by_their_names(tmp_path) -> None:
    X, Y, names = named_corpus()
    unseen = Y.shape[1] - 1
    has_it = Y[:, unseen].toarray().ravel() > 0
    without = csr_matrix(Y[~has_it])
    model = LabelSpace(random_state=0, n_threads=1).fit(X[~has_it], without, label_features=names)
    asked = X[has_it & (X[:, -1].toarray().ravel() > 0)]
    top = model.predict_topk(asked, 5)
    assert (top.labels == unseen).any(axis=1).mean() > 0.5
    silent = LabelSpace(random_state=0, n_threads=1).fit(X[~has_it], without)
    assert not (silent.predict_topk(asked, 5).labels == unseen).any()
    model.save(tmp_path / "model")
    again = labelspace.load(tmp_path / "model").predict_topk(asked, 5)
    assert np.array_equal(again.labels, top.labels)


def test_added_labels_are_given_by_their_names() -> None:
    X, Y, names = named_corpus()
    last = Y.shape[1] - 1
    has_it = Y[:, last].toarray().ravel() > 0
    model = LabelSpace(random_state=0, n_threads=1)
    model.fit(X[~has_it], csr_matrix(Y[~has_it][:, :last]), label_features=names[:last])
    model.add_labels(["new"], names[last:])
    assert model.n_labels_ == last + 1
    asked = X[has_it & (X[:, -1].toarray().ravel() > 0)]
    assert (model.predict_topk(asked, 5).labels == last).any(axis=1).mean() > 0.5
    model.partial_fit(X[has_it], Y[has_it])
    assert model.label_counts_[last] == has_it.sum()
    with pytest.raises(DataError, match="one for each"):
        model.add_labels(["a", "b"], names[last:])
    assert model.n_labels_ == last + 1


def test_words_of_names_are_reasons_of_their_own_kind() -> None:
    X, Y, names = named_corpus()
    model = LabelSpace(random_state=0, n_threads=1).fit(X, Y, label_features=names)
    rows = np.flatnonzero(X[:, X.shape[1] - Y.shape[1] :].getnnz(axis=1))[:20]
    kinds = set()
    for row, explanations in zip(rows, model.explain(X[rows], k=2, n_reasons=9), strict=True):
        for why in explanations:
            own = [one for one in why.reasons if one.kind == "name"]
            kinds.update(one.kind for one in why.reasons)
            assert all(one.id == X.shape[1] - Y.shape[1] + why.label for one in own)
            assert all(X[row, one.id] > 0 for one in own)
    assert "name" in kinds


def test_rows_of_one_group_are_held_out_together() -> None:
    X, Y = planted_corpus()
    doubled = (
        csr_matrix(np.repeat(X.toarray(), 2, axis=0)),
        csr_matrix(np.repeat(Y.toarray(), 2, axis=0)),
    )
    groups = np.repeat(np.arange(X.shape[0]), 2)
    alone = LabelSpace(random_state=0, n_threads=1).fit(*doubled)
    grouped = LabelSpace(random_state=0, n_threads=1).fit(*doubled, groups=groups)
    # A twin among the neighbours makes held-out rows look easier than new ones are.
    assert np.abs(alone.stacker_.weights - grouped.stacker_.weights).max() > 1e-3
    with pytest.raises(DataError, match="one for each row"):
        LabelSpace().fit(X, Y, groups=[1, 2])
