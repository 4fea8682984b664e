"""Exported models answer as the model does, without labelspace or through MLflow's loader."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from labelspace import Tagger
from labelspace.cli.app import app
from labelspace.errors import DataError, UsageError
from labelspace.export import export_mlflow, export_onnx, export_single_file
from labelspace.export.mlflow_model import _load_pyfunc
from tests.server.texts import tagged_texts

TEXTS = [
    "prune the roses, the ROSES",
    "a rook and the tide",
    "nothing known",
    "",
    "Ｒｏｓｅｓ oven",
]
# Whatever imports labelspace here fails.
ALONE = "import sys; sys.modules['labelspace'] = None; sys.argv = sys.argv[1:]; import runpy; "
ALONE += "runpy.run_path(sys.argv[0], run_name='__main__')"


def run_alone(file: Path, lines: list[str], k: int = 3) -> list[list[tuple[str, float]]]:
    done = subprocess.run(
        [sys.executable, "-c", ALONE, str(file), str(k)],
        input="\n".join(lines) + "\n",
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONUTF8": "1", "PYTHONPATH": ""},
    )
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    return [list(zip(row[::2], map(float, row[1::2]), strict=True)) for row in rows]


@pytest.mark.parametrize("idf", [False, True])
def test_one_file_answers_as_the_model_without_labelspace(idf: bool, tmp_path: Path):
    tagger = Tagger("one-vs-all", idf=idf, n_threads=1).fit(*tagged_texts())
    export_single_file(tagger, tmp_path / "topics.pyz")
    assert (tmp_path / "topics.pyz").stat().st_size < 50_000
    for given, expected in zip(
        run_alone(tmp_path / "topics.pyz", TEXTS), tagger.tag_many(TEXTS, k=3), strict=True
    ):
        assert [name for name, _ in given] == [tag.name for tag in expected]
        assert [score for _, score in given] == pytest.approx(
            [tag.score for tag in expected], abs=1e-4
        )


def test_a_model_of_features_takes_them_as_json(tmp_path: Path):
    rng = np.random.default_rng(0)
    X = rng.random((60, 5)).astype(np.float32)
    Y = [["high" if row[0] > 0.5 else "low"] for row in X]
    tagger = Tagger("one-vs-all", n_threads=1).fit(X, Y)
    export_single_file(tagger, tmp_path / "rows.pyz")
    lines = ['{"0": 0.9, "3": 0.1}', '{"1": 0.9, "99": 3.0}']
    found = run_alone(tmp_path / "rows.pyz", lines, k=1)
    asked = np.array([[0.9, 0, 0, 0.1, 0], [0, 0.9, 0, 0, 0]], dtype=np.float32)
    expected = [(tags[0].name, tags[0].score) for tags in tagger.tag_many(asked, k=1)]
    assert [one[0][0] for one in found] == [name for name, _ in expected]
    assert [one[0][1] for one in found] == pytest.approx([s for _, s in expected], abs=1e-4)


@pytest.mark.parametrize("idf", [False, True])
def test_onnx_gives_the_scores_of_all_labels(idf: bool, tmp_path: Path):
    onnx = pytest.importorskip("onnx")
    from onnx.reference import ReferenceEvaluator

    tagger = Tagger("one-vs-all", idf=idf, n_threads=1).fit(*tagged_texts())
    export_onnx(tagger, tmp_path / "topics.onnx")
    loaded = onnx.load(tmp_path / "topics.onnx")
    onnx.checker.check_model(loaded)
    rows = tagger.features_of(TEXTS).toarray()
    (scores,) = ReferenceEvaluator(loaded).run(None, {"features": rows})
    assert scores == pytest.approx(tagger.decision_function(TEXTS), abs=1e-5)
    told = {one.key: one.value for one in loaded.metadata_props}
    assert json.loads(told["labels"]) == tagger.label_names_


def test_what_cannot_be_exported_is_said(tmp_path: Path):
    texts, labels = tagged_texts(60)
    with pytest.raises(UsageError, match="NearestNeighbors has no linear classifiers"):
        export_single_file(Tagger("knn").fit(texts, labels), tmp_path / "a.pyz")
    from labelspace.data import TextFeatures

    pairs = Tagger("one-vs-all", features=TextFeatures(ngrams=2), n_threads=1).fit(texts, labels)
    with pytest.raises(UsageError, match="Only single words"):
        export_single_file(pairs, tmp_path / "a.pyz")
    assert not (tmp_path / "a.pyz").exists()


def test_mlflow_gets_a_folder_whose_loader_answers(tmp_path: Path):
    texts, labels = tagged_texts(60)
    tagger = Tagger("knn").fit(texts, labels)
    tagger.save(tmp_path / "model")
    export_mlflow(tmp_path / "model", tmp_path / "flow")
    told = (tmp_path / "flow" / "MLmodel").read_text()
    assert "loader_module: labelspace.export.mlflow_model" in told
    loaded = _load_pyfunc(str(tmp_path / "flow" / "model"))
    pandas = pytest.importorskip("pandas")
    answer = loaded.predict(pandas.DataFrame({"text": texts[:2]}), {"k": 2})
    assert [[one["name"] for one in row] for row in answer] == [
        [tag.name for tag in tags] for tags in tagger.tag_many(texts[:2], k=2)
    ]
    with pytest.raises(UsageError, match="there already"):
        export_mlflow(tmp_path / "model", tmp_path / "flow")


@pytest.mark.skipif(
    not os.environ.get("LABELSPACE_MLFLOW"), reason="LABELSPACE_MLFLOW names no Python with mlflow"
)
def test_mlflow_itself_loads_and_asks_the_model(tmp_path: Path):
    texts, labels = tagged_texts(60)
    Tagger("knn").fit(texts, labels).save(tmp_path / "model")
    export_mlflow(tmp_path / "model", tmp_path / "flow")
    code = (
        "import mlflow, sys; model = mlflow.pyfunc.load_model(sys.argv[1]); "
        "print(model.predict(['prune the roses'])[0][0]['name'])"
    )
    done = subprocess.run(
        [os.environ["LABELSPACE_MLFLOW"], "-c", code, str(tmp_path / "flow")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.strip().splitlines()[-1:] == ["gardening"], done.stderr


def test_the_command_line_exports(tmp_path: Path):
    Tagger("one-vs-all", n_threads=1).fit(*tagged_texts(60)).save(tmp_path / "model")
    invoke = CliRunner().invoke
    done = invoke(app, ["export", str(tmp_path / "model"), str(tmp_path / "topics.pyz")])
    assert done.exit_code == 0, done.output
    assert run_alone(tmp_path / "topics.pyz", ["roses"], k=1)[0][0][0] in ("gardening", "outdoors")
    done = invoke(app, ["export", str(tmp_path / "model"), str(tmp_path / "x"), "--to", "tf"])
    assert done.exit_code == 2
    assert "give numpy, onnx or mlflow" in done.output


@pytest.mark.parametrize("kind", ["a.pyz", "a.onnx", "flow"])
def test_an_export_that_fails_leaves_nothing_behind(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    if kind == "a.onnx":
        pytest.importorskip("onnx")
    texts, labels = tagged_texts(60)
    tagger = Tagger("one-vs-all").fit(texts, labels)
    tagger.save(tmp_path / "model")
    before = sorted(path.name for path in tmp_path.iterdir())

    def fails(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.rename", fails)
    monkeypatch.setattr("os.replace", fails)
    exports = {
        "a.pyz": lambda: export_single_file(tagger, tmp_path / kind),
        "a.onnx": lambda: export_onnx(tagger, tmp_path / kind),
        "flow": lambda: export_mlflow(tmp_path / "model", tmp_path / kind),
    }
    with pytest.raises((OSError, DataError)):
        exports[kind]()
    assert sorted(path.name for path in tmp_path.iterdir()) == before
