"""Models to serve, servers in this process and servers of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the server needs the extra 'serve'")

from starlette.testclient import TestClient

from labelspace import Tagger
from labelspace.server.app import make_app
from labelspace.server.settings import ServerSettings
from tests.server.running import TOKEN, Running
from tests.server.texts import tagged_texts


@pytest.fixture(scope="session")
def trained() -> Tagger:
    """A tagger that votes, explains and learns on."""
    texts, labels = tagged_texts()
    return Tagger("knn").fit(texts, labels)


@pytest.fixture
def folder(trained: Tagger, tmp_path: Path) -> Path:
    """A model folder of one's own."""
    trained.save(tmp_path / "model")
    return tmp_path / "model"


@pytest.fixture
def client_of() -> Iterator[Callable[..., TestClient]]:
    """Make clients of servers in this process."""
    opened: list[TestClient] = []

    def make(folder: Path, **settings: Any) -> TestClient:
        app = make_app(ServerSettings(str(folder), **{"poll": 0.05, **settings}))
        client = TestClient(app, base_url="http://localhost", raise_server_exceptions=False)
        opened.append(client)
        return client.__enter__()

    yield make
    for client in opened:
        client.__exit__()


@pytest.fixture
def client(client_of: Callable[..., TestClient], folder: Path) -> TestClient:
    """A client of a server with a token, in this process."""
    return client_of(folder, token=TOKEN)


@pytest.fixture
def start() -> Iterator[Callable[..., Running]]:
    """Start servers in processes of their own, ended with the test."""
    started: list[Running] = []

    def begin(folder: Path, *options: str) -> Running:
        started.append(Running(folder, *options))
        return started[-1]

    yield begin
    for server in started:
        server.kill()


@pytest.fixture(scope="session")
def running(trained: Tagger, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server in a process of its own, shared by tests that leave it as it is."""
    folder = tmp_path_factory.mktemp("served") / "model"
    trained.save(folder)
    server = Running(folder, "--token", TOKEN)
    yield server
    server.kill()
