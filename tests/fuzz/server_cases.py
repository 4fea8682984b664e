"""Requests that were changed, to every route of the server.

``python -m tests.fuzz.server_cases server SEED FIRST LAST`` asks an application in this process, of
two models; a name of ``GROUPS`` instead of ``server`` asks some of the routes, and ``sockets``
sends changed bytes to a server in a process of its own.
"""

from __future__ import annotations

import contextlib
import json
import logging
import select
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from labelspace import Tagger
from labelspace.server.app import make_apps
from labelspace.server.review_file import write_queue
from labelspace.server.settings import ServerSettings
from tests.fuzz.mutations import Random, changed_bytes, changed_json
from tests.fuzz.processes import addresses, run
from tests.fuzz.samples import csv, xlsx
from tests.server.running import TOKEN, Running
from tests.server.texts import tagged_texts

MORE_BYTES = 2 << 30
WAIT_SECONDS = 1.0
PATIENCE = 60.0  # seconds that an honest request may take, kernels compiled on the way
_JSON = "application/json"
_LINES = "application/x-ndjson"
_PROBLEM = "application/problem+json"  # what clients of Annif get
_KEY = f"Bearer {TOKEN}"
Request = tuple[str, str, bytes, dict[str, str]]  # method, address, body, headers

_TAG = {"text": "roses soil", "k": 3, "threshold": 0.1, "explain": True, "allow": ["chess"]}
_LEARN = {"rows": [{"text": "roses", "labels": ["gardening"]}, {"text": "a", "labels": ["new"]}]}
_LESSON = {"rows": [{"text": "roses soil", "labels": ["chess"], "rejected": ["gardening"]}]}
_ROWS = b'["a", "b"]\n["x", 1]\n["y", null]\n'
_FORM = "application/x-www-form-urlencoded"
_REVIEW = {"name": "rows", "rows": [{"text": "roses", "columns": {"id": "7"}}, {"text": "tide"}]}
_MARK = {"row": 0, "label": "chess", "verdict": "right", "who": "Ada"}
_NAME = "0123456789ab"
_QUEUE = f"/v1/review/{_NAME}"
_OTHER = "/models/other"
_DOCUMENTS = {"documents": [{"text": "roses soil", "document_id": "1"}, {"text": "tide"}]}


# Routes that have many requests of their own in a long run.
GROUPS: dict[str, tuple[str, ...]] = {
    "server-review": ("/v1/review",),
    "server-lessons": ("/v1/learn", "/v1/lessons"),
    "server-annif": ("/v1/projects",),
    "server-models": (_OTHER, "/v1/models"),
    "server-docs": ("/docs", "/openapi.json"),
}


def requests(name: str = "server") -> list[Request]:
    """Return an honest request to each route, or to those of a group."""
    below = [
        (method, _OTHER + path.replace("projects/model", "projects/other"), body, headers)
        for method, path, body, headers in _requests()
    ]
    wanted = GROUPS.get(name, ("",) if name == "server" else None)
    if wanted is None:
        return _requests()
    return [one for one in _requests() + below if one[1].startswith(wanted)]


