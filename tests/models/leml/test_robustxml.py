from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import labelspace
from labelspace.errors import ModelFileError
from labelspace.models import LEML, RobustXML
from labelspace.models.leml.settings import RobustXMLSettings
from labelspace.parameters import CorpusShape
from tests.planted import planted_corpus


def rare_labels() -> tuple[csr_matrix, csr_matrix]:
    """Two frequent labels of which each row has one, and thirty rare ones, each with a word."""
    rng = np.random.default_rng(0)
    X, Y = np.zeros((360, 34), dtype=np.float32), np.zeros((360, 32), dtype=np.float32)
    for row in range(360):
        frequent, rare = row % 2, row // 12
        X[row, [frequent, 2 + rare]] = 1.0
        X[row, rng.integers(34)] += 0.3
        Y[row, [frequent, 2 + rare]] = 1.0
    return csr_matrix(X), csr_matrix(Y)


def test_it_learns() -> None:
    model = RobustXML(random_state=0).fit(*planted_corpus())
    assert model.score(*planted_corpus(100, seed=1)) > 0.95


def test_the_sparse_part_has_what_does_not_fit_into_the_rank() -> None:
    X, Y = rare_labels()
    low = LEML(dim=2, random_state=0).fit(X, Y)
    both = RobustXML(dim=2, random_state=0).fit(X, Y)
    found = [
        np.mean(Y[np.arange(360)[:, None], model.predict_topk(X, k=2).labels].toarray())
        for model in (low, both)
    ]
    assert found[0] < 0.6
    assert found[1] > 0.95
    sparse = both.labels_.inverted.toarray()
    assert np.all(sparse[2:, 2:].argmax(axis=0) == np.arange(30))


def test_without_weights_it_is_leml() -> None:
    X, Y = planted_corpus()
    one = LEML(random_state=0).fit(X, Y).predict_topk(X, k=3)
    other = RobustXML(l1=1e6, random_state=0).fit(X, Y).predict_topk(X, k=3)
    assert np.array_equal(one.labels, other.labels)
    assert np.allclose(one.scores, other.scores, atol=2e-3)


def test_scores_are_those_of_both_parts() -> None:
    X, Y = planted_corpus()
    model = RobustXML(random_state=0).fit(X, Y)
    rows = model.rows_.encode(X[:5])
    dense = np.asarray(rows @ model.labels_.inverted.toarray())
    dense += model.encoder_.encode(rows) @ model.labels_.dense + model.labels_.offsets
    top = model.predict_topk(X[:5], k=4)
    assert np.allclose(np.take_along_axis(dense, top.labels, axis=1), top.scores, atol=1e-4)
    assert np.allclose(top.scores[:, 0], dense.max(axis=1), atol=1e-4)


def test_a_row_without_features_gets_the_frequent_labels() -> None:
    X, Y = planted_corpus()
    model = RobustXML(random_state=0).fit(X, Y)
    top = model.predict_topk(csr_matrix((1, X.shape[1]), dtype=np.float32), k=3)
    assert top.labels[0].tolist() == np.argsort(-model.label_counts_, kind="stable")[:3].tolist()


def test_paper_takes_more_turns_and_features() -> None:
    # Xu, Tao and Xu (2016), of which only the abstract could be opened: it has a sparse part beside
    # one of low rank, and no values. All of these are ours, and the page says so.
    chosen = RobustXMLSettings.for_corpus("paper", CorpusShape(12920, 500, 983))
    assert vars(chosen) == {
        "dim": 500,
        "n_turns": 5,
        "n_weights": 500,
        "penalty": 2.0,
        "l1": 0.2,
        "sparse_penalty": 0.05,
        "n_rounds": 1,
        "n_steps": 20,
        "normalize": True,
    }
    model = RobustXML(preset="paper", random_state=0).fit(*planted_corpus())
    assert model.score(*planted_corpus(100, seed=1)) > 0.9


def test_a_folder_whose_parts_do_not_fit_is_refused(tmp_path: Path) -> None:
    model = RobustXML(random_state=0).fit(*planted_corpus())
    assert model.labels_.dense is not None
    model.labels_.dense = model.labels_.dense[:-1]
    model.save(tmp_path / "model")
    with pytest.raises(ModelFileError, match="another length"):
        labelspace.load(tmp_path / "model")
