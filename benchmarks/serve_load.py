"""How the server bears up: requests a second, latency, memory, overload and recovery.

    python -m benchmarks.serve_load                 wordnet, default method, all parts (minutes)
    python -m benchmarks.serve_load --quick         a few seconds of each part
    python -m benchmarks.serve_load --model DIR --texts FILE

The server runs as users start it, in a process of its own; the load comes from a second process
over loopback: a number of connections, each of which sends its next text when it has the answer
to the last. Whatever else runs on the machine shows in the figures, so nothing else should.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.corpora import ROOT, data_home

RESULTS = ROOT / "benchmarks" / "results" / "serve.json"
PAGE = ROOT / "docs" / "benchmarks.md"
BLOCK = re.compile(r"(<!-- server load -->\n).*?(<!-- server load: end -->)", re.DOTALL)
CONNECTIONS = 24
OVERLOAD = 4
PORT = 8765


def main() -> None:
    """Measure, print and write down."""
    asked = _arguments()
    with tempfile.TemporaryDirectory() as folder:
        model = asked.model or _train(Path(folder) / "model", asked.method)
        texts = _texts(asked.texts or data_home() / "wordnet" / "test.tsv.xz")
        server = Server(model)
        try:
            figures = measure(server, texts, quick=asked.quick, n_requests=asked.requests)
        finally:
            server.stop()
    print(json.dumps(figures, indent=2))
    if not asked.quick:
        RESULTS.write_text(json.dumps(figures, indent=2) + "\n")
        PAGE.write_text(BLOCK.sub(rf"\1\n{table(figures)}\n\n\2", PAGE.read_text()))


def measure(server: Server, texts: list[str], *, quick: bool, n_requests: int) -> dict[str, Any]:
    """Put the server under each kind of load in turn."""
    short, long = (2.0, 3.0) if quick else (5.0, 20.0)
    load(texts, CONNECTIONS, seconds=short)  # warms up
    steady = load(texts, CONNECTIONS, seconds=long)
    memory = []
    lasting = []
    parts = 10
    for _ in range(parts):
        lasting.append(load(texts, CONNECTIONS, requests=n_requests // parts))
        memory.append(server.memory_mib())
    full = load(texts, OVERLOAD * CONNECTIONS, seconds=short, then_recover=True)
    return {
        "model": server.describe(),
        "steady": steady,
        "lasting": {
            "requests": sum(part["requests"] for part in lasting),
            "errors": sum(part["errors"] for part in lasting),
            "statuses": dict(sum((Counter(part["statuses"]) for part in lasting), Counter())),
            "memory_mib": memory,
        },
        "overload": full,
    }


def table(figures: dict[str, Any]) -> str:
    """Return the figures as they stand on the page."""
    steady, lasting, full = figures["steady"], figures["lasting"], figures["overload"]
    model = figures["model"]
    refused = full["statuses"].get("429", 0)
    rows = [
        ("model", f"`{model['method']}`, {model['n_labels']:,} labels"),
        (f"{steady['connections']} connections", f"{steady['per_second']:,.0f} requests/s"),
        ("latency p50 / p99", f"{steady['p50_ms']:.1f} / {steady['p99_ms']:.1f} ms"),
        ("requests in a row", f"{lasting['requests']:,}, {lasting['errors']} errors"),
        (
            "memory before / after",
            f"{lasting['memory_mib'][0]:.0f} / {lasting['memory_mib'][-1]:.0f} MiB",
        ),
        (
            f"{full['connections']} connections",
            f"{full['per_second']:,.0f} answers/s, {refused / max(1, full['requests']):.0%} "
            f"refused (429), {full['errors']} errors",
        ),
        ("recovery", f"{full['recovery_s']:.2f} s"),
    ]
    lines = ["| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows)]
    return "\n".join(lines)


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


class Server:
    """``labelspace serve`` in a process of its own."""

    def __init__(self, model: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "labelspace", "serve", str(model), "--port", str(PORT)]
        )
        for _ in range(600):
            try:
                self.describe()
                return
            except OSError:
                time.sleep(0.1)
        raise SystemExit("The server did not start.")

    def describe(self) -> dict[str, Any]:
        """Return what is served."""
        with urllib.request.urlopen(f"http://127.0.0.1:{PORT}/v1/model", timeout=10) as answer:
            return json.load(answer)

    def memory_mib(self) -> float:
        """Return the resident memory."""
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        return round(int(status.split("VmRSS:")[1].split()[0]) / 1024, 1)

    def stop(self) -> None:
        """End it."""
        self._process.terminate()
        self._process.wait(60)


def _request(text: str) -> bytes:
    body = json.dumps({"text": text}).encode()
    return (
        b"POST /v1/tag HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        b"Content-Length: %d\r\n\r\n" % len(body)
    ) + body


def _texts(path: Path) -> list[str]:
    from labelspace import read_corpus

    return (read_corpus(path).texts or [])[:2000]


def _train(folder: Path, method: str | None) -> Path:
    from labelspace import Tagger, read_corpus

    corpus = read_corpus(data_home() / "wordnet" / "train.tsv.xz")
    print(f"Training on {len(corpus):,} rows", file=sys.stderr)
    tagger = Tagger(method, random_state=0)
    tagger.fit(corpus.texts or [], corpus.Y, label_names=corpus.label_names).save(folder)
    return folder


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure the server under load.")
    parser.add_argument("--model", type=Path, help="model folder (else wordnet is trained on)")
    parser.add_argument("--method", help="method to train (else the default one)")
    parser.add_argument("--texts", type=Path, help="corpus whose texts are sent")
    parser.add_argument("--requests", type=int, default=100_000, help="requests in a row")
    parser.add_argument("--quick", action="store_true", help="only see that it works")
    asked = parser.parse_args()
    if asked.quick:
        asked.requests = min(asked.requests, 2000)
    return asked


if __name__ == "__main__":
    main()
