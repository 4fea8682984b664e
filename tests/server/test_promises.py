"""Promises of ``docs/server.md`` that no other test holds; ``docs/reliability.md`` lists all."""

from __future__ import annotations

import hmac
import json
import logging
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from labelspace import Tagger
from labelspace.server.settings import Limits, ServerSettings
from tests.server.running import TOKEN, Client, free_port, until

PROJECT = Path(__file__).resolve().parents[2]
DOCS = (PROJECT / "docs" / "server.md").read_text(encoding="utf-8")
ROW = {"text": "roses in a garden", "labels": ["gardening"]}
FIRST, OWN = Limits(), ServerSettings("model")

# Options of the table, and what stands in it when they are not given.
DEFAULTS = {
    "--host": OWN.host,
    "--port": str(OWN.port),
    "--threads": str(OWN.n_threads),
    "--queue": str(FIRST.queue),
    "--time-limit": f"{FIRST.time:.0f}",
    "--max-body": f"{FIRST.body >> 20} MiB",
    "--max-taught-rows": f"{FIRST.learned_rows:,}",
    "--max-taught-labels": f"{FIRST.learned_labels:,}",
    "--max-taught-bytes": f"{FIRST.learned_bytes >> 30} GiB",
    "--min-free-disk": f"{FIRST.free_disk >> 20} MiB",
}
SENTENCES = {
    "batches of up to 32": "in batches of up to 32.",
    "lines of a batch": f"may have {FIRST.batch_body >> 20} MiB and {FIRST.batch_rows:,} lines",
    "SIGTERM": f"for up to {FIRST.shutdown} seconds",
    "saved": f"After\n{OWN.fold_rows:,} rows, a quiet minute or at the end",
}


@pytest.mark.parametrize("option", DEFAULTS)
def test_what_is_not_given_is_what_the_page_says(option: str) -> None:
    told = re.search(rf"\| `{option} [A-Z]+` \| (.*) \|", DOCS)
    assert told is not None
    assert re.search(rf"(?<![\w.]){re.escape(DEFAULTS[option])}(?![\w.])", told[1])


@pytest.mark.parametrize("what", SENTENCES)
def test_limits_without_an_option_are_what_the_page_says(what: str) -> None:
    assert SENTENCES[what] in DOCS


@pytest.mark.parametrize("given", [TOKEN, "a token", TOKEN + "x"])
def test_a_token_is_compared_in_constant_time(
    client: Any, monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    compared: list[tuple[bytes, bytes]] = []

    def compare(one: bytes, other: bytes) -> bool:
        compared.append((one, other))
        return one == other

    monkeypatch.setattr(hmac, "compare_digest", compare)
    header = {"Authorization": f"Bearer {given}"}
    answer = client.post("/v1/learn", json={"rows": [ROW]}, headers=header)
    assert answer.status_code == (200 if given == TOKEN else 401)
    assert compared == [(given.encode(), TOKEN.encode())]


def test_the_token_is_in_no_log_and_no_answer(
    client: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    for token in (TOKEN, TOKEN + "x"):
        header = {"Authorization": f"Bearer {token}"}
        assert TOKEN not in client.post("/v1/learn", json={"rows": [ROW]}, headers=header).text
    for path in ("/", "/v1/model", "/metrics", "/openapi.json", "/readyz"):
        assert TOKEN not in client.get(path).text
    assert TOKEN not in caplog.text


def test_a_thousand_labels_are_the_most(client: Any) -> None:
    assert client.post("/v1/tag", json={"text": "roses", "k": 1000}).status_code == 200
    answer = client.post("/v1/tag", json={"text": "roses", "k": 1001})
    assert answer.status_code == 422
    assert "less than or equal to 1000" in answer.json()["error"]


def test_explanations_show_the_beginning_of_a_text_alone(client_of: Any, tmp_path: Path) -> None:
    texts = ["roses " + "and a garden " * 100 + "SECRET", "a river"]
    Tagger("knn").fit(texts, [["gardening"], ["water"]]).save(tmp_path / "model")
    asked = {"text": "roses", "k": 1, "explain": True}
    label = client_of(tmp_path / "model").post("/v1/tag", json=asked).json()["labels"][0]
    shown = [reason["text"] for reason in label["why"] if reason["kind"] == "example"]
    assert shown
    assert all(len(text) <= 201 for text in shown)  # with the mark that it was cut
    assert "SECRET" not in json.dumps(label)


@pytest.mark.slow
def test_sigterm_waits_no_longer_than_it_says(folder: Path) -> None:
    port = free_port()
    started = (
        "from labelspace.server.run import serve; "
        "from labelspace.server.settings import Limits, ServerSettings; "
        f"serve(ServerSettings({str(folder)!r}, port={port}, limits=Limits(shutdown=1)))"
    )
    with subprocess.Popen([sys.executable, "-c", started]) as process:
        until(lambda: Client(port).is_ready, 90)
        head = b"POST /v1/tag/batch HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9999999\r\n"
        with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
            connection.sendall(head + b"Content-Type: application/x-ndjson\r\n\r\n")
            connection.sendall(b'{"text": "roses"}\n' * 100)
            time.sleep(1)  # for the server to have begun it
            process.send_signal(signal.SIGTERM)
            assert process.wait(20) in (0, -signal.SIGTERM)
