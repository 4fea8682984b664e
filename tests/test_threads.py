"""One thread count for every library, and answers to several Python threads at once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numba
import pytest

from labelspace import threads

PROJECT = Path(__file__).resolve().parent.parent


def test_limit_sets_and_restores() -> None:
    before = numba.get_num_threads()
    with threads.limit(1) as wanted:
        assert wanted == 1
        assert numba.get_num_threads() == 1
    assert numba.get_num_threads() == before


def test_no_limit_means_every_core() -> None:
    assert threads.resolve(None) == threads.resolve(-1) == threads.available()
    with threads.limit(None) as wanted:
        assert wanted == threads.available()


ASK_AT_ONCE = """
import threading
from labelspace.models import NearestNeighbors, OneVsAll
from tests.planted import planted_corpus
X, Y = planted_corpus(60)
def ask(model):
    for _ in range(20):
        model.predict_topk(X, 3)
for kind in (NearestNeighbors, OneVsAll):
    for n_threads in (None, 2):
        model = kind(random_state=0, n_threads=n_threads).fit(X, Y)
        askers = [threading.Thread(target=ask, args=[model]) for _ in range(4)]
        for asker in askers:
            asker.start()
        for asker in askers:
            asker.join()
        print(kind.__name__, n_threads)
"""


@pytest.mark.parametrize("layer", ["default", "workqueue"])
def test_python_threads_may_ask_at_once(layer: str) -> None:
    asked = subprocess.run(
        [sys.executable, "-c", ASK_AT_ONCE],
        env={**os.environ, "NUMBA_THREADING_LAYER": layer, "PYTHONPATH": str(PROJECT)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    answered = [f"{kind} {n}" for kind in ("NearestNeighbors", "OneVsAll") for n in (None, 2)]
    assert asked.stdout.splitlines() == answered, asked.stderr
