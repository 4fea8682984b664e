"""``labelspace serve``: what it is told reaches the server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

pytest.importorskip("fastapi", reason="the server needs the extra 'serve'")

from labelspace.cli.app import app
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
