"""Convolution and pooling give what the formula says, and their slopes are right."""

from __future__ import annotations

import numpy as np
import pytest

from labelspace.models.xml_cnn import _convolution_kernels as kernels
from labelspace.models.xml_cnn.convolutions import pooled_answers
from labelspace.models.xml_cnn.row_words import RowWords

WIDTHS = np.array([1, 3])
N_FILTERS, N_PARTS, PART = 4, 3, 4
ROWS = RowWords(
    np.array([0, 9, 9, 12]),
    np.array([0, 1, 2, 3, 4, 0, 2, 1, 3, 4, 4, 0], dtype=np.int32),
    np.array([1, 1, 2, 1, 1, 0.5, 1, 1, 1, 1, 1, 1], dtype=np.float32),
)


@pytest.fixture
def network() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Word vectors, filters of each width by word under them, biases."""
    random = np.random.default_rng(0)
    vectors = random.normal(size=(5, 6))
    filters = random.normal(size=(4, 6, N_FILTERS))  # one piece of width 1, three of width 3
    return vectors, filters, random.normal(size=(2, N_FILTERS))


def by_formula(
    row: int, vectors: np.ndarray, filters: np.ndarray, biases: np.ndarray
) -> np.ndarray:
    """The largest positive answer of each filter in each part, by plain loops."""
    found = np.zeros((2, N_PARTS, N_FILTERS))
    first, last = ROWS.ptr[row], ROWS.ptr[row + 1]
    for at, (width, begins) in enumerate(((1, 0), (3, 1))):
        for place in range(first, last):
            answer = biases[at].copy()
            for piece in range(width):
                if place + piece < last:
                    one = ROWS.weights[place + piece] * vectors[ROWS.words[place + piece]]
                    answer += one @ filters[begins + piece]
            part = (place - first) // PART
            found[at, part] = np.maximum(found[at, part], answer)
    return found


def said(vectors: np.ndarray, filters: np.ndarray) -> np.ndarray:
    return np.concatenate([vectors @ piece for piece in filters], axis=1).astype(np.float32)


def test_the_largest_answer_of_each_filter_in_each_part_is_kept(network: tuple) -> None:
    vectors, filters, biases = network
    pooled, places = pooled_answers(
        ROWS, said(vectors, filters), WIDTHS, biases.astype(np.float32), N_PARTS, PART
    )
    for row in range(3):
        assert np.allclose(pooled[row], by_formula(row, vectors, filters, biases), atol=1e-5)
    assert np.all(pooled[1] == 0)  # a row without words
    assert np.all(places[1] == -1)
    in_part = places // PART
    assert np.all((in_part == np.arange(N_PARTS)[None, None, :, None]) | (places == -1))


def test_slopes_go_to_the_places_of_the_largest_answers(network: tuple) -> None:
    vectors, filters, biases = network
    heard, biases = said(vectors, filters).astype(np.float64), biases.astype(np.float64)
    random = np.random.default_rng(1)
    slopes = random.normal(size=(3, 2, N_PARTS, N_FILTERS)).astype(np.float32)

    def total(heard: np.ndarray, biases: np.ndarray) -> float:
        pooled, _ = pooled_answers(
            *(ROWS, heard.astype(np.float32), WIDTHS, biases.astype(np.float32)), N_PARTS, PART
        )
        return float((slopes * pooled).sum(dtype=np.float64))

    _, places = pooled_answers(
        *(ROWS, heard.astype(np.float32), WIDTHS, biases.astype(np.float32)), N_PARTS, PART
    )
    by_said, by_bias = np.zeros(heard.shape, np.float32), np.zeros(biases.shape, np.float32)
    kernels.unpool(*ROWS, WIDTHS, places, slopes, by_said, by_bias)
    step = 1e-2
    for spot in ((0, 0), (2, 5), (4, 13), (3, 10)):
        up, down = heard.copy(), heard.copy()
        up[spot] += step
        down[spot] -= step
        measured = (total(up, biases) - total(down, biases)) / (2 * step)
        assert measured == pytest.approx(by_said[spot], abs=0.02)
    up = biases.copy()
    up[1, 2] += step
    assert (total(heard, up) - total(heard, biases)) / step == pytest.approx(
        by_bias[1, 2], abs=0.02
    )


def test_words_beyond_the_last_part_belong_to_it() -> None:
    # One part of one word, and nine words: the answers of all of them are looked at.
    said = np.arange(5, dtype=np.float32)[:, np.newaxis]
    zero = np.zeros((1, 1), dtype=np.float32)
    answers, places = pooled_answers(ROWS, said, np.array([1]), zero, 1, 1)
    assert answers.ravel().tolist() == [4.0, 0.0, 4.0]  # twice the third word, and the last two
    assert places.ravel().tolist() == [2, -1, 0]


def test_slopes_of_vectors_and_pieces_are_those_of_a_product() -> None:
    random = np.random.default_rng(2)
    vectors, pieces = random.normal(size=(5, 6)), random.normal(size=(7, 6))
    slopes = random.normal(size=(5, 7)) * (random.random((5, 7)) < 0.3)
    by_vector, by_piece = np.zeros((5, 6)), np.zeros((7, 6))
    kernels.unsay(slopes, vectors, pieces, by_vector, by_piece)
    assert np.allclose(by_vector, slopes @ pieces)
    assert np.allclose(by_piece, slopes.T @ vectors)
