"""Rows of requests: texts, features by number or word, and both together."""

from __future__ import annotations

import pytest

from labelspace import Tagger
from labelspace.server.refusal import Refusal
from labelspace.server.row_reader import RowReader
from labelspace.server.schemas import Row
from tests.planted import planted_corpus


def test_texts_and_features_keep_their_order(trained: Tagger):
    texts = ["prune the roses", "mind the tide"]
    rows = [
        Row(text=texts[0]),
        Row(features={"harbour": 2.0, "unheard of": 1.0}),
        Row(text=texts[1]),
        Row(features=[(3, 0.5), (3, 0.25), (10**6, 1.0)]),
    ]
    X, n_unknown = RowReader(trained).read(rows)
    expected = trained.features_of(texts)
    assert (X[0] != expected[0]).nnz == (X[2] != expected[1]).nnz == 0
    assert [trained.feature_name(column) for column in X[1].indices] == ["harbour"]
    assert X[3].indices.tolist() == [3]
    assert X[3].data.tolist() == [0.75], "what is given twice is added up"
    assert n_unknown == [0, 1, 0, 1]


def test_a_model_of_features_takes_no_text():
    tagger = Tagger("most-common").fit(*planted_corpus())
    with pytest.raises(Refusal, match="'features', not 'text'"):
        RowReader(tagger).read([Row(text="roses")])
