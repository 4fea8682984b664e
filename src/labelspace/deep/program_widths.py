"""Widths of codes and sizes of steps in the program of Srinivasan, Rao and Agarwal (2018).

Its ``setups`` have their own for each of the report's four corpora; the widths of other corpora go
by a rule that is near them.
"""

from __future__ import annotations

# Hidden widths and the code of rows, by the number of features: bibtex, delicious, mediamill,
# eurlex.
_WIDTHS_OF_ROWS: dict[int, tuple[tuple[int, ...], int]] = {
    1836: ((1152, 600), 256),
    500: ((250,), 125),
    120: ((100,), 50),
    5000: ((2500, 1250), 500),
}
# Where the widths go by the rule, no more than this are needed or affordable.
_WIDEST = 2048


def widths_of_rows(n_features: int) -> tuple[tuple[int, ...], int]:
    """Return the hidden widths and the code of the network that encodes rows.

    >>> widths_of_rows(500)
    ((250,), 125)
    """
    return _WIDTHS_OF_ROWS.get(n_features) or widths_by_rule(n_features, 6.0)


def widths_by_rule(n_columns: int, factor: float) -> tuple[tuple[int, ...], int]:
    """Return one hidden width, and a code that grows with the root of the columns.

    >>> widths_by_rule(10_000, 6.0)
    ((2048,), 600)
    """
    dim = min(max(round(factor * n_columns**0.5), 1), _WIDEST)
    return (min(max(round((n_columns * dim) ** 0.5), 1), _WIDEST),), dim


def step_size(n_features: int) -> float:
    """Return the size of Adam's steps, which is another one on mediamill."""
    return 1e-3 if n_features == 120 else 3e-4
