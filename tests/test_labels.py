"""Labels in every form that users give them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from labelspace.csr import NamedColumns
from labelspace.errors import DataError
from labelspace.labels import LabelEncoder


def test_numbers_in_lists_are_columns() -> None:
    encoder = LabelEncoder()
    assert encoder.learn([[3, 1], [], [1, 1]]).toarray().tolist() == [
        [0, 1, 0, 1],
        [0, 0, 0, 0],
        [0, 1, 0, 0],
    ]
    assert encoder.kind == "lists"
    assert encoder.names is None
    assert encoder.classes.tolist() == [0, 1, 2, 3]


def test_names_get_sorted_columns_and_new_ones_come_last() -> None:
    encoder = LabelEncoder()
    encoder.learn([["b"], ["c", "a"]])
    assert encoder.names == ["a", "b", "c"]
    assert encoder.learn([["aa", "c"]]).toarray().tolist() == [[0, 0, 1, 1]]
    assert encoder.names == ["a", "b", "c", "aa"]


def test_encoding_does_not_remember() -> None:
    encoder = LabelEncoder()
    encoder.learn([["a"], ["b"]])
    assert encoder.encode([["z"]]).shape == (1, 3)
    assert encoder.names == ["a", "b"]
    assert encoder.n_labels == 2


def test_classes_keep_their_type() -> None:
    encoder = LabelEncoder()
    encoded = encoder.learn(np.array([10, 30, 10]))
    assert encoder.kind == "classes"
    assert encoded.toarray().tolist() == [[1, 0], [0, 1], [1, 0]]
    assert encoder.classes.dtype == np.int64
    assert encoder.classes.tolist() == [10, 30]


@pytest.mark.parametrize("rows", [[{"a"}, {"b"}], [("a",), ("b",)], np.array([["a"], ["b"]])])
def test_sets_tuples_and_columns_of_names(rows: object) -> None:
    assert LabelEncoder().learn(rows).toarray().tolist() == [[1, 0], [0, 1]]


def test_explicit_zeros_and_wider_matrices() -> None:
    encoder = LabelEncoder()
    Y = csr_matrix((np.array([1.0, 0.0]), np.array([0, 1]), np.array([0, 2])), shape=(1, 2))
    assert encoder.learn(Y).nnz == 1
    assert encoder.learn(csr_matrix((1, 5))).shape == (1, 5)
    assert encoder.learn(csr_matrix((1, 2))).shape == (1, 5)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (None, "requires y"),
        ([["a"], "b"], "lists only"),
        ([["a", 1]], "different kinds"),
        ([[0], [-2]], "Label number -2 in row 1"),
        ([[10**10]], "number the labels from 0"),
        (np.zeros((2, 2, 2)), "3 dimensions"),
        (np.array([[0, 2], [1, 0]]), "holds only 0 and 1"),
        (csr_matrix([[np.nan]]), "NaN"),
    ],
)
def test_bad_labels_get_one_clear_sentence(labels: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LabelEncoder().learn(labels)


def test_names_where_numbers_were_learned_are_refused() -> None:
    encoder = LabelEncoder()
    encoder.learn([[0], [1]])
    with pytest.raises(DataError, match="not a column number"):
        encoder.learn([["a"]])


def test_matrix_with_unknown_columns_is_refused_where_labels_have_names() -> None:
    encoder = LabelEncoder()
    encoder.learn([["a"], ["b"]])
    with pytest.raises(DataError, match="by name"):
        encoder.learn(csr_matrix((1, 3)))


@pytest.mark.parametrize("values", [csr_matrix([[1, 0], [1, 1]]), [[0], [0, 1]], [["b"], "ba"]])
def test_names_come_with_the_columns(values: object) -> None:
    values = [list(row) for row in values] if isinstance(values, list) else values
    encoder = LabelEncoder()
    Y = encoder.learn(NamedColumns(values, ["b", "a", "unused"]))
    assert Y.toarray().tolist() == [[1, 0, 0], [1, 1, 0]]
    assert encoder.classes.tolist() == ["b", "a", "unused"]
    more = encoder.learn(NamedColumns([[3]], ["b", "a", "unused", "new"]))
    assert more.shape == (1, 4)


def test_names_that_do_not_fit_are_refused() -> None:
    encoder = LabelEncoder()
    encoder.learn(NamedColumns([[0, 1]], ["a", "b"]))
    with pytest.raises(DataError, match="same order"):
        encoder.learn(NamedColumns([[0]], ["b", "a"]))
    with pytest.raises(DataError, match="3 labels but 2 label names"):
        encoder.learn(NamedColumns([[2]], ["a", "b"]))
    assert encoder.names == ["a", "b"]


def test_labels_are_found_by_name_or_number_also_after_new_ones_came() -> None:
    encoder = LabelEncoder()
    encoder.learn([["a"], ["b"]])
    assert (encoder.find("b"), encoder.find(1), encoder.find("c"), encoder.find(2)) == (
        1,
        1,
        None,
        None,
    )
    encoder.learn([["c"]])
    assert encoder.find("c") == 2
    assert encoder.name(2) == "c"
    numbered = LabelEncoder()
    numbered.learn([[0, 4]])
    assert (numbered.find("4"), numbered.find("5"), numbered.find("x")) == (4, None, None)
    assert numbered.name(4) == "4"
