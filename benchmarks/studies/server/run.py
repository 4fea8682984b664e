"""How the server bears up: ``study server``.

Requests a second, latency, memory, overload and recovery. The server runs as users start it, in a
process of its own, with the default method trained on wordnet; the load comes from a second process
over loopback. Whatever else runs on the machine shows in the figures, so nothing else should.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.corpora import data_home
from benchmarks.studies.server import page
from benchmarks.studies.server.load import PORT, load
from benchmarks.studies.source import Source
from benchmarks.studies.study import Figures, Part, Study, Trial
from labelspace import Tagger, read_corpus

CONNECTIONS = 24
OVERLOAD = 4
N_REQUESTS = 100_000


def measure(trial: Trial, source: Source) -> Iterator[tuple[Trial, Figures]]:
    """Train, serve, and put the server under each kind of load in turn."""
    model = source.cache / "served"
    corpus = read_corpus(data_home() / trial.corpus / "train.tsv.xz")
    rows = slice(source.n_rows)
    tagger = Tagger(random_state=0)
    names = corpus.label_names
    tagger.fit((corpus.texts or [])[rows], corpus.Y[rows], label_names=names).save(model)
    texts = list(read_corpus(data_home() / trial.corpus / "test.tsv.xz").texts or ())[:2000]
    server = Server(model)
    try:
        yield trial, under_load(server, texts, quick=source.quick)
    finally:
        server.stop()


def under_load(server: Server, texts: list[str], *, quick: bool = False) -> Figures:
    """Return how a server answers: steadily, for long, and when asked too much."""
    short, long = (2.0, 3.0) if quick else (5.0, 20.0)
    n_requests = 2000 if quick else N_REQUESTS
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

    @property
    def process_id(self) -> int:
        """By which its memory and its CPU seconds are found."""
        return self._process.pid

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


STUDY = Study(
    "server",
    {"load": Part([Trial("load", "wordnet")], measure)},
    page.PAGE,
    page.tables,
)
