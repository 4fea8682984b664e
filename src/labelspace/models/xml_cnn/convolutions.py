"""What an answer of XML-CNN needs: word vectors, filters, two layers; no torch."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from labelspace.models.xml_cnn import _convolution_kernels as kernels
from labelspace.models.xml_cnn.row_words import RowWords, WordsAndBags
from labelspace.store import Storable, schema

Floats = NDArray[np.float32]


class WordConvolutions(Storable):
    """A network from the words of a row to a score for each label.

    Attributes
    ----------
    word_vectors : ndarray of shape (n_words, dim)
    filters : ndarray of shape (dim, sum of widths × n_filters)
        The pieces of all filters: see ``_convolution_kernels``.
    filter_biases : ndarray of shape (n_widths, n_filters)
    widths : ndarray of int64
        Words under a filter.
    n_parts, part_length : int
        Parts of a row of which each filter's largest answer is kept, and words in one.
    hidden, hidden_biases
        The bottleneck: (n_widths × n_parts × n_filters + bag_dim, n_hidden), and (n_hidden,).
    label_vectors, label_biases
        (n_labels, n_hidden), and (n_labels,).
    bag_vectors : ndarray of shape (n_words, bag_dim), optional
        What words say in bags; None if order is all that is read.
    """

    _schema: ClassVar[schema.Schema] = {
        "word_vectors": schema.array("float32", "n_words", "dim"),
        "filters": schema.array("float32", "dim", "n_pieces"),
        "filter_biases": schema.array("float32", "n_widths", "n_filters"),
        "widths": schema.array("int64", "n_widths", low=1),
        "n_parts": schema.integer(1),
        "part_length": schema.integer(1),
        "hidden": schema.array("float32", "n_heard", "n_hidden"),
        "hidden_biases": schema.array("float32", "n_hidden"),
        "label_vectors": schema.array("float32", "n_labels", "n_hidden"),
        "label_biases": schema.array("float32", "n_labels"),
        "bag_vectors": schema.optional(schema.array("float32", "n_words", "bag_dim")),
    }

    @classmethod
    def _check_state(cls, state: schema.State, sizes: schema.Sizes) -> None:
        super()._check_state(state, sizes)
        n_widths, n_filters = state["filter_biases"].shape
        sizes.settle("n_pieces", int(state["widths"].sum()) * n_filters)
        bag = state["bag_vectors"]
        n_pooled = n_widths * state["n_parts"] * n_filters
        sizes.settle("n_heard", n_pooled + (0 if bag is None else bag.shape[1]))

    def __init__(self, **parts: Any) -> None:
        for name in self._schema:
            setattr(self, name, parts[name])

    word_vectors: Floats
    filters: Floats
    filter_biases: Floats
    widths: NDArray[np.int64]
    n_parts: int
    part_length: int
    hidden: Floats
    hidden_biases: Floats
    label_vectors: Floats
    label_biases: Floats
    bag_vectors: Floats | None

    def scores(self, read: WordsAndBags) -> Floats:
        """Return the scores of all labels, (n_rows, n_labels)."""
        rows = read.words
        words, numbers = np.unique(rows.words, return_inverse=True)
        said = np.asarray(self.word_vectors[words]) @ self.filters
        numbered = rows._replace(words=numbers.astype(np.int32))
        pooled, _ = pooled_answers(
            numbered, said, self.widths, self.filter_biases, self.n_parts, self.part_length
        )
        heard = pooled.reshape(rows.n_rows, -1)
        if self.bag_vectors is not None and read.bags is not None:
            heard = np.hstack((heard, read.bags @ np.asarray(self.bag_vectors)))
        squeezed = heard @ self.hidden + self.hidden_biases
        return np.maximum(squeezed, 0.0) @ self.label_vectors.T + self.label_biases


def pooled_answers(
    rows: RowWords,
    said: Floats,
    widths: NDArray[np.int64],
    biases: Floats,
    n_parts: int,
    part_length: int,
) -> tuple[Floats, NDArray[np.int32]]:
    """Return the largest answer of each filter in each part of each row, and where it was given.

    Both are (n_rows, n_widths, n_parts, n_filters). No answer is below 0: where none is above, 0 is
    the answer and -1 its place.

    Examples
    --------
    One filter of width 2 whose pieces say the word's number, and ten times it: 1 + 20, 2 + 30;
    then, in the second part, 3 + 10 and 1.

    >>> said = np.array([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]], dtype=np.float32)
    >>> rows = RowWords(np.array([0, 4]), np.array([0, 1, 2, 0]), np.ones(4, dtype=np.float32))
    >>> zero = np.zeros((1, 1), dtype=np.float32)
    >>> answers, places = pooled_answers(rows, said, np.array([2]), zero, 2, 2)
    >>> answers.ravel(), places.ravel()
    (array([32., 13.], dtype=float32), array([1, 2], dtype=int32))
    """
    shape = rows.n_rows, len(widths), n_parts, biases.shape[1]
    pooled, places = np.zeros(shape, dtype=np.float32), np.full(shape, -1, dtype=np.int32)
    kernels.pool(*rows, 0, rows.n_rows, said, widths, biases, part_length, pooled, places)
    return pooled, places