def _requests() -> list[Request]:
    lines = b"".join(json.dumps(one).encode() + b"\n" for one in (_TAG, {"text": "mast"}, _TAG))
    book, table = next(iter(xlsx().values())), next(iter(csv().values()))
    asked: list[Request] = [
        ("POST", "/v1/tag", json.dumps(_TAG).encode(), {"Content-Type": _JSON}),
        ("POST", "/v1/tag", json.dumps({"text": "tide"}).encode(), {"Content-Type": _JSON}),
        ("POST", "/v1/tag/batch", lines, {"Content-Type": _LINES}),
        *(
            ("POST", "/v1/learn", json.dumps(rows).encode(), {"Content-Type": _JSON})
            for rows in (_LEARN, _LESSON, {**_LESSON, "preview": True})
        ),
        ("POST", "/v1/table?name=a.csv", table, {"Content-Type": "application/octet-stream"}),
        ("POST", "/v1/table?name=a.xlsx", book, {"Content-Type": "application/octet-stream"}),
        ("POST", "/v1/workbook", _ROWS, {"Content-Type": _LINES}),
        ("POST", "/v1/lessons/undo", b"", {}),
        ("POST", "/v1/review", json.dumps(_REVIEW).encode(), {"Content-Type": _JSON}),
        (
            "POST",
            f"{_QUEUE}/marks",
            json.dumps({"marks": [_MARK]}).encode(),
            {"Content-Type": _JSON},
        ),
        ("DELETE", _QUEUE, b"", {}),
        *(
            ("POST", f"/v1/projects/model/{name}", body, {"Content-Type": kind})
            for name, body, kind in (
                ("suggest", b"text=roses+soil&limit=3&threshold=0.1", _FORM),
                ("suggest-batch?limit=2", json.dumps(_DOCUMENTS).encode(), _JSON),
            )
        ),
    ]
    paths = ("/v1/labels?q=a&limit=3&offset=1", "/v1/map?limit=5", "/v1/model", "/healthz")
    paths += ("/readyz", "/metrics", "/", "/static/app.js", "/openapi.json", "/v1/lessons")
    paths += ("/v1/models", "/v1/review", f"{_QUEUE}?after=1", f"{_QUEUE}/rows")
    paths += ("/v1/projects", "/v1/projects/model", "/docs", "/docs/swagger-ui.css")
    return asked + [("GET", path, b"", {}) for path in paths]


def main(name: str, seed: int, first: int, last: int) -> None:
    """Print what comes of the cases."""
    logging.disable(logging.CRITICAL)
    with tempfile.TemporaryDirectory() as place:
        texts, labels = tagged_texts(60)
        folder = Path(place) / "model"
        tagger = Tagger("knn", n_threads=1).fit(texts, labels)
        for one in ("model", "other"):
            tagger.save(folder.with_name(one))
        known = requests(name)
        with (_sockets if name == "sockets" else _client)(folder) as send:
            for method, path, body, headers in known:
                _put_queues(folder)
                honest = method, path, body, headers | {"Authorization": _KEY}
                assert send(honest, PATIENCE) == "answered", honest[:2]

            def make(random: Random) -> tuple[str, Callable[[], str]]:
                _put_queues(folder)
                request = changed(known, random)
                shown = f"{request[0]} {request[1][:60]} {request[2][:80]!r} {request[3]}"
                return shown, lambda: send(request)

            run(make, seed, first, last, addresses() + MORE_BYTES)


def _put_queues(folder: Path) -> None:
    """Let there be a queue to review, and not too many, whatever the case before has done."""
    head = {"queue": _NAME, "name": "rows", "began": 1.0}
    row = {"text": "roses", "columns": {"id": "7"}, "tags": [{"name": "chess"}]}
    for one in ("model", "other"):
        place = folder.with_name(f"{one}.review")
        place.mkdir(exist_ok=True)
        for path in sorted(place.glob("*.jsonl"))[50:]:
            path.unlink()
        if not (place / f"{_NAME}.jsonl").exists():
            write_queue(place / f"{_NAME}.jsonl", head, [row, row], 0)


