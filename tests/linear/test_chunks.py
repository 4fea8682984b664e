from __future__ import annotations

import numpy as np
import pytest

from labelspace import progress
from labelspace.linear.chunks import solve_chunks


def test_answers_come_in_order_and_progress_counts_problems(monkeypatch) -> None:
    steps = []
    task = progress.task

    def counted(title, total):
        steps.append((title, total))
        return task(title, total=total)

    monkeypatch.setattr(progress, "task", counted)
    chunks = [np.arange(size) for size in (5, 1, 3)]
    assert solve_chunks(add_length, 2, chunks, "working", n_threads=3) == [7, 3, 5]
    assert steps == [("working", 9)]


def add_length(more: int, chunk: np.ndarray) -> int:
    return len(chunk) + more


def test_what_goes_wrong_in_a_thread_is_told() -> None:
    def fail(inputs, chunk):
        raise ValueError("no solution")

    with pytest.raises(ValueError, match="no solution"):
        solve_chunks(fail, None, [np.arange(2)], "working", n_threads=2)
