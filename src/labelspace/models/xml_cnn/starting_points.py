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

from labelspace.models.xml_cnn.row_words import unit_rows

Floats = NDArray[np.float32]

# Directions beyond those that are asked for, and passes, which make singular vectors more exact.
_MORE, _PASSES = 10, 2
# Share of the mean deviation that is added to each, lest filters that hardly answer are heard most.
_FLOOR = 0.1


def label_directions(bags: csr_matrix, Y: csr_matrix, dim: int, rng: np.random.Generator) -> Floats:
    """Return a vector for each word, from the labels of the rows that it is in.

    Words that no row has are zero; a frequent word is shorter than a rare one, and a word of
    middling rarity has length one.

    Parameters
    ----------
    bags : csr_matrix of shape (n_rows, n_words)
        The words of rows, as ``row_words.bags_of`` makes them.
    Y : csr_matrix of shape (n_rows, n_labels)
    dim : int
    rng : Generator

    Examples
    --------
    Words 0 and 1 come with label 0, words 2 and 3 with label 1:

    >>> bags = csr_matrix([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0]])
    >>> Y = csr_matrix(np.eye(2, dtype=np.float32))
    >>> vectors = label_directions(bags, Y, 2, np.random.default_rng(0))
    >>> (vectors @ vectors.T).round(2)
    array([[ 1.,  1., -0., -0.],
           [ 1.,  1., -0., -0.],
           [-0., -0.,  1.,  1.],
           [-0., -0.,  1.,  1.]], dtype=float32)
    """
    bags, rarity = _by_rarity(bags)
    n_words = bags.shape[1]
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


def _by_rarity(bags: csr_matrix) -> tuple[csr_matrix, Floats]:
    """Return bags in which rare words count more, and how rare each word is, about one."""
    in_rows = np.bincount(bags.indices, minlength=bags.shape[1])
    rarity = np.log((1.0 + bags.shape[0]) / (1.0 + in_rows)).astype(np.float32)
    # A word of all rows would be nothing at all where every row has it.
    rarity = np.maximum(rarity, 0.1)
    weighted = np.abs(bags.data) * rarity[bags.indices]
    known = in_rows > 0
    usual = float(np.median(rarity[known])) if known.any() else 1.0
    about_one = np.where(known, rarity / usual, 0.0).astype(np.float32)
    return unit_rows(csr_matrix((weighted, bags.indices, bags.indptr), bags.shape)), about_one
