"""Decides which tests run here: slow ones on request, data-hungry ones where the corpora are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parent.parent


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="also run the tests marked slow")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    skip_slow = pytest.mark.skip(reason="slow: run with --slow")
    skip_data = pytest.mark.skip(
        reason="needs the real corpora: set LABELSPACE_DATA to their folder"
    )
    for item in items:
        if item.get_closest_marker("slow") and not config.getoption("--slow"):
            item.add_marker(skip_slow)
        if item.get_closest_marker("data") and corpora_folder() is None:
            item.add_marker(skip_data)


@pytest.fixture(scope="session")
def corpora() -> Path:
    """Return the folder of the real corpora (bibtex, delicious, ...); mark the test `data`."""
    folder = corpora_folder()
    if folder is None:
        pytest.skip("needs the real corpora: set LABELSPACE_DATA to their folder")
    return folder


@pytest.fixture(autouse=True)
def _no_vectors_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the vectors that tests make out of the cache of who runs them."""
    monkeypatch.setenv("LABELSPACE_CACHE", "off")


def corpora_folder() -> Path | None:
    named = os.environ.get("LABELSPACE_DATA")
    folder = Path(named) if named else PROJECT.parent / "shared" / "data"
    return folder if folder.is_dir() else None
