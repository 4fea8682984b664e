"""Rows of which only some labels are known say nothing of the others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from labelspace import Tagger, load
from labelspace.errors import UsageError
from labelspace.models import LabelSpace, NearestNeighbors, make
from labelspace.partial_labels import Marks, PartialRows
from labelspace.topk import TopK
from tests.planted import planted_corpus
from tests.server.texts import tagged_texts

TEXT = "prune the roses beside the oven"


@pytest.fixture(scope="module", params=["labelspace", "knn"])
def tagger(request: pytest.FixtureRequest) -> Any:
    texts, labels = tagged_texts()
    return Tagger(request.param, n_threads=1).fit(texts, labels)


@pytest.fixture
def pupil(tagger: Any, tmp_path: Path) -> Any:
    tagger.save(tmp_path / "model")
    return Tagger.load(tmp_path / "model")


def scores(tagger: Any, text: str = TEXT) -> dict[str, float]:
    return dict(tagger.tag(text, k=20))


def test_what_is_not_marked_keeps_its_score(pupil: Any):
    before = scores(pupil)
    pupil.partial_fit([TEXT], [["chess"]], rejected=[["cooking"]])
    after = scores(pupil)
    assert after["chess"] > before.get("chess", 0.0) + 0.1
    assert after["cooking"] < before["cooking"] - 0.05
    for name in ("gardening", "outdoors"):
        assert after[name] == pytest.approx(before[name], abs=0.03)


def test_a_text_that_is_taught_again_and_again_counts_once(pupil: Any):
    pupil.partial_fit([TEXT], [["brand new"]], rejected=[[]])
    once, other = scores(pupil), scores(pupil, "roses for the rook")
    for _ in range(2):
        pupil.partial_fit([TEXT], [["brand new"]], rejected=[[]])
    assert scores(pupil) == pytest.approx(once, abs=0.01)
    assert scores(pupil, "roses for the rook") == pytest.approx(other, abs=0.01)
    assert scores(pupil, "roses for the rook").get("brand new", 0.0) < 0.95
    label = pupil.labels_.find("brand new")
    if isinstance(pupil.estimator_, LabelSpace):
        assert pupil.estimator_.label_counts_[label] == 1


def test_marks_of_the_same_text_add_up_and_the_last_word_counts(pupil: Any):
    pupil.partial_fit([TEXT], [["chess"]], rejected=[["cooking"]])
    pupil.partial_fit([TEXT], [["cooking"]], rejected=[[]])
    Y, names = pupil.estimator_.Y_, pupil.label_names_
    assert [names[at] for at in Y[-1].indices] == ["chess", "cooking"]


def test_partial_rows_are_stored(pupil: Any, tmp_path: Path):
    pupil.partial_fit([TEXT], [["chess"]], rejected=[["cooking"]])
    pupil.save(tmp_path / "again")
    again = Tagger.load(tmp_path / "again")
    assert scores(again) == scores(pupil)
    again.partial_fit([TEXT], [["another new"]], rejected=[[]])
    again.save(tmp_path / "again")
    assert scores(load(tmp_path / "again")) == scores(again)


def test_a_label_that_was_rejected_and_is_not_known_is_left_out(pupil: Any):
    n_labels = pupil.estimator_.n_labels_
    pupil.partial_fit([TEXT], [["chess"]], rejected=[["no such label"]])
    assert pupil.estimator_.n_labels_ == n_labels


def test_a_method_that_needs_all_labels_says_so():
    X, Y = planted_corpus()
    model: Any = make("most-common").fit(X, Y)
    with pytest.raises(UsageError, match="all known"):
        model.partial_fit(X[:1], Y[:1], rejected=Y[1:2])
    assert model.n_examples_ == X.shape[0]


def test_lists_of_numbers_are_marks_too():
    X, Y = planted_corpus()
    model = NearestNeighbors().fit(X, Y)
    model.partial_fit(X[:2], Y[:2], rejected=csr_matrix(Y.shape)[:2])
    assert model.partial_ is not None
    assert model.partial_.rows.tolist() == [X.shape[0], X.shape[0] + 1]


def test_shares_leave_out_who_knows_nothing_of_a_label():
    partial = PartialRows(2)
    marks = Marks(csr_matrix([[0.0, 1.0, 0.0]]), csr_matrix([[0.0, 0.0, 1.0]]))
    partial.add(csr_matrix([[1.0, 0.0]]), marks, 1, csr_matrix((1, 3)))
    votes = TopK(np.array([[1, 0, 2]]), np.array([[0.6, 0.4, 0.4]], dtype=np.float32))
    weights = np.array([[0.4, 0.6]], dtype=np.float32)
    found = partial.shares(votes, np.array([[0, 1]]), weights)
    assert dict(found.given(0)) == pytest.approx({0: 1.0, 1: 0.6, 2: 0.4})
