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
    assert solve_chunks(len, chunks, "working", n_threads=3) == [5, 1, 3]
    assert steps == [("working", 9)]


def test_what_goes_wrong_in_a_thread_is_told() -> None:
    def fail(chunk):
        raise ValueError("no solution")

    with pytest.raises(ValueError, match="no solution"):
        solve_chunks(fail, [np.arange(2)], "working", n_threads=2)
