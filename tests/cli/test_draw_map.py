from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from labelspace.cli.app import app
from labelspace.cli.draw_map import drawing_of, page
from labelspace.models import MostCommon, NearestNeighbors, OneVsAll
from labelspace.tagger import Tagger
from tests.planted import planted_corpus

Hyperbolic = pytest.importorskip("labelspace.models.hyperbolic.model").Hyperbolic


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    X, Y = planted_corpus()
    home = tmp_path_factory.mktemp("models")
    Hyperbolic(dim=2, n_learners=1, random_state=0).fit(X, Y).save(home / "flat")
    Hyperbolic(dim=5, n_learners=1, random_state=0).fit(X, Y).save(home / "deep")
    OneVsAll().fit(X, Y).save(home / "ova")
    NearestNeighbors().fit(X, Y).save(home / "rows")
    MostCommon().fit(X, Y).save(home / "common")
    return home


def _run(*arguments: object):
    return CliRunner().invoke(app, ["map", *map(str, arguments)])


@pytest.mark.parametrize(
    ("model", "kind"),
    [("flat", "poincare"), ("deep", "tree"), ("ova", "tree"), ("rows", "tree")],
)
def test_a_page_holds_every_label_and_nothing_from_elsewhere(
    folder: Path, tmp_path: Path, model: str, kind: str
) -> None:
    result = _run(folder / model, "--out", tmp_path / "map.html", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["kind"] == kind
    text = (tmp_path / "map.html").read_text(encoding="utf-8")
    data = json.loads(re.search(r'type="application/json">(.*?)</script>', text, re.S)[1])
    assert data["kind"] == kind
    assert len(data["name"]) == len(data["x"]) == len(data["count"]) == len(data["near"]) == 12
    assert np.hypot(data["x"], data["y"]).max() <= 1.0 + 1e-4
    assert not re.search(r"https?://|src=|@import", text)


def test_a_picture_is_a_png(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    result = _run(folder / "flat", tmp_path / "map.png")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")


def test_a_model_without_label_vectors_says_so(folder: Path, tmp_path: Path) -> None:
    result = _run(folder / "common", tmp_path / "map.html")
    assert result.exit_code == 2
    assert "hyperbolic" in result.output


@pytest.mark.parametrize("arguments", [["map.svg"], [], ["a.png", "--out", "b.png"]])
def test_wrong_files_are_refused(folder: Path, arguments: list[str]) -> None:
    assert _run(folder / "flat", *arguments).exit_code == 2


def test_names_cannot_end_the_data() -> None:
    model = Hyperbolic(dim=2, n_learners=1, random_state=0)
    model.fit([[1.0, 0.0], [0.0, 1.0]], [["</script><b>"], ["plain"]])
    drawing = drawing_of(Tagger.around(model))
    assert "</script><b>" in drawing.names
    assert "</script><b>" not in page(drawing)
