"""What a stranger might send. Each row of the table: what is sent, and the answers that are right.

The server has to answer every one of them with one sentence and no trace of its inside, to stay
alive, and to answer an honest request afterwards.
"""

from __future__ import annotations

import json
import socket
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.server.running import TOKEN, Running
from tests.server.texts import TRAP

JSON = {"Content-Type": "application/json"}
DEEP = 100_000
KEY = {"Authorization": f"Bearer {TOKEN}", **JSON}

# name: (method, path, body, headers, statuses)
REQUESTS: dict[str, tuple[str, str, bytes | None, dict[str, str], set[int]]] = {
    # paths
    "up": ("GET", "/../../etc/passwd", None, {}, {404}),
    "up, encoded": ("GET", "/static/%2e%2e/%2e%2e/app.py", None, {}, {404}),
    "up, encoded twice": ("GET", "/static/%252e%252e%252fapp.py", None, {}, {404}),
    "up, backslashes": ("GET", "/static/..%5c..%5capp.py", None, {}, {404}),
    "two slashes": ("GET", "//etc/passwd", None, {}, {404}),
    "a folder": ("GET", "/static/", None, {}, {404}),
    "a file that is not the page's": ("GET", "/static/__init__.py", None, {}, {404}),
    "a null byte": ("GET", "/static/index.html%00.css", None, {}, {404}),
    "bytes that are no UTF-8": ("GET", "/%ff%fe", None, {}, {404}),
    "an address of another server": ("GET", "http://example.org/v1/model", None, {}, {200, 404}),
    "a very long path": ("GET", "/" + "a" * 20_000, None, {}, {404}),
    "another method": ("DELETE", "/v1/tag", None, {}, {405}),
    "a method of its own": ("BREW", "/v1/tag", None, {}, {405}),
    # query
    "a long query": ("GET", "/v1/labels?q=" + "a" * 5000, None, {}, {422}),
    "a pattern": ("GET", "/v1/labels?q=%28a%2B%29%2B%24", None, {}, {200}),
    "a null byte in a query": ("GET", "/v1/labels?q=%00", None, {}, {200}),
    "a query that is no UTF-8": ("GET", "/v1/labels?q=%ff", None, {}, {200}),
    "a huge number": ("GET", "/v1/labels?offset=" + "9" * 5000, None, {}, {422}),
    "a surrogate": ("GET", "/v1/labels?q=%ed%a0%80", None, {}, {200}),
    # bodies
    "no body": ("POST", "/v1/tag", b"", JSON, {422}),
    "no JSON": ("POST", "/v1/tag", b"text=hello", JSON, {422}),
    "another type": ("POST", "/v1/tag", b"text=hello", {"Content-Type": "text/plain"}, {415}),
    "no type": ("POST", "/v1/tag", b'{"text": "a"}', {}, {415}),
    "NaN": ("POST", "/v1/tag", b'{"text": "a", "threshold": NaN}', JSON, {422}),
    "infinity": ("POST", "/v1/tag", b'{"features": {"1": Infinity}}', JSON, {422}),
    "minus infinity": ("POST", "/v1/tag", b'{"text": "a", "threshold": -Infinity}', JSON, {422}),
    "beyond a double": ("POST", "/v1/tag", b'{"features": {"1": 1e999}}', JSON, {422}),
    "beyond a float": ("POST", "/v1/tag", b'{"features": {"1": 1e300}}', JSON, {422}),
    "a huge whole number": (
        "POST", "/v1/tag", b'{"text": "a", "k": ' + b"9" * 5000 + b"}", JSON, {422},
    ),
    "sums beyond a float": (
        "POST", "/v1/tag", b'{"features": [[1, 1.8e38], [1, 1.8e38]]}', JSON, {422},
    ),
    "a negative k": ("POST", "/v1/tag", b'{"text": "a", "k": -1}', JSON, {422}),
    "a negative column": ("POST", "/v1/tag", b'{"features": [[-1, 1.0]]}', JSON, {422}),
    "invalid UTF-8": ("POST", "/v1/tag", b'{"text": "\xc3\x28"}', JSON, {422}),
    "UTF-16": ("POST", "/v1/tag", '{"text": "a"}'.encode("utf-16"), JSON, {422}),
    "a lone surrogate": ("POST", "/v1/tag", rb'{"text": "\ud800"}', JSON, {422}),
    "a null character": ("POST", "/v1/tag", rb'{"text": "a\u0000b"}', JSON, {200}),
    "the same key twice": ("POST", "/v1/tag", b'{"text": "a", "text": "b"}', JSON, {200, 422}),
    "deep lists": ("POST", "/v1/tag", b"[" * DEEP, JSON, {422}),
    "deep objects": ("POST", "/v1/tag", b'{"a":' * DEEP, JSON, {422}),
    "deep inside": (
        "POST", "/v1/tag", b'{"features":' + b"[" * DEEP + b"]" * DEEP + b"}", JSON, {422},
    ),
    "deep and unknown": (
        "POST", "/v1/tag", b'{"text":"a","x":' + b"[" * DEEP + b"]" * DEEP + b"}", JSON, {422},
    ),
    "members of its own": ("POST", "/v1/tag", b'{"text":"a","__class__":"os"}', JSON, {422}),
    "a body that is too large": (
        "POST", "/v1/tag", b'{"text": "' + b"a" * (2 << 20) + b'"}', JSON, {413},
    ),
    "many features": (
        "POST", "/v1/tag", json.dumps({"features": {str(n): 1 for n in range(20_000)}}).encode(),
        JSON, {422},
    ),
    "many labels": (
        "POST", "/v1/tag", json.dumps({"text": "a", "allow": [0] * 20_000}).encode(), JSON, {422},
    ),
    "a text of nothing but spaces": (
        "POST", "/v1/tag", b'{"text": "' + b" " * 900_000 + b'"}', JSON, {200},
    ),
    "a text of combining marks": (
        "POST", "/v1/tag", json.dumps({"text": "a" + "\u0301" * 100_000}).encode(), JSON, {200},
    ),
    "HTML": ("POST", "/v1/tag", json.dumps({"text": TRAP, "k": 8}).encode(), JSON, {200}),
    # learning
    "no token": ("POST", "/v1/learn", b"{}", JSON, {401}),
    "a wrong token": ("POST", "/v1/learn", b"{}", {**JSON, "Authorization": "Bearer no"}, {401}),
    "a token with other letters": (
        "POST", "/v1/learn", b"{}", {**JSON, "Authorization": "Bearer \xe9\xff"}, {401},
    ),
    "a token in the address": (
        "POST", f"/v1/learn?token={TOKEN.replace(' ', '+')}", b"{}", JSON, {401},
    ),
    "no rows": ("POST", "/v1/learn", b'{"rows": []}', KEY, {422}),
    "too many rows": (
        "POST", "/v1/learn", json.dumps({"rows": [{"text": "a", "labels": []}] * 1001}).encode(),
        KEY, {422},
    ),
    "a label of two lines": (
        "POST", "/v1/learn", rb'{"rows": [{"text": "a", "labels": ["b\nc"]}]}', KEY, {422},
    ),
    "a blank label": (
        "POST", "/v1/learn", b'{"rows": [{"text": "a", "labels": [" "]}]}', KEY, {404, 422},
    ),
    "a label that is too long": (
        "POST", "/v1/learn", json.dumps({"rows": [{"text": "a", "labels": ["b" * 501]}]}).encode(),
        KEY, {422},
    ),
    # hosts
    "another host": ("GET", "/v1/model", None, {"Host": "evil.example"}, {421}),
    "another host with a port": ("GET", "/v1/model", None, {"Host": "evil.example:80"}, {421}),
    "a host like ours": ("GET", "/v1/model", None, {"Host": "localhost.evil.example"}, {421}),
    "a host behind an address": ("GET", "/v1/model", None, {"Host": "[::1].evil.example"}, {421}),
    "a host behind a port": ("GET", "/v1/model", None, {"Host": "localhost:80@evil.com"}, {421}),
    "a port that is none": ("GET", "/v1/model", None, {"Host": "localhost:evil.example"}, {421}),
    "an address with a port": ("GET", "/v1/model", None, {"Host": "[::1]:8000"}, {200}),
    "our name and a port": ("GET", "/v1/model", None, {"Host": "LocalHost:8000"}, {200}),
}  # fmt: skip


