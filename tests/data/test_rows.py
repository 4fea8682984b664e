"""Rows of either kind."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from labelspace.csr import NamedColumns
from labelspace.data.rows import count_rows, is_matrix, one_text, row_blocks
from labelspace.errors import DataError

X = np.arange(10.0).reshape(5, 2)


@pytest.mark.parametrize("rows", [X, csr_matrix(X), NamedColumns(X, ["a", "b"])])
def test_features_are_cut_into_blocks_of_the_same_values(rows: object) -> None:
    assert is_matrix(rows)
    assert count_rows(rows) == 5
    blocks = [csr_matrix(block).toarray() for block in row_blocks(rows, 2)]
    assert [len(block) for block in blocks] == [2, 2, 1]
    assert np.array_equal(np.concatenate(blocks), X)


@pytest.mark.parametrize("rows", [["a", "b"], np.array(["a", "b"]), ("a", "b")])
def test_texts_are_no_matrix(rows: object) -> None:
    assert not is_matrix(rows)
    assert count_rows(rows) == 2
    assert list(row_blocks(rows, 1)) == [["a"], ["b"]]


def test_one_text_is_not_many_nor_the_other_way_round() -> None:
    with pytest.raises(DataError, match="write \\[text\\]"):
        row_blocks("a", 2)
    with pytest.raises(DataError, match="type list"):
        one_text(["a"])
