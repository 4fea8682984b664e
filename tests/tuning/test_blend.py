"""Several methods asked together, as one estimator."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

import labelspace
from labelspace import metrics
from labelspace.base import LabelRanker
from labelspace.errors import ModelFileError, UsageError
from labelspace.models import AnnexML, NearestNeighbors, OneVsAll
from labelspace.models.baselines.random_labels import RandomLabels
from labelspace.tuning.blend import Blend
from labelspace.tuning.mixture import Mixture
from tests.planted import planted_corpus

X, Y = planted_corpus(200)


def blend(*members: LabelRanker) -> Blend:
    """Return a blend that has learned the first half of the rows, and how on the second."""
    answers = [clone(one).fit(X[:100], Y[:100]).predict_topk(X[100:], 12) for one in members]
    mixture = Mixture.learn(answers, Y[100:])
    return Blend(list(members), mixture, n_threads=1, random_state=0).fit(X[:100], Y[:100])


@pytest.fixture(scope="module")
def fitted() -> Blend:
    return blend(OneVsAll(random_state=0), NearestNeighbors())


def test_it_answers_with_probabilities(fitted: Blend) -> None:
    top = fitted.predict_topk(X[100:], 3)
    assert metrics.evaluate(Y[100:], top, ks=(1,))["P@1"] > 90
    assert ((top.scores >= 0) & (top.scores <= 1)).all()
    assert fitted.gives_probabilities
    assert fitted.predict_proba(X[100:]).shape == (100, 12)
    assert fitted.predict(X[100:], threshold="f1").nnz > 100


def test_members_are_not_fitted_themselves(fitted: Blend) -> None:
    assert not hasattr(fitted.members[0], "index_")
    assert [one.n_threads for one in fitted.members_] == [1, 1]


def test_it_can_be_cloned_and_stored(fitted: Blend, tmp_path: Path) -> None:
    clone(fitted).fit(X, Y)
    fitted.save(tmp_path / "blend")
    loaded = labelspace.load(tmp_path / "blend")
    np.testing.assert_array_equal(
        loaded.predict_topk(X, 4).scores, fitted.predict_topk(X, 4).scores
    )


def test_the_first_member_that_can_explains_the_labels_of_all(fitted: Blend) -> None:
    top = fitted.predict_topk(X[:3], 2)
    explained = fitted.explain(X[:3], k=2)
    assert [why.label for why in explained[0]] == top.labels[0].tolist()
    assert explained[0][0].score == top.scores[0, 0]
    assert explained[0][0].reasons[0].kind == "feature"
    with pytest.raises(UsageError, match="None of RandomLabels explains"):
        blend(RandomLabels(random_state=0)).explain(X[:1])


def test_it_learns_on_if_all_members_do(fitted: Blend) -> None:
    assert not hasattr(fitted, "partial_fit")
    able = blend(NearestNeighbors(), AnnexML(dim=16, n_learners=2, random_state=0))
    n_before = able.n_examples_
    labels = np.zeros((20, 13), dtype=np.float32)
    labels[:, 12] = 1
    able.partial_fit(X[100:120], labels)  # with a new label
    assert able.n_examples_ == n_before + 20
    assert able.predict_topk(X[100:101], 1).labels[0, 0] == 12


def test_a_stored_blend_of_a_stranger_is_checked(fitted: Blend, tmp_path: Path) -> None:
    fitted.save(tmp_path / "blend")
    path = tmp_path / "blend" / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    manifest["model"]["state"]["members_"].pop()
    path.write_text(json.dumps(manifest), encoding="utf-8")
    with pytest.raises(ModelFileError):
        labelspace.load(tmp_path / "blend")
