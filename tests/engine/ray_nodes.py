"""Nodes of a Ray cluster on this machine, each of which can be killed with all its processes."""

from __future__ import annotations

import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.conftest import PROJECT

STARTS_WITHIN = 180  # seconds
JOINED = b"Ray runtime started"


class Cluster:
    """A head without workers of its own, and nodes with a core each."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._logs: dict[int, Path] = {}
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"127.0.0.1:{free.getsockname()[1]}"
        self.env = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(PROJECT), str(PROJECT / "src")]),
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN": secrets.token_hex(32),
            "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_worker_niceness": "0",  # else a busy machine lets workers wait for ever
            "RAY_health_check_period_ms": "500",
            "RAY_health_check_failure_threshold": "4",
            "RAY_TMPDIR": str(folder),
        }
        port = self.address.partition(":")[2]
        self.nodes = [
            self._node("--head", f"--port={port}", "--num-cpus=1", "--include-dashboard=false")
        ]

    def add(self) -> subprocess.Popen[bytes]:
        """Start another node, with a core of its own."""
        self.nodes.append(self._node(f"--address={self.address}", "--num-cpus=1"))
        return self.nodes[-1]

    def wait_for_all(self) -> None:
        """Wait until all nodes have joined, as each says in its log."""
        ends = time.monotonic() + STARTS_WITHIN
        while not all(JOINED in self._logs[node.pid].read_bytes() for node in self.nodes):
            if time.monotonic() > ends or any(node.poll() is not None for node in self.nodes):
                raise RuntimeError("Ray does not start here")
            time.sleep(0.05)

    def stop(self) -> None:
        for node in self.nodes:
            kill_node(node)

    def _node(self, *options: str) -> subprocess.Popen[bytes]:
        log = self.folder / f"node-{secrets.token_hex(4)}.log"
        command = [sys.executable, "-m", "ray.scripts.scripts", "start", "--block", *options]
        command += ["--node-ip-address=127.0.0.1", "--object-store-memory=80000000"]
        with log.open("wb") as file:
            begun = subprocess.Popen(command, env=self.env, stdout=file, stderr=file)
        self._logs[begun.pid] = log
        if "--head" in options:
            self._wait_for_port(begun)
        return begun

    def _wait_for_port(self, node: subprocess.Popen[bytes]) -> None:
        host, _, port = self.address.partition(":")
        ends = time.monotonic() + STARTS_WITHIN
        while time.monotonic() < ends and node.poll() is None:
            with suppress(OSError), socket.create_connection((host, int(port)), timeout=1):
                return
            time.sleep(0.2)
        raise RuntimeError("Ray does not start here")


@contextmanager
def cluster(folder: Path, n_nodes: int = 2) -> Iterator[Cluster]:
    """Start a cluster, which ends with the block."""
    made = Cluster(folder)
    try:
        for _ in range(n_nodes - 1):
            made.add()
        made.wait_for_all()
        yield made
    finally:
        made.stop()


def kill_node(node: subprocess.Popen[bytes]) -> None:
    """Kill all processes of a node at once, as a machine that loses its power."""
    for process in [*_below(node.pid), node.pid]:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    node.wait()


def _below(parent: int) -> list[int]:
    """Return the processes that a process has started, and those that these have started."""
    parents: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError):
            fields = stat.read_text().rpartition(")")[2].split()
            parents.setdefault(int(fields[1]), []).append(int(stat.parent.name))
    found: list[int] = []
    left = [parent]
    while left:
        children = parents.get(left.pop(), [])
        found += children
        left += children
    return found
