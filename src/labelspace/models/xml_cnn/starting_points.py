"""Where XML-CNN begins to learn: words beside the labels that they come with.

The largest answer of a random filter to a hundred words is nearly the same for every text, and most
often it is given to a word that all texts have: a network that begins so has little to tell texts
apart by, and learns for thousands of steps before it has. Two things make a better start, and
change nothing of the network:

    e_w  =  idf_w · the direction of row w of  √Σ U,      U Σ Vᵀ ≈ BᵀY D^{−½}

B has the words of each row (tf-idf, length one), Y its labels and D their numbers of rows, so that
words which come with the same labels begin near each other, and frequent words are short. Then the
bottleneck is scaled such that the answers which it hears have mean 0 and deviation 1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, diags

from labelspace.models.xml_cnn.row_words import RowWords

Floats = NDArray[np.float32]

# Directions beyond those that are asked for, and passes, which make singular vectors more exact.
_MORE, _PASSES = 10, 2
# Share of the mean deviation that is added to each, lest filters that hardly answer are heard most.
_FLOOR = 0.1


def label_directions(
    rows: RowWords, Y: csr_matrix, n_words: int, dim: int, rng: np.random.Generator
) -> Floats:
    """Return a vector for each word, from the labels of the rows that it is in.

    Words that no row has are zero; a frequent word is shorter than a rare one, and a word of
    middling rarity has length one.

    Parameters
    ----------
    rows : RowWords
    Y : csr_matrix of shape (n_rows, n_labels)
    n_words, dim : int
    rng : Generator

    Examples
    --------
    Words 0 and 1 come with label 0, words 2 and 3 with label 1:

    >>> words = RowWords(np.array([0, 2, 4]), np.arange(4), np.ones(4, dtype=np.float32))
    >>> Y = csr_matrix(np.eye(2, dtype=np.float32))
    >>> vectors = label_directions(words, Y, 4, 2, np.random.default_rng(0))
    >>> (vectors @ vectors.T).round(2)
    array([[ 1.,  1., -0., -0.],
           [ 1.,  1., -0., -0.],
           [-0., -0.,  1.,  1.],
           [-0., -0.,  1.,  1.]], dtype=float32)
    """
    bags, rarity = _bags(rows, n_words)
    counts = np.asarray(Y.sum(axis=0)).ravel()
    labels = csr_matrix(Y @ diags(1.0 / np.sqrt(np.maximum(counts, 1.0))), dtype=np.float32)
    n_directions = min(dim + _MORE, n_words, Y.shape[1])
    found = rng.standard_normal((Y.shape[1], n_directions), dtype=np.float32)
    for _ in range(1 + _PASSES):
        words = np.linalg.qr(bags.T @ (labels @ found))[0]
        found = labels.T @ (bags @ words)
    left, values, _ = np.linalg.svd(found.T, full_matrices=False)
    vectors = np.zeros((n_words, dim), dtype=np.float32)
    kept = min(dim, n_directions)
    vectors[:, :kept] = ((words @ left) * np.sqrt(values))[:, :kept]
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    # Turned at random: filters are to hear of all directions, not of the first ones.
    turn = np.linalg.qr(rng.standard_normal((dim, dim)))[0].astype(np.float32)
    return np.asarray((vectors * rarity[:, np.newaxis]) @ turn, dtype=np.float32)


def standardised(pooled: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return weights and biases of a layer to which answers have mean 0 and deviation 1.

    >>> weights, biases = standardised(np.float32([[1.0], [3.0]]), np.float32([[2.2]]))
    >>> weights.round(3), biases.round(3)
    (array([[2.]], dtype=float32), array([-4.], dtype=float32))
    """
    means, deviations = pooled.mean(axis=0), pooled.std(axis=0)
    deviations += _FLOOR * deviations.mean() + 1e-6
    scaled = weights / deviations[:, np.newaxis]
    return scaled.astype(np.float32), (-means @ scaled).astype(np.float32)


def _bags(rows: RowWords, n_words: int) -> tuple[csr_matrix, Floats]:
    """Return the words of rows without their order, and how rare each word is, about one."""
    row_of = np.repeat(np.arange(rows.n_rows), np.diff(rows.ptr))
    bags = csr_matrix((np.abs(rows.weights), (row_of, rows.words)), (rows.n_rows, n_words))
    bags.sum_duplicates()
    in_rows = np.bincount(bags.indices, minlength=n_words)
    rarity = np.log((1.0 + rows.n_rows) / (1.0 + in_rows)).astype(np.float32)
    # A word of all rows would be nothing at all where every row has it.
    rarity = np.maximum(rarity, 0.1)
    bags.data = np.log1p(bags.data) * rarity[bags.indices]
    lengths = np.sqrt(np.asarray(bags.multiply(bags).sum(axis=1)).ravel())
    bags = csr_matrix(diags(1.0 / np.maximum(lengths, 1e-12)) @ bags, dtype=np.float32)
    known = in_rows > 0
    usual = float(np.median(rarity[known])) if known.any() else 1.0
    return bags, np.where(known, rarity / usual, 0.0).astype(np.float32)
