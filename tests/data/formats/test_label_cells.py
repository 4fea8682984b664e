"""What separates labels is found where it is plain, and asked for where it is not."""

from __future__ import annotations

from typing import Any

import pytest

from labelspace.data.formats.label_cells import LabelSplitter, find_separator, is_set


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["a;b", "c"], ";"),
        (["a, the first; b", "c"], ";"),
        (["a|b", "a, c"], "|"),
        (["a,b", "c"], ","),
        (["a", "b", ""], "none"),
        ([], "none"),
        (['["a", "b"]', "[]"], "list"),
        (["['a']"], "list"),
        (["<u:a> <u:b>", "<u:c>"], " "),
        (["http://a.org/1 http://a.org/2"], " "),
        (["http://a.org/1;http://a.org/2"], ";"),
        (["http://a.org/1", "http://a.org/2"], "none"),
    ],
)
def test_the_separator_that_is_plain(cells: list[str], expected: str) -> None:
    assert find_separator(cells) == expected


@pytest.mark.parametrize(
    ("separator", "cell", "expected"),
    [
        (";", " a ; b;; ", ["a", "b"]),
        (";", "a, b", ["a, b"]),
        ("none", "a;b", ["a;b"]),
        (" ", "<u:a>  <u:b>", ["u:a", "u:b"]),
        (";", "<u:a>;<u:b>", ["u:a", "u:b"]),
        ("list", '["a", 7]', ["a", "7"]),
        ("list", "['a', 'b c']", ["a", "b c"]),
        (";", ["a;b", None, " "], ["a;b"]),
        (";", [{"uri": "<u:a>", "label": "A"}, {"name": "b"}], ["u:a", "b"]),
        (";", 4029582.0, ["4029582"]),
        (";", float("nan"), []),
        (";", None, []),
    ],
)
def test_labels_of_a_cell(separator: str, cell: Any, expected: list[str]) -> None:
    assert LabelSplitter(separator).split(cell) == expected


@pytest.mark.parametrize(
    ("separator", "cell", "expected"),
    [
        ("list", "a, b", "are no list, but cells before are"),
        ("list", "[a, b]", "are a list that cannot be read"),
        (";", [True], "a label is true or false"),
        (";", [{"x": 1}], 'without "uri", "id" or "name"'),
    ],
)
def test_cells_that_are_no_labels(separator: str, cell: Any, expected: str) -> None:
    with pytest.raises(ValueError, match=expected):
        LabelSplitter(separator).split(cell)


def test_cells_of_a_label_column() -> None:
    assert [is_set(cell) for cell in (1, "1", "x", "TRUE", 1.0, True)] == [True] * 6
    assert [is_set(cell) for cell in (0, "", None, "no", 0.0, False, float("nan"))] == [False] * 7
    with pytest.raises(ValueError, match='"red" is neither 0 nor 1'):
        is_set("red")
