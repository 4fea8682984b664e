"""POST /v1/tag/batch: JSON lines in, JSON lines out, while the body still arrives."""

from __future__ import annotations

import json
import socket
from typing import Any

import pytest

from labelspace.server.settings import Limits
from tests.server.running import Running

NDJSON = {"Content-Type": "application/x-ndjson"}


def send(client: Any, *lines: Any) -> Any:
    body = b"".join(
        (line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n" for line in lines
    )
    return client.post("/v1/tag/batch", content=body, headers=NDJSON)


def answers(client: Any, *lines: Any) -> list[Any]:
    answer = send(client, *lines)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/x-ndjson"
    return [json.loads(line) for line in answer.text.splitlines()]


def test_each_line_is_answered_as_it_would_be_alone(client: Any):
    lines = [
        {"text": "roses", "k": 2},
        {"text": "harbour and mast", "threshold": 0.5},
        {"features": {"rook": 1.0}},
        {"text": "roses", "allow": ["sailing"]},
        {"text": "roses", "exclude": ["gardening"]},
    ]
    for number, (line, answer) in enumerate(zip(lines, answers(client, *lines), strict=True), 1):
        alone = client.post("/v1/tag", json=line).json()
        assert answer == {"line": number, **alone}


def test_a_bad_line_is_told_and_the_others_go_on(client: Any):
    told = answers(
        client,
        {"text": "roses"},
        b"{not json",
        {"text": "x", "allow": ["no such label"]},
        b'{"text": "\xff"}',
        {"text": "x", "explain": True},
        {"text": "mast"},
    )
    assert [line["line"] for line in told] == [1, 2, 3, 4, 5, 6]
    assert ["error" in line for line in told] == [False, True, True, True, True, False]
    assert "no such label" in told[2]["error"]


def test_blank_lines_are_passed_over_but_counted(client: Any):
    assert [line["line"] for line in answers(client, {"text": "a"}, b"", b"  ", {"text": "b"})] == [
        1,
        4,
    ]


def test_nothing_gives_nothing(client: Any):
    assert send(client).text == ""


def test_long_batches_keep_their_order(client: Any):
    told = answers(client, *({"text": f"roses {row}", "k": 1} for row in range(500)))
    assert [line["line"] for line in told] == list(range(1, 501))


def test_another_content_type_is_refused(client: Any):
    answer = client.post("/v1/tag/batch", json={"text": "a"})
    assert answer.status_code == 415


def test_a_body_that_says_it_is_too_large_is_refused_at_once(client_of: Any, folder: Any):
    client = client_of(folder, limits=Limits(batch_body=1000))
    assert send(client, {"text": "roses " * 1000}).status_code == 413


def test_too_many_lines_are_refused(client_of: Any, folder: Any):
    client = client_of(folder, limits=Limits(batch_rows=10))
    answer = send(client, *[b""] * 11)
    assert answer.status_code in (200, 422)
    assert "more than 10 lines" in answer.text


def test_more_batches_than_may_run_are_refused(client_of: Any, folder: Any):
    client = client_of(folder, limits=Limits(batches=0))
    answer = send(client, {"text": "roses"})
    assert answer.status_code == 429
    assert answer.headers["retry-after"] == "1"


@pytest.mark.parametrize("reads_meanwhile", [True, False])
def test_answers_come_while_the_body_is_sent(running: Running, reads_meanwhile: bool):
    line = json.dumps({"text": "roses and " * 20}).encode() + b"\n"
    n_lines = 3000  # more than the buffers of both ends hold, in either direction
    head = (
        b"POST /v1/tag/batch HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        b"Content-Type: application/x-ndjson\r\nContent-Length: %d\r\n\r\n" % (n_lines * len(line))
    )
    with socket.create_connection(("127.0.0.1", running.port), timeout=60) as connection:
        connection.sendall(head + line * 100)
        received = b""
        if reads_meanwhile:
            while b'"line":100' not in received:
                received += connection.recv(65536)
        connection.sendall(line * (n_lines - 100))
        while block := connection.recv(1 << 20):
            received += block
    assert f'"line":{n_lines}'.encode() in received
