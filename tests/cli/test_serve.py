"""``labelspace serve``: what it is told reaches the server."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from labelspace import Tagger

pytest.importorskip("fastapi", reason="the server needs the extra 'serve'")

from fastapi.testclient import TestClient

from labelspace.cli.app import app
from labelspace.server.app import make_app
from labelspace.server.served import Served
from labelspace.server.settings import Limits, ServerSettings


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[ServerSettings]:
    """Settings that a server would be started with."""
    found: list[ServerSettings] = []
    monkeypatch.setattr(
        "labelspace.server.run.serve", lambda settings, **more: found.append(settings)
    )
    return found


def run(*options: Any) -> Any:
    return CliRunner().invoke(app, ["serve", *map(str, options)])


def test_limits_are_the_servers_own_unless_given(told: list[ServerSettings], tmp_path: Path):
    assert run(tmp_path, "--port", 0).exit_code == 0
    assert told[0].limits == Limits()
    assert told[0].token is None
    assert told[0].is_local


def test_there_are_options_for_what_may_be_taught(told: list[ServerSettings], tmp_path: Path):
    options = ["--max-taught-rows", 10, "--max-taught-labels", 20, "--max-taught-bytes", 3000]
    answer = run(tmp_path, "--port", 0, *options, "--min-free-disk", 4000, "--token", "long enough")
    assert answer.exit_code == 0, answer.output
    limits = Limits(learned_rows=10, learned_labels=20, learned_bytes=3000, free_disk=4000)
    assert told[0].limits == limits
    assert told[0].token == "long enough"


def test_the_token_may_come_from_the_environment(
    told: list[ServerSettings], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("LABELSPACE_TOKEN", "from the environment")
    assert run(tmp_path, "--port", 0).exit_code == 0
    assert told[0].token == "from the environment"


def test_a_server_that_others_reach_says_who_may_do_what(
    told: list[ServerSettings], tmp_path: Path
):
    answer = run(tmp_path, "--port", 0, "--host", "0.0.0.0")
    assert not told[0].is_local
    assert "nobody may teach" in answer.output


@pytest.mark.parametrize("option", ["--max-taught-rows", "--min-free-disk", "--queue"])
def test_a_limit_below_nothing_is_refused(told: list[ServerSettings], tmp_path: Path, option: str):
    assert run(tmp_path, option, -1).exit_code == 2
    assert not told


@pytest.fixture
def trained(tmp_path: Path) -> Path:
    texts = ["a red ball", "a green ball", "a red cube", "a green cube"]
    folder = tmp_path / "colours" / "model"
    Tagger("one-vs-all").fit(texts, [text.split()[1:] for text in texts]).save(folder)
    return folder


def test_a_model_is_served_in_shards(monkeypatch: pytest.MonkeyPatch, trained: Path):
    answers: list[Any] = []

    def ask(settings: ServerSettings, **more: Any) -> None:
        with TestClient(make_app(settings), base_url="http://127.0.0.1") as client:
            body = {"text": "a red ball", "k": 2}
            answers.append((settings.name, client.post("/v1/tag", json=body).json()))
            answers.append(client.get("/v1/model").json()["parameters"])
        answers.append(Path(settings.model))

    monkeypatch.setattr("labelspace.server.run.serve", ask)
    answer = run(trained, "--port", 0, "--shards", 2, "--missing", "partial")
    assert answer.exit_code == 0, answer.output
    (name, tagged), parameters, folder = answers
    expected = Served.load(trained)
    top = expected.tagger.tag("a red ball", k=2)
    assert name == "colours"
    assert [(label["name"], label["score"]) for label in tagged["labels"]] == [
        (label, round(score, 6)) for label, score in top
    ]
    assert [label["probability"] for label in tagged["labels"]] == [
        round(expected.probability(score), 6) for _, score in top
    ]
    assert parameters["missing"] == "partial"
    assert not folder.exists()


def test_a_model_that_has_no_shards_is_refused(told: list[ServerSettings], tmp_path: Path):
    Tagger("most-common").fit(["ball", "cube"], [["x"], ["y"]]).save(tmp_path / "model")
    answer = run(tmp_path / "model", "--port", 0, "--shards", 2)
    assert answer.exit_code == 2
    assert "cannot lie in shards" in answer.stderr
    assert "--shards" in run(tmp_path / "model", "--port", 0, "--missing", "partial").stderr
    assert not told


def test_sigterm_leaves_no_shards_behind(monkeypatch: pytest.MonkeyPatch, trained: Path):
    folders: list[Path] = []

    def end(settings: ServerSettings, **more: Any) -> None:
        folders.append(Path(settings.model))
        assert folders[0].exists()
        signal.raise_signal(signal.SIGTERM)  # as the server does once it has ended

    monkeypatch.setattr("labelspace.server.run.serve", end)
    assert run(trained, "--port", 0, "--shards", 2).exit_code == 128 + signal.SIGTERM
    assert not folders[0].exists()
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
