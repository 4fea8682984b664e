"""A server in a process of its own, as a user starts it."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

TOKEN = "a token for tests"
START_SECONDS = 90


class Client:
    """Asks a server of this machine."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.address = f"http://127.0.0.1:{port}"

    @property
    def is_ready(self) -> bool:
        """Whether the server answers."""
        try:
            return self.ask("GET", "/readyz")[0] == 200
        except OSError:
            return False

    def ask(
        self, method: str, path: str, body: Any = None, timeout: float = 60, **headers: str
    ) -> tuple[int, Any, dict[str, str]]:
        """Return status, body (JSON where it is) and headers of an answer."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
            sent.setdefault("Content-Type", "application/json")
        try:
            connection.request(method, path, body, sent)
            answer = connection.getresponse()
            content = answer.read()
            kind = answer.headers.get("Content-Type", "")
            told = json.loads(content) if kind == "application/json" else content
            return answer.status, told, {k.lower(): v for k, v in answer.headers.items()}
        finally:
            connection.close()

    def tag(self, text: str, **more: Any) -> list[str]:
        """Return the names of a text's labels."""
        status, answer, _ = self.ask("POST", "/v1/tag", {"text": text, **more})
        assert status == 200, answer
        return [label["name"] for label in answer["labels"]]

    def learn(self, text: str, labels: list[str]) -> tuple[int, Any]:
        """Teach a text; return status and answer."""
        body = {"rows": [{"text": text, "labels": labels}]}
        return self.ask("POST", "/v1/learn", body, Authorization=f"Bearer {TOKEN}")[:2]

    def raw(self, sent: bytes, timeout: float = 20) -> bytes:
        """Send bytes as they are and return all that comes back."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=timeout) as connection:
            with suppress(OSError):  # the server may have had enough
                connection.sendall(sent)
            received = b""
            with suppress(OSError):
                while block := connection.recv(65536):
                    received += block
            return received


class Running(Client):
    """Starts ``labelspace serve`` and waits until it answers."""

    def __init__(self, folder: Path, *options: str) -> None:
        super().__init__(free_port())
        self.log = folder.parent / f"serve-{self.port}.log"
        command = [sys.executable, "-m", "labelspace", "serve", str(folder)]
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [*command, "--port", str(self.port), *options], stdout=log, stderr=log
            )
        ends = time.monotonic() + START_SECONDS
        while self.process.poll() is None and time.monotonic() < ends:
            if self.is_ready:
                return
            time.sleep(0.05)
        raise AssertionError(f"The server did not start: {self.log.read_text()}")

    def memory(self) -> int:
        """Return the resident memory in KiB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0])

    def terminate(self) -> None:
        """Ask the server to end."""
        self.process.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End the server at once, as a crash would."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


def until(condition: Any, seconds: float = 60) -> None:
    """Wait for something to become true."""
    ends = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < ends
        time.sleep(0.05)


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
