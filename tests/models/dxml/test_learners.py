from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

pytest.importorskip("torch")

from labelspace.graph.cooccurrence import label_graph
from labelspace.models.dxml.learners import NetworkTraining
from labelspace.models.dxml.settings import DXMLSettings
from tests.planted import planted_corpus

SETTINGS = DXMLSettings(dim=8, hidden=(16,), n_epochs=2, storage="float32", n_clusters=1)
TRAINING = NetworkTraining(SETTINGS, label_graph, device="cpu", n_threads=1)


@pytest.fixture(scope="module")
def corpus() -> tuple[csr_matrix, csr_matrix]:
    return planted_corpus(120)


def test_rows_held_out_are_in_the_index_but_not_in_the_training(corpus):
    X, Y = corpus
    voters, held_out = np.arange(100), np.arange(40)
    learner, _ = TRAINING.learner(X, Y, held_out, voters, seed=0)
    assert np.array_equal(np.sort(learner.rows.ids), voters)
    only_held_out = csr_matrix(X[:40])
    changed = X.copy()
    changed.data[: only_held_out.nnz] *= -1.0
    again, _ = TRAINING.learner(changed, Y, held_out, voters, seed=0)
    assert np.array_equal(again.encoder.encode(X[40:]), learner.encoder.encode(X[40:]))


def test_labels_are_searched_only_if_they_are_asked_for(corpus):
    X, Y = corpus
    learner, _ = TRAINING.learner(X, Y, np.arange(0), np.arange(120), seed=0)
    rows, labels = learner.search(X[:3], 4, 0)
    assert (rows.ids.shape, labels.ids.shape) == ((3, 4), (3, 0))
    assert np.array_equal(rows.ids[:, 0], [0, 1, 2]), "a row is nearest to itself"
    assert learner.search(X[:3], 4, 5)[1].ids.shape == (3, 5)


def test_a_new_label_begins_where_its_rows_are(corpus):
    X, Y = corpus
    learner, _ = TRAINING.learner(X, Y[:, :11], np.arange(0), np.arange(120), seed=0)
    vectors, biases = learner.label_vectors(X, Y)
    own = learner.encoder.encode(X[Y[:, 11].nonzero()[0]]).sum(axis=0)
    assert np.allclose(vectors[11], own / np.linalg.norm(own), atol=1e-4)
    assert biases[11] == 0.0
    assert vectors.shape == (12, 8)


def test_new_rows_and_labels_are_found_at_once(corpus):
    X, Y = corpus
    learner, _ = TRAINING.learner(X[:100], Y[:100, :11], np.arange(0), np.arange(100), seed=0)
    TRAINING.append(learner, X[100:], Y[100:], np.arange(100, 120), seed=1)
    assert learner.rows.n_keys == 120
    assert learner.labels.n_keys == 12
    assert np.array_equal(learner.search(X[100:], 1, 0)[0].ids[:, 0], np.arange(100, 120))
