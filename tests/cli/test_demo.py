"""The tour that `labelspace demo` gives."""

from __future__ import annotations

import json

import pytest

from labelspace import Tagger
from labelspace.cli.demo import run_demo
from labelspace.data.samples.demo import SENTENCES
from labelspace.errors import ModelFileError, UsageError

PACKAGES = ["logging", "email", "json", "unittest", "xml"]


def test_the_demo_shows_figures_tags_and_what_to_try_next(tmp_path, capsys):
    run_demo(tmp_path / "demo", packages=PACKAGES, n_threads=1)
    shown = capsys.readouterr().out
    for expected in ("most-common", "P@1", "nDCG@5", "PSP@5", SENTENCES[0], "try next"):
        assert expected in shown
    assert f"{tmp_path / 'demo'}/model" in shown


def test_the_demo_beats_the_most_common_labels_and_keeps_its_model(tmp_path, capsys):
    result = run_demo(tmp_path / "demo", packages=PACKAGES, n_threads=1, json=True)
    assert capsys.readouterr().out == ""
    json.dumps(result, allow_nan=False)
    baseline, method = result["results"]
    assert method["P@1"] > baseline["P@1"]
    assert method["PSP@5"] > baseline["PSP@5"]
    tagger = Tagger.load(tmp_path / "demo" / "model")
    names = [name for name, _ in tagger.tag(SENTENCES[0], k=5)]
    assert names == [tag["name"] for tag in result["tags"][SENTENCES[0]]]


def test_the_demo_can_be_run_again(tmp_path):
    for _ in range(2):
        result = run_demo(tmp_path, packages=PACKAGES, n_threads=1, json=True)
    assert result["n_test"] > 0


def test_the_demo_overwrites_nothing_of_the_users(tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(UsageError, match="is a file"):
        run_demo(tmp_path / "file", packages=PACKAGES)
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "notes.txt").write_text("mine")
    with pytest.raises(ModelFileError, match="not a model"):
        run_demo(tmp_path, packages=PACKAGES)