def changed(known: list[Request], random: Random) -> Request:
    """Return a request with its body, its address or its headers changed."""
    method, path, body, headers = known[random.integers(len(known))]
    headers = dict(headers)
    needs_token = ("/v1/learn", "/v1/lessons", "/v1/review")
    if path.removeprefix(_OTHER).startswith(needs_token) and random.random() < 0.9:
        headers["Authorization"] = _KEY
    way = random.random()
    if body and way < 0.75:
        is_json = headers["Content-Type"] in (_JSON, _LINES)
        if is_json and random.random() < 0.6:
            body = changed_json(body, random, is_lines=headers["Content-Type"] == _LINES)
        else:
            body = changed_bytes(body, random)
    elif way < 0.9:
        path = "/" + changed_bytes(path.encode(), random).decode("latin-1").lstrip("/")[:3000]
    else:
        odd = ["Content-Type", "Host", "Accept-Encoding", "Authorization", "Origin", "Expect"]
        value = changed_bytes(b"application/json; charset=utf-8", random).decode("latin-1")
        value = "".join(letter for letter in value if " " <= letter < "\x7f")
        headers[odd[random.integers(len(odd))]] = value[:1000].strip()
    if random.random() < 0.05:
        method = ["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "BREW"][random.integers(7)]
    return method, path, body, headers


@contextlib.contextmanager
def _client(folder: Path) -> Iterator[Callable[..., str]]:
    """Give what asks an application in this process."""
    others = (str(folder.with_name("other")),)
    app: Any = make_apps(ServerSettings(str(folder), others=others, token=TOKEN, n_threads=1))
    with TestClient(app, base_url="http://localhost", raise_server_exceptions=False) as client:

        def send(request: Request, wait: float = 0.0) -> str:
            method, path, body, headers = request
            try:
                found = client.request(method, _quoted(path), content=body, headers=headers)
            except Exception as error:
                if type(error).__module__.startswith("httpx"):
                    return "refused"  # by the client: it is no address
                return f"raised {type(error).__name__}: {error}"
            return problem_with(found.status_code, found.content, found.headers) or (
                "answered" if found.status_code < 400 else "refused"
            )

        yield send


def _quoted(path: str) -> str:
    """Return an address that a client is ready to send, with the same letters."""
    return "".join(one if "!" <= one < "\x7f" else f"%{ord(one):02x}" for one in path)


def problem_with(status: int, content: bytes, headers: Any) -> str | None:
    """Return what is wrong with an answer; None if nothing is."""
    if status >= 500 and status not in (503, 507):
        return f"status {status}: {content[:200]!r}"
    if b"Traceback" in content or b"site-packages" in content:
        return f"its inside: {content[:200]!r}"
    kind = headers.get("content-type", "")
    if status >= 400 and content:
        found = json.loads(content) if kind.startswith((_JSON, _PROBLEM)) else None
        sentence = (
            "" if not isinstance(found, dict) else str(found.get("error", found.get("detail")))
        )
        if not sentence or "\n" in sentence:
            return f"no sentence ({status}): {content[:200]!r}"
    if kind.startswith((_JSON, _LINES)) and b"NaN" in content:
        return f"a score is no number: {content[:200]!r}"
    return None


@contextlib.contextmanager
def _sockets(folder: Path) -> Iterator[Callable[..., str]]:
    """Give what sends bytes to a server, which has to answer an honest request afterwards."""
    server = Running(folder, "--token", TOKEN)
    honest = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"

    def send(request: Request, wait: float = WAIT_SECONDS) -> str:
        method, path, body, headers = request
        head = {"Host": "localhost", "Content-Length": str(len(body)), "Connection": "close"}
        told = "".join(f"{name}: {value}\r\n" for name, value in (head | headers).items())
        sent = f"{method} {path} HTTP/1.1\r\n{told}\r\n".encode("latin-1", "replace") + body
        answer = _exchange(server.port, sent, wait)
        if not _exchange(server.port, honest).startswith(b"HTTP/1.1 200"):
            return "the server no longer answers"
        status = answer[9:12]
        if answer and (not status.isdigit() or (status >= b"500" and status not in b"503 507")):
            return f"answered {answer[:200]!r}"
        return "answered" if answer[9:10] in (b"2", b"3") else "refused"

    try:
        yield send
    finally:
        server.kill()


def _exchange(port: int, sent: bytes, wait: float = WAIT_SECONDS) -> bytes:
    """Send bytes and return what comes back; if nothing does, say that no more will be sent."""
    with socket.create_connection(("127.0.0.1", port), timeout=max(wait, 10)) as connection:
        received = b""
        with contextlib.suppress(ConnectionError):
            connection.sendall(sent)
            if not select.select([connection], [], [], wait)[0]:
                connection.shutdown(socket.SHUT_WR)
            while piece := connection.recv(1 << 16):
                received += piece
        return received


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:5]))
