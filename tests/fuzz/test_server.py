"""A short run of the fuzzing of requests; ``make fuzz`` is the long one."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.fuzz.processes import run_cases

pytest.importorskip("fastapi", reason="the server needs the extra 'serve'")

from starlette.testclient import TestClient

from labelspace import Tagger
from labelspace.server.app import make_app
from labelspace.server.settings import ServerSettings
from tests.fuzz.server_cases import requests
from tests.server.texts import tagged_texts

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits memory as Linux does")


def test_every_route_is_asked(tmp_path: Path) -> None:
    Tagger("knn").fit(*tagged_texts(60)).save(tmp_path / "model")
    with TestClient(make_app(ServerSettings(str(tmp_path / "model"))), "http://localhost") as one:
        paths = one.get("/openapi.json").json()["paths"]
    asked = {(method, path.partition("?")[0]) for method, path, _, _ in requests()}
    described = {
        (method.upper(), path.replace("{project_id}", "model").replace("{queue}", "0123456789ab"))
        for path, methods in paths.items()
        for method in methods
    }
    assert described - asked == set()


@pytest.mark.parametrize(("name", "n_cases"), [("server", 200), ("sockets", 100)])
def test_a_changed_request_is_answered_or_refused(name: str, n_cases: int) -> None:
    report = run_cases("server_cases", name, n_cases)
    assert report.faults == []
    assert report.counts["refused"] > n_cases // 4
    assert report.counts["answered"] > 0
