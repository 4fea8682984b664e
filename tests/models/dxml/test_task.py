from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_matrix

torch = pytest.importorskip("torch")

from labelspace.deep.loop import DeepSettings, train
from labelspace.deep.sparse_network import SparseBatch
from labelspace.graph.label_knn import label_knn
from labelspace.models.dxml.graph_embedding import graph_embedding
from labelspace.models.dxml.settings import DXMLSettings
from labelspace.models.dxml.task import DXMLTask, label_shares
from labelspace.spaces import sphere
from tests.planted import planted_corpus

SMALL = DXMLSettings(dim=12, hidden=(16,), keep_features=1.0, label_weight=0.0)
QUICK = DeepSettings(n_epochs=15, batch_size=64, learning_rate=0.02, row_learning_rate=0.02)
X, Y = planted_corpus()
V = graph_embedding(csr_matrix(Y.T @ Y), 12, "random")


def test_rows_come_to_their_targets():
    task = DXMLTask(X, Y, V, SMALL)
    targets = sphere.queries(np.asarray(label_shares(Y) @ V))

    def cosine() -> float:
        return float((task.network.exported("float32").encode(X) * targets).sum(axis=1).mean())

    before = cosine()
    train(task, 300, QUICK)
    assert cosine() > max(before, 0.0) + 0.5
    assert np.allclose(task.label_vectors()[0], V, atol=1e-6), "labels stay where they are"


def test_labels_that_count_learn_along():
    task = DXMLTask(X, Y, V, replace(SMALL, label_weight=1.0))
    history = train(task, 300, QUICK)
    vectors, biases = task.label_vectors()
    assert not np.allclose(vectors, V, atol=1e-2)
    assert biases.any()
    assert history["labels"][-1] < history["labels"][0]
    assert np.allclose(history["loss"], np.add(history["rows"], history["labels"]))


def test_without_label_vectors_rows_come_to_rows_with_like_labels():
    task = DXMLTask(X, Y, V, SMALL, neighbors=label_knn(Y))
    train(task, 300, QUICK)
    Z = task.network.exported("float32").encode(X)
    alike = (Y @ Y.T).toarray() > 0
    np.fill_diagonal(alike, False)
    cosines = Z @ Z.T
    assert cosines[alike].mean() > cosines[~alike].mean() + 0.2


def test_a_task_goes_on_from_a_network_and_biases():
    first = DXMLTask(X, Y, V, SMALL)
    train(first, 300, replace(QUICK, n_epochs=1))
    encoder, biases = first.network.exported("float32"), np.arange(12, dtype=np.float32)
    again = DXMLTask(X, Y, V, SMALL, start=(encoder, biases), seed=5)
    assert np.allclose(again.network.exported("float32").encode(X), encoder.encode(X), atol=1e-6)
    assert np.array_equal(again.label_vectors()[1], biases)


def test_labels_of_a_row_share_its_target():
    shares = label_shares(Y).toarray()
    assert np.allclose(shares.sum(axis=1), 1.0)
    assert np.array_equal(shares > 0, Y.toarray() > 0)
    assert all(np.ptp(row[row > 0]) == 0 for row in shares)


def test_targets_are_means_of_labels_as_they_are_or_of_length_one():
    rows, vectors = np.arange(5), 3.0 * V
    means = np.asarray(label_shares(Y)[rows] @ vectors)
    for unit in (False, True):
        task = DXMLTask(X, Y, vectors, replace(SMALL, unit_labels=False, unit_targets=unit))
        found = task._targets(rows, np.random.default_rng(0)).numpy()
        lengths = np.linalg.norm(means, axis=1, keepdims=True)
        assert found == pytest.approx(means / lengths if unit else means, abs=1e-5)


@pytest.mark.parametrize(("unit", "length"), [(True, 1.0), (False, 3.0)])
def test_vectors_of_labels_keep_their_length_if_they_may(unit, length):
    task = DXMLTask(X, Y, 3.0 * V, replace(SMALL, unit_labels=unit))
    assert np.linalg.norm(task.label_vectors()[0], axis=1) == pytest.approx(length, rel=1e-5)


def test_dropout_is_after_the_last_layer_while_learning_only():
    network = DXMLTask(X, Y, V, replace(SMALL, dropout=0.5)).network
    batch = SparseBatch.of(X[:200])
    with torch.no_grad():
        dropped = (network.train()(batch) == 0).float().mean().item()
        assert dropped == pytest.approx(0.5, abs=0.05)
        assert (network.eval()(batch) != 0).all()
