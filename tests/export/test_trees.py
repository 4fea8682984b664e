"""Label trees as one file: their answers are those of the model, without labelspace."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from labelspace import Tagger
from labelspace.errors import UsageError
from labelspace.export import export_onnx, export_single_file
from tests.export.test_export import TEXTS, run_alone
from tests.server.texts import tagged_texts

# With few labels a tree has one level unless it is told to have more.
METHODS: list[tuple[str, dict[str, Any]]] = [
    ("parabel", {"leaf_size": 2}),
    ("parabel", {"leaf_size": 2, "n_trees": 1, "beam": 1}),
    ("label-tree", {"settings": {"leaf_size": 2, "branching": 2}}),
    ("balanced-label-tree", {"beam": 2}),
]


@pytest.mark.parametrize(("method", "parameters"), METHODS)
def test_trees_answer_as_the_model_without_labelspace(
    method: str, parameters: dict[str, Any], tmp_path: Path
):
    tagger = Tagger(method, random_state=0, n_threads=1, **parameters).fit(*tagged_texts())
    export_single_file(tagger, tmp_path / "topics.pyz")
    found = run_alone(tmp_path / "topics.pyz", TEXTS)
    for given, expected in zip(found, tagger.tag_many(TEXTS, k=3), strict=True):
        assert [score for _, score in given] == pytest.approx(
            [tag.score for tag in expected], abs=1e-4
        )
        # Labels that are equally good may change places.
        sure = [tag.name for tag in expected if tag.score > expected[-1].score + 1e-4]
        assert {name for name, _ in given} >= set(sure)


def test_trees_of_features_take_them_as_json(tmp_path: Path):
    rng = np.random.default_rng(0)
    X = rng.random((60, 5)).astype(np.float32)
    Y = [["high" if row[0] > 0.5 else "low"] for row in X]
    tagger = Tagger("parabel", random_state=0, n_threads=1).fit(X, Y)
    export_single_file(tagger, tmp_path / "rows.pyz")
    found = run_alone(tmp_path / "rows.pyz", ['{"0": 0.9, "3": 0.1, "99": 2.0}'], k=1)
    asked = np.array([[0.9, 0, 0, 0.1, 0]], dtype=np.float32)
    assert found[0][0][0] == tagger.tag_many(asked, k=1)[0][0].name


def test_trees_are_no_graph_of_onnx(tmp_path: Path):
    pytest.importorskip("onnx")
    tagger = Tagger("parabel", random_state=0, n_threads=1).fit(*tagged_texts(60))
    with pytest.raises(UsageError, match=r"as \.pyz, of parabel"):
        export_onnx(tagger, tmp_path / "topics.onnx")
