"""Every method answers alike from many threads, and in forked and spawned processes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from labelspace import models

PROJECT = Path(__file__).resolve().parent.parent
SECONDS = 240

# Each way asks all methods, and gives up where one of them hangs.
SCRIPT = """
import multiprocessing, sys
from concurrent.futures import ThreadPoolExecutor
import numpy as np
from labelspace import models
from tests.planted import planted_corpus
from tests.small import small

X, Y = planted_corpus(90)
more = planted_corpus(1500, seed=2)[0]  # enough for every library to start its threads

def trained(name):
    return small(models.find(name)).fit(X, Y)

def ask(model):
    return model.predict_topk(more, 3).labels

def by_fork(fitted):
    with multiprocessing.get_context("fork").Pool(2) as pool:
        return pool.map_async(ask, fitted).get(60)

def by_spawn(fitted):
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.map_async(ask, fitted).get(120)

def by_joblib(fitted):
    from joblib import Parallel, delayed
    return Parallel(n_jobs=2, timeout=120)(delayed(ask)(model) for model in fitted)

def by_threads(fitted):
    with ThreadPoolExecutor(4) as pool:
        return list(pool.map(ask, fitted * 2))[len(fitted):]

def by_fork_learning(fitted):
    with multiprocessing.get_context("fork").Pool(2) as pool:
        return [ask(model) for model in pool.map_async(trained, names).get(90)]

if __name__ == "__main__":
    names = sys.argv[1:]
    fitted = [trained(name) for name in names]
    expected = [ask(model) for model in fitted]
    for way in (by_threads, by_fork, by_fork_learning, by_spawn, by_joblib):
        for name, right, answer in zip(names, expected, way(fitted), strict=True):
            assert np.array_equal(right, answer), (way, name)
    print("all answered alike")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform does not fork")
def test_every_method_answers_alike_in_threads_and_processes(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    script = tmp_path / "ask.py"
    script.write_text(SCRIPT)
    asked = subprocess.run(
        [sys.executable, str(script), *models.METHODS],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(PROJECT), *sys.path])},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert asked.stdout == "all answered alike\n", asked.stderr
