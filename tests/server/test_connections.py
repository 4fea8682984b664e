"""Clients that keep the server waiting do not keep others out."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from labelspace.server import connections
from labelspace.server.app import make_app
from labelspace.server.run import _options
from labelspace.server.settings import Limits, ServerSettings
from tests.server.running import until

SLOW_BODY = (
    b"POST /v1/tag HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Content-Length: 17\r\n\r\n{"
)
BATCH = (
    b"POST /v1/tag/batch HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\n"
    b"Content-Length: 100000\r\n\r\n"
)
ROW = json.dumps({"text": "roses"}).encode() + b"\n"


@pytest.fixture
def listen(folder: Path) -> Iterator[Callable[..., int]]:
    """Start servers with limits in threads of this process; give their ports."""
    started: list[tuple[uvicorn.Server, threading.Thread]] = []

    def begin(**limits: Any) -> int:
        settings = ServerSettings(str(folder), limits=Limits(**limits))
        config = uvicorn.Config(make_app(settings), **{**_options(settings), "port": 0})
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        started.append((server, thread))
        while not server.started:
            time.sleep(0.01)
        return int(server.servers[0].sockets[0].getsockname()[1])

    yield begin
    for server, thread in started:
        server.should_exit = True
        thread.join(30)


def opened(port: int, sent: bytes = b"") -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), timeout=20)
    connection.sendall(sent)
    return connection


def status(port: int, path: str = "/healthz", body: bytes | None = None) -> int:
    asked = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    kind = {"Content-Type": "application/x-ndjson"} if body else {}
    asked.request("POST" if body else "GET", path, body, kind)
    answer = asked.getresponse()
    answer.read()
    asked.close()
    return answer.status


def test_more_idle_connections_than_there_may_be_keep_nobody_out(listen: Any):
    port = listen(connections=20)
    idle = [opened(port, b"GET /" if number % 2 else b"") for number in range(60)]
    try:
        assert [status(port) for _ in range(5)] == [200] * 5
    finally:
        for connection in idle:
            connection.close()


def test_bodies_that_do_not_come_keep_nobody_out(listen: Any, caplog: pytest.LogCaptureFixture):
    port = listen(connections=20)
    slow = [opened(port, SLOW_BODY) for _ in range(60)]
    try:
        until(lambda: status(port) == 200, 5)  # it takes a moment to end forty of them
        assert [status(port) for _ in range(5)] == [200] * 5
        slow.append(opened(port, SLOW_BODY))  # this one has not waited long, and is answered
        slow[-1].sendall(b'"text": "roses"}')
        assert slow[-1].recv(1000).startswith(b"HTTP/1.1 200")
    finally:
        for connection in slow:
            connection.close()
    assert status(port) == 200
    assert "Traceback" not in caplog.text


def test_a_batch_without_end_is_cut_off(listen: Any):
    port = listen(batch_body=100_000)
    head = (
        b"POST /v1/tag/batch HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
        b"Content-Type: application/x-ndjson\r\nConnection: close\r\n\r\n"
    )
    with opened(port, head) as connection:
        sender = threading.Thread(target=send_for_ever, args=(connection,))
        sender.start()
        told = received(connection, 5.0)
        sender.join(20)
    assert b'"line":1,' in told, "what had come before is answered"
    assert b"The body is larger than 100,000 bytes" in told
    assert not sender.is_alive()
    assert status(port, "/v1/tag/batch", ROW) == 200


def test_an_answer_that_is_not_taken_in_is_given_up(listen: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(connections, "TAKE_SECONDS", 0.3)
    port = listen(batches=1)
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect(("127.0.0.1", port))
        rows = ROW * 20_000
        connection.sendall(BATCH.replace(b"100000", b"%d" % len(rows)) + rows)
        ends = time.monotonic() + 30
        while status(port, "/v1/tag/batch", ROW) != 200:
            assert time.monotonic() < ends
            time.sleep(0.05)


@pytest.mark.parametrize("sent", [b"", b"GET /healthz HTTP/1.1\r\nHost: local"])
def test_the_head_of_a_request_has_to_come_in_time(
    listen: Any, monkeypatch: pytest.MonkeyPatch, sent: bytes
):
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.5)
    port = listen()
    with opened(port, sent) as connection:
        assert connection.recv(1000) == b"", "the server ends it"
    # The same for the second request of a connection, a byte of which has come.
    whole = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with opened(port, whole) as connection:
        told = b""
        while b"alive" not in told:
            told += connection.recv(10_000)
        connection.sendall(b"G")
        assert connection.recv(1000) == b""


def test_an_answer_that_takes_longer_than_a_head_is_not_given_up(
    listen: Any, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.2)
    port = listen()
    with opened(port, BATCH + ROW) as connection:
        time.sleep(0.6)
        connection.sendall(b" " * (100_000 - len(ROW)))
        assert b"200 OK" in connection.recv(100_000)


def test_slow_batches_make_room_for_another(listen: Any):
    port = listen(batches=3)
    slow = [opened(port, BATCH + ROW) for _ in range(3)]
    ends = time.monotonic() + 20
    try:
        assert status(port, "/v1/tag/batch", ROW) == 429, "they have just begun"
        while status(port, "/v1/tag/batch", ROW) != 200:
            assert time.monotonic() < ends
            for connection in slow:  # a byte now and then does not help
                with suppress(OSError):
                    connection.sendall(b" ")
            time.sleep(0.1)
        assert sum(b"Other batches were waiting" in received(one) for one in slow) == 1
    finally:
        for connection in slow:
            connection.close()


def send_for_ever(connection: socket.socket) -> None:
    rows = ROW * 100
    with suppress(OSError):
        while True:
            connection.sendall(b"%x\r\n%s\r\n" % (len(rows), rows))


def received(connection: socket.socket, seconds: float = 0.5) -> bytes:
    connection.settimeout(seconds)
    told = b""
    with suppress(OSError):
        while part := connection.recv(65536):
            told += part
    return told
