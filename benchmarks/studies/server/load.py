"""Load on a server: texts over loopback, from a process of its own.

A number of connections, each of which sends its next text when it has the answer to the last.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import time
from collections import Counter
from itertools import cycle
from typing import Any

import numpy as np

PORT = 8765


def load(
    texts: list[str],
    connections: int,
    *,
    seconds: float = 1e9,
    requests: int = 10**9,
    then_recover: bool = False,
) -> dict[str, Any]:
    """Send texts from another process until the time is over or all requests are answered."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_load, (texts, connections, seconds, requests, then_recover))


def _load(
    texts: list[str], connections: int, seconds: float, requests: int, then_recover: bool
) -> dict[str, Any]:
    figures = asyncio.run(_Generator(texts, seconds, requests).run(connections))
    if then_recover:
        figures["recovery_s"] = _recovery(texts)
    return figures


def _recovery(texts: list[str]) -> float:
    """Return the seconds from the end of an overload until requests are answered as before."""
    began = time.perf_counter()
    while time.perf_counter() - began < 60:
        since = time.perf_counter() - began
        told = asyncio.run(_Generator(texts, 1e9, 10).run(1))
        if told["statuses"] == {"200": 10} and told["p99_ms"] < 50:
            return round(since, 3)
    return float("inf")


class _Generator:
    def __init__(self, texts: list[str], seconds: float, requests: int) -> None:
        self._bodies = cycle([_request(text) for text in texts])
        self._seconds = seconds
        self._left = requests
        self._times: list[float] = []
        self._statuses: Counter[str] = Counter()

    async def run(self, connections: int) -> dict[str, Any]:
        began = time.perf_counter()
        self._ends = began + self._seconds
        await asyncio.gather(*(self._keep_asking() for _ in range(connections)))
        took = time.perf_counter() - began
        times = np.array(self._times or [0.0]) * 1000
        good = self._statuses["200"]
        return {
            "connections": connections,
            "requests": len(self._times),
            "errors": len(self._times) - good - self._statuses["429"],
            "statuses": dict(self._statuses),
            "per_second": round(good / took, 1),
            "p50_ms": round(float(np.percentile(times, 50)), 2),
            "p99_ms": round(float(np.percentile(times, 99)), 2),
            "seconds": round(took, 2),
        }

    async def _keep_asking(self) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", PORT)
        try:
            while self._left > 0 and time.perf_counter() < self._ends:
                self._left -= 1
                began = time.perf_counter()
                writer.write(next(self._bodies))
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
                await reader.readexactly(length)
                self._times.append(time.perf_counter() - began)
                status = head[9:12].decode()
                self._statuses[status] += 1
                if status == "429":
                    await asyncio.sleep(0.01)
        except (OSError, asyncio.IncompleteReadError):
            self._times.append(0.0)
            self._statuses["broken"] += 1
        finally:
            writer.close()


def _request(text: str) -> bytes:
    body = json.dumps({"text": text}).encode()
    return (
        b"POST /v1/tag HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        b"Content-Length: %d\r\n\r\n" % len(body)
    ) + body