@pytest.mark.parametrize("name", REQUESTS)
def test_a_strange_request_gets_one_sentence(running: Running, name: str):
    method, path, body, headers, statuses = REQUESTS[name]
    status, told, sent = _raw_ask(running, method, path, body, headers)
    assert status in statuses, (status, told)
    assert b"Traceback" not in told
    assert b"site-packages" not in told
    assert b".py" not in told or b"/openapi.json" in told
    assert sent["x-content-type-options"] == "nosniff"
    assert sent["content-type"].startswith(("application/json", "text/plain"))
    if status >= 400:
        sentence = json.loads(told)["error"]
        assert sentence.endswith(".")
        assert len(sentence) < 300
    assert running.tag("roses", k=1)


# name: (bytes on the wire, what the answer begins with, or nothing at all)
WIRE: dict[str, tuple[bytes, tuple[bytes, ...]]] = {
    "no HTTP": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 20, (b"HTTP/1.1 400",)),
    "a header flood": (
        b"GET / HTTP/1.1\r\nHost: localhost\r\n"
        + b"".join(b"X-%d: a\r\n" % n for n in range(50_000)),
        (b"HTTP/1.1 400", b"HTTP/1.1 431"),
    ),
    "an endless header": (
        b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * (1 << 20),
        (b"HTTP/1.1 400", b"HTTP/1.1 431"),
    ),
    "an endless address": (b"GET /" + b"a" * (1 << 20), (b"HTTP/1.1 400", b"HTTP/1.1 414")),
    "two lengths": (
        b"POST /v1/tag HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n"
        b"Content-Type: application/json\r\n\r\n{}{}{}",
        (b"HTTP/1.1 400",),
    ),
    "a length and chunks": (
        b"POST /v1/tag HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n"
        b"Transfer-Encoding: chunked\r\nContent-Type: application/json\r\n"
        b"Connection: close\r\n\r\n0\r\n\r\nGET /healthz HTTP/1.1\r\n\r\n",
        (b"HTTP/1.1 400",),
    ),
    "a negative length": (
        b"POST /v1/tag HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n",
        (b"HTTP/1.1 400",),
    ),
    "a length beyond all bounds": (
        b"POST /v1/tag HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Connection: close\r\nContent-Length: 99999999999999\r\n\r\n{",
        (b"HTTP/1.1 413",),
    ),
    "a header with a null": (
        b"GET / HTTP/1.1\r\nHost: localhost\r\nX: a\x00b\r\n\r\n",
        (b"HTTP/1.1 400",),
    ),
    "a folded header": (
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX: a\r\n b\r\n\r\n",
        (b"HTTP/1.1 400", b"HTTP/1.1 200"),
    ),
}


