"""/docs: the API as a page, with nothing from elsewhere."""

from __future__ import annotations

import re
from typing import Any

import pytest

from labelspace.server import docs_page


def test_all_files_of_the_page_come_from_this_server(client: Any):
    page = client.get("/docs")
    assert page.status_code == 200
    asked = re.findall(r'(?:src|href)="([^"]+)"', page.text)
    assert len(asked) == 4
    for address in asked:
        assert "//" not in address
        answer = client.get(f"/{address}")
        assert answer.status_code == 200, address
        assert answer.content


def test_only_the_two_files_of_swagger_ui_are_given(client: Any):
    assert client.get("/docs/__init__.py").status_code == 404
    assert client.get("/docs/..%2f__init__.py").status_code == 404


def test_without_swagger_ui_a_sentence_says_how_to_get_it(
    client: Any, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(docs_page, "PACKAGE", "no_such_package")
    answer = client.get("/docs")
    assert answer.status_code == 404
    assert "labelspace[serve]" in answer.json()["error"]
