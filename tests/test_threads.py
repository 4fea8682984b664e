"""One thread count for every library, and answers to several Python threads at once."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

from labelspace import threads

PROJECT = Path(__file__).resolve().parent.parent


def test_limit_sets_and_restores() -> None:
    before = threads.current()
    with threads.limit(1) as wanted:
        assert wanted == threads.current() == 1
        with threads.limit(3):
            assert threads.current() == 3
        assert threads.current() == 1
    assert threads.current() == before


def blas_counts() -> set[int]:
    blas = ThreadpoolController().select(user_api="blas").lib_controllers
    return {library.num_threads for library in blas}


def test_blas_may_have_a_count_of_its_own() -> None:
    def counts() -> set[int]:  # of NumPy and SciPy; faiss has one that goes with its own threads
        blas = ThreadpoolController().select(user_api="blas").lib_controllers
        return {one.num_threads for one in blas if one.info().get("threading_layer") != "openmp"}

    with threadpool_limits(2, user_api="blas"):
        with threads.limit(None, n_blas=1):
            assert counts() == {1}
            assert threads.current() == threads.available()
            with threads.limit(3):
                assert counts() == {1}
        assert counts() == {2}
        with threads.limit(2, n_blas=1) as wanted:
            assert wanted == 2
            assert counts() == {1}


def test_limits_that_overlap_leave_blas_as_it_was() -> None:
    begun, may_end = threading.Event(), threading.Event()

    def hold() -> None:
        with threads.limit(1):
            begun.set()
            may_end.wait(60)

    with threadpool_limits(2, user_api="blas"):
        other = threading.Thread(target=hold)
        other.start()
        begun.wait(60)
        with threads.limit(1):
            may_end.set()
            other.join()
            assert blas_counts() == {1}, "the second limit holds still"
        assert blas_counts() == {2}


def test_the_smallest_of_two_limits_holds_for_blas() -> None:
    with threadpool_limits(3, user_api="blas"):
        with threads.limit(2):
            assert blas_counts() == {2}
            with threads.limit(1):
                assert blas_counts() == {1}
            assert blas_counts() == {2}
        assert blas_counts() == {3}


def test_learners_side_by_side_have_one_thread_of_every_library() -> None:
    # OpenMP has a count for each thread, which is that of all cores in a new one.
    def counts(seed: int) -> set[int]:
        found = ThreadpoolController().select(user_api=["blas", "openmp"]).lib_controllers
        return {library.num_threads for library in found}

    assert threads.train_in_parallel(counts, range(3), 2) == [{1}, {1}, {1}]


@pytest.mark.parametrize("n_rows", [0, 1, 2, 17, 1000])
def test_each_row_is_dealt_once(n_rows: int) -> None:
    dealt: list[int] = []
    with threads.limit(4):
        threads.deal(lambda first, last: dealt.extend(range(first, last)), n_rows, 2)
    assert sorted(dealt) == list(range(n_rows))


def test_no_kernel_uses_the_threads_of_numba() -> None:
    # They end a process that was forked after their first use.
    kernels = [path.read_text() for path in (PROJECT / "src").rglob("*.py")]
    assert kernels
    assert not [text for text in kernels if "parallel=True" in text or "prange" in text]


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
