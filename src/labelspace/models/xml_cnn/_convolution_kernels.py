"""Compiled loops of convolutions over words with dynamic max pooling.

A filter of width w has w pieces, one for each word under it. What a piece says to a word is the
same wherever the word stands, so it is computed once for each word of a batch (``said``, a product
of matrices), and a convolution adds up what its pieces say to w words in a row. Of each filter the
largest answer in each part of the text is kept, and with it its place: a gradient goes there alone.
Most pieces have nothing to learn from most words then, and the products of the way back skip them.
"""

from __future__ import annotations

import numpy as np

from labelspace.compiling import njit


@njit(cache=True, nogil=True)
def pool(ptr, words, weights, first, last, said, widths, biases, part_length, pooled, places):
    """Fill in, for rows from ``first`` to ``last``, the largest answers and where they are.

    Parameters
    ----------
    ptr, words, weights
        The words of each row, by their number in ``said``, and by how much each is multiplied.
    said : ndarray of shape (n_words, sum of widths × n_filters)
        The pieces of the narrowest filters come first, and within a width piece by piece.
    biases : ndarray of shape (n_widths, n_filters)
    part_length : int
        Words in a part of a text; what is beyond the last part belongs to it.
    pooled : ndarray of shape (n_rows, n_widths, n_parts, n_filters)
        Zeros, which stay where no answer is positive.
    places : ndarray of the same shape, int32
        -1, which stay there too.
    """
    n_filters = biases.shape[1]
    answers = np.empty(n_filters, dtype=np.float32)
    for row in range(first, last):
        start, n_words = ptr[row], ptr[row + 1] - ptr[row]
        begins = 0
        for at in range(widths.shape[0]):
            for place in range(n_words):
                answers[:] = biases[at]
                for piece in range(min(widths[at], n_words - place)):
                    word = words[start + place + piece]
                    weight = weights[start + place + piece]
                    column = begins + piece * n_filters
                    heard = said[word, column : column + n_filters]
                    for number in range(n_filters):
                        answers[number] += weight * heard[number]
                part = min(place // part_length, pooled.shape[2] - 1)
                best = pooled[row, at, part]
                where = places[row, at, part]
                for number in range(n_filters):
                    if answers[number] > best[number]:
                        best[number] = answers[number]
                        where[number] = place
            begins += widths[at] * n_filters


@njit(cache=True, nogil=True)
def unpool(ptr, words, weights, widths, places, slopes, said_slopes, bias_slopes):
    """Add the slopes of what was pooled to those of what pieces said, and of the biases."""
    n_rows, n_widths, n_parts, n_filters = slopes.shape
    for row in range(n_rows):
        start, n_words = ptr[row], ptr[row + 1] - ptr[row]
        begins = 0
        for at in range(n_widths):
            for part in range(n_parts):
                for number in range(n_filters):
                    place = places[row, at, part, number]
                    slope = slopes[row, at, part, number]
                    if place < 0 or slope == 0.0:
                        continue
                    bias_slopes[at, number] += slope
                    for piece in range(min(widths[at], n_words - place)):
                        one = start + place + piece
                        column = begins + piece * n_filters + number
                        said_slopes[words[one], column] += weights[one] * slope
            begins += widths[at] * n_filters


@njit(cache=True, nogil=True)
def unsay(said_slopes, vectors, pieces, vector_slopes, piece_slopes):
    """Add the slopes of what pieces said to those of word vectors and of the pieces.

    ``said`` is vectors · piecesᵀ; both have a row each, and few of its slopes are not zero.
    """
    dim = vectors.shape[1]
    for word in range(said_slopes.shape[0]):
        for piece in range(said_slopes.shape[1]):
            slope = said_slopes[word, piece]
            if slope == 0.0:
                continue
            for at in range(dim):
                vector_slopes[word, at] += slope * pieces[piece, at]
                piece_slopes[piece, at] += slope * vectors[word, at]