@pytest.mark.parametrize("name", WIRE)
def test_strange_bytes_are_refused(running: Running, name: str):
    sent, beginnings = WIRE[name]
    received = running.raw(sent)
    # A server may close a flooded connection before its refusal is read.
    assert received.startswith(beginnings) or not received, received[:200]
    assert b"Traceback" not in received
    assert running.tag("roses", k=1)


def test_chunks_beyond_the_limit_are_cut_off(running: Running):
    chunk = b"10000\r\n" + b"a" * 0x10000 + b"\r\n"
    head = (
        b"POST /v1/tag HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
    )
    assert running.raw(head + chunk * 40 + b"0\r\n\r\n").startswith(b"HTTP/1.1 413")


def test_a_body_that_does_not_come_is_given_up(start: Any, folder: Path):
    server = start(folder, "--time-limit", "1")
    began = time.monotonic()
    received = server.raw(
        b"POST /v1/tag HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Content-Length: 100\r\n\r\n{"
    )
    assert received.startswith(b"HTTP/1.1 408")
    assert time.monotonic() - began < 10


@pytest.mark.skipif(sys.platform == "win32", reason="other limits on open files")
def test_twelve_hundred_idle_connections_keep_nobody_out(running: Running):
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 2000)), hard))
    idle = [socket.create_connection(("127.0.0.1", running.port)) for _ in range(1200)]
    try:
        for _ in range(20):
            began = time.monotonic()
            assert running.tag("roses", k=1)
            assert time.monotonic() - began < 5
    finally:
        for connection in idle:
            connection.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_the_page_may_load_nothing_from_elsewhere(running: Running):
    _, page, headers = running.ask("GET", "/")
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]
    assert b"http://" not in page
    assert b"https://" not in page
    assert "server" not in headers


def test_a_bug_shows_nothing_of_the_inside(client: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("labelspace.server.app.describe", lambda parts: 1 / 0)
    answer = client.get("/v1/model")
    assert answer.status_code == 500
    assert "Zero" not in answer.text
    assert answer.json()["error"].endswith(".")
    assert answer.headers["x-content-type-options"] == "nosniff"


def _raw_ask(
    running: Running, method: str, path: str, body: bytes | None, headers: dict[str, str]
) -> tuple[int, bytes, dict[str, str]]:
    """Send a request with a path that no client would send as it is."""
    lines = [f"{method} {path} HTTP/1.1".encode()]
    given = {"Host": "localhost", "Connection": "close", **headers}
    if body is not None:
        given["Content-Length"] = str(len(body))
    lines += [name.encode() + b": " + value.encode("latin-1") for name, value in given.items()]
    received = running.raw(b"\r\n".join(lines) + b"\r\n\r\n" + (body or b""))
    head, _, told = received.partition(b"\r\n\r\n")
    first, *others = head.decode("latin-1").split("\r\n")
    fields = dict(line.lower().split(": ", 1) for line in others)
    return int(first.split()[1]), told, fields
