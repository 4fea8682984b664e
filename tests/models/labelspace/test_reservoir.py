"""Rows that are kept of all that were seen."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from labelspace.models.labelspace.reservoir import draw_reservoir, update_reservoir


def rows(first: int, n: int) -> csr_matrix:
    """Return rows that hold their own numbers, from ``first`` on."""
    return csr_matrix(np.arange(first, first + n, dtype=np.float32)[:, np.newaxis])


def numbers(X: csr_matrix) -> list[int]:
    return X.toarray().ravel().astype(int).tolist()


def test_all_rows_are_kept_while_they_are_few() -> None:
    kept = draw_reservoir(rows(1, 6), 10, seed=0)
    assert numbers(kept) == [1, 2, 3, 4, 5, 6]
    assert numbers(update_reservoir(kept, 6, rows(7, 3), 10, seed=0)) == list(range(1, 10))


def test_no_row_is_kept_twice_and_no_more_than_asked() -> None:
    kept = draw_reservoir(rows(1, 100), 10, seed=0)
    for step in range(5):
        kept = update_reservoir(kept, 100 + 20 * step, rows(101 + 20 * step, 20), 10, seed=step)
        assert len(set(numbers(kept))) == kept.shape[0] == 10


def test_each_row_has_the_same_chance_whenever_it_came() -> None:
    from_old = 0
    for seed in range(300):
        kept = draw_reservoir(rows(1, 60), 10, seed)
        for step in range(3):
            n_seen = 60 + 20 * step
            kept = update_reservoir(kept, n_seen, rows(n_seen + 1, 20), 10, seed + 1000 * step)
        from_old += sum(number <= 60 for number in numbers(kept))
    # Half of the 120 rows are old: 1,500 of the 3,000 kept, with a deviation of about 26.
    assert abs(from_old - 1500) < 130
