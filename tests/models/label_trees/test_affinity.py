from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from labelspace.models.label_trees import affinity
from labelspace.models.label_trees.affinity import (
    centroid_affinity,
    confusion_affinity,
    cooccurrence_affinity,
)
from labelspace.topk import TopK


def test_confusions_are_shares_of_a_labels_rows_by_rank():
    Y = csr_matrix([[1, 0, 0], [1, 0, 0], [0, 1, 0]], dtype=np.float32)
    answers = TopK(np.array([[0, 1], [2, 1], [1, -1]]), np.zeros((3, 2), dtype=np.float32))
    alike = confusion_affinity(Y, answers).toarray()
    # Label 0 was answered 1 twice at rank 2, and 2 once at rank 1; others never its label.
    np.testing.assert_allclose(alike, [[0, 0.25, 0.25], [0.25, 0, 0], [0.25, 0, 0]])


def test_centroids_of_like_rows_are_alike():
    X = csr_matrix([[1, 1, 0, 0], [1, 0.5, 0, 0], [0, 0, 1, 1], [0.1, 0, 0.9, 1]], dtype=np.float32)
    alike = centroid_affinity(X, csr_matrix(np.eye(4, dtype=np.float32))).toarray()
    assert alike[0].argmax() == 1
    assert alike[2].argmax() == 3
    np.testing.assert_allclose(alike, alike.T)
    assert np.all(alike.diagonal() == 0)


def test_labels_that_come_together_are_alike():
    Y = csr_matrix([[1, 1, 0], [1, 1, 0], [0, 1, 1]], dtype=np.float32)
    alike = cooccurrence_affinity(Y).toarray()
    assert alike[0, 1] > alike[1, 2] > alike[0, 2] == 0


def test_features_that_most_labels_have_are_left_out_first(monkeypatch):
    monkeypatch.setattr(affinity, "_CHEAP", 0)
    # Feature 0 is in all labels, the others in two each.
    X = np.zeros((6, 4), dtype=np.float32)
    X[:, 0] = 1.0
    X[np.arange(6), 1 + np.arange(6) // 2] = 1.0
    Y = csr_matrix(np.eye(6, dtype=np.float32))
    whole, cut = (centroid_affinity(csr_matrix(X), Y, budget=b).toarray() for b in (100, 2))
    assert whole[0, 5] > 0
    assert cut[0, 1] > 0
    assert cut[0, 5] == 0
