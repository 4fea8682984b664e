"""How long a single text takes on the server, with the shipped encoder.

One connection, the next text when the last is answered, so that nothing waits in the server.
Milliseconds of the server's CPU are beside those that the one who asks sees, since other work on
the machine makes these longer.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.studies.encoders import page
from benchmarks.studies.encoders.rows import read, texts_of
from benchmarks.studies.server.load import load
from benchmarks.studies.server.run import Server
from benchmarks.studies.source import Source
from benchmarks.studies.study import Figures, Trial
from labelspace import Tagger

N_REQUESTS = 200
N_WARMING = 50


def measure_serving(trial: Trial, source: Source) -> Iterator[tuple[Trial, Figures]]:
    """Train, serve, and ask for one text after the other, cut to a number of characters."""
    corpus = read(trial.corpus, "train")
    rows = np.arange(len(corpus))[: source.at_most(page.TUNED)]
    model = source.cache / f"encoders-served-{trial.corpus}-{len(rows)}"
    if not model.exists():
        tagger = Tagger(encoder="multilingual", n_threads=1)
        tagger.fit(texts_of(corpus, rows), corpus.Y[rows], corpus.label_names).save(model)
    test = read(trial.corpus, "test")
    texts = texts_of(test, np.arange(min(len(test), N_WARMING + N_REQUESTS)))
    server = Server(model)
    try:
        for n_chars in page.CHARS:
            asked = [text[:n_chars] for text in texts]
            load(asked[:N_WARMING], 1, requests=N_WARMING)
            before = _cpu_seconds(server.process_id)
            found = load(asked[N_WARMING:], 1, requests=N_REQUESTS)
            spent = _cpu_seconds(server.process_id) - before
            figures: Figures = {name: found[name] for name in ("p50_ms", "p99_ms", "errors")}
            figures |= {"cpu_ms": 1000 * spent / N_REQUESTS, "n_train": len(rows)}
            figures["load_average"] = os.getloadavg()[0]
            yield Trial(trial.part, trial.corpus, trial.variant, {"chars": n_chars}), figures
    finally:
        server.stop()
    yield trial, {}


def _cpu_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
