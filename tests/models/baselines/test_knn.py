"""What is particular to NearestNeighbors; the checks of every estimator are in test_estimators."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix, vstack

from labelspace import metrics
from labelspace.data import read_corpus
from labelspace.models import NearestNeighbors
from tests.planted import planted_corpus

# Cosines with [1, 0]: 1, 0.8, 0.6 and 0.
CORNERS = [[2.0, 0.0], [0.8, 0.6], [0.6, 0.8], [0.0, 1.0]]
LABELS = [[0], [1], [1, 2], [3]]


@pytest.mark.parametrize(
    ("power", "votes"),
    [(0.0, {0: 1.0, 1: 2.0, 2: 1.0}), (1.0, {0: 1.0, 1: 1.4, 2: 0.6}), (3.0, {0: 1.0, 1: 0.728})],
)
def test_votes_count_the_cosine_to_a_power(power: float, votes: dict[int, float]) -> None:
    model = NearestNeighbors(power=power).fit(CORNERS, LABELS)
    top = model.predict_topk([[3.0, 0.0]], k=4)
    found = dict(zip(top.labels[0].tolist(), top.scores[0].tolist(), strict=True))
    total = sum((0.0 if cosine == 0 else cosine**power) for cosine in (1.0, 0.8, 0.6))
    for label, voice in votes.items():
        assert found[label] == pytest.approx(voice / total, rel=1e-5)
    assert 3 not in found


def test_only_the_nearest_vote() -> None:
    top = NearestNeighbors(n_neighbors=1).fit(CORNERS, LABELS).predict_topk([[1.0, 0.1]], k=2)
    assert top.labels.tolist() == [[0, -1]]


def test_row_that_has_nothing_in_common_gets_no_label() -> None:
    model = NearestNeighbors(power=0.0).fit([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], [[0], [1]])
    assert model.predict_topk([[0.0, 0.0, 1.0], [0.0, 0.0, 0.0]], k=1).labels.tolist() == [[-1]] * 2


def test_neighbours_are_those_of_all_cosines() -> None:
    X, Y = planted_corpus()
    model = NearestNeighbors(n_neighbors=5).fit(X[:200], Y[:200])
    unit = X.toarray() / np.linalg.norm(X.toarray(), axis=1, keepdims=True)
    expected = np.argsort(-(unit[200:] @ unit[:200].T), axis=1, kind="stable")[:, :5]
    neighbors, weights = model._neighbors(X[200:])
    np.testing.assert_array_equal(neighbors, expected)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, rtol=1e-5)


def test_rows_learned_later_vote_at_once_and_bring_new_labels() -> None:
    model = NearestNeighbors(n_neighbors=1).fit(CORNERS, LABELS)
    later = np.zeros((1, 5))
    later[0, 4] = 1
    model.partial_fit([[1.0, 1.0]], later)
    assert model.predict_topk([[0.5, 0.5]], k=1).labels.tolist() == [[4]]
    assert model.predict_topk([[1.0, 0.0]], k=1).labels.tolist() == [[0]]


def test_reasons_are_the_rows_that_voted_for_the_label_and_add_up_to_its_score() -> None:
    model = NearestNeighbors().fit(CORNERS, LABELS)
    best, second, _ = model.explain([[1.0, 0.0]], k=3)[0]
    assert [reason.id for reason in best.reasons] == [0]
    assert [reason.id for reason in second.reasons] == [1, 2]
    assert all(reason.kind == "example" for reason in second.reasons)
    assert sum(reason.weight for reason in second.reasons) == pytest.approx(second.score, rel=1e-5)


@pytest.mark.data
@pytest.mark.filterwarnings("ignore:.*rows without labels")
@pytest.mark.parametrize(
    ("corpus", "n_train", "published"),
    [("bibtex", 4880, (57.04, 34.38, 25.44)), ("delicious", 12920, (64.95, 58.89, 54.11))],
)
def test_as_good_as_published_on_random_splits(
    corpora: Path, corpus: str, n_train: int, published: tuple[float, float, float]
) -> None:
    parts = [read_corpus(corpora / corpus / f"{part}.txt.xz") for part in ("train", "test")]
    X, Y = (vstack([getattr(part, name) for part in parts], format="csr") for name in "XY")
    found = []
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(X.shape[0])
        train, test = order[:n_train], order[n_train:]
        model = NearestNeighbors().fit(csr_matrix(X[train]), csr_matrix(Y[train]))
        quality = metrics.evaluate(Y[test], model.predict_topk(X[test], k=5))
        found.append([quality[f"P@{k}"] for k in (1, 3, 5)])
    assert (np.mean(found, axis=0) > np.array(published) - 1.0).all()
