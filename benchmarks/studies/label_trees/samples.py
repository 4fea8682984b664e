"""The data of the study of label trees, with one label to a row and with several.

Scikit-learn's digits; WordNet's glosses with the rarest of their hypernyms, which is the nearest,
for all classes of five rows and for those of fifty; and the corpora, some of them drawn from.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.datasets import load_digits

from benchmarks.studies.label_trees.page import FEWEST_ROWS, N_ROWS
from benchmarks.studies.source import Source, Split


def read(corpus: str, source: Source) -> Split:
    """Return a corpus, or one of those with one label to a row."""
    if corpus == "digits":
        X, y = load_digits(return_X_y=True)
        rows = np.random.default_rng(0).permutation(len(y))
        train, test = rows[: source.at_most(1000)], rows[1000:]
        Y = csr_matrix(np.eye(10, dtype=np.float32)[y])
        X = csr_matrix(X, dtype=np.float32)
        return Split(X[train], Y[train], X[test], Y[test])
    if corpus in FEWEST_ROWS:
        return nearest_hypernyms(source.split("wordnet"), FEWEST_ROWS[corpus])
    split = source.split(corpus)
    if corpus not in N_ROWS:
        return split
    n_train, n_test = N_ROWS[corpus]
    rng = np.random.default_rng(0)
    train = np.sort(rng.permutation(split.X.shape[0])[:n_train])
    test = np.sort(rng.permutation(split.X_test.shape[0])[:n_test])
    return Split(split.X[train], split.Y[train], split.X_test[test], split.Y_test[test])


def nearest_hypernyms(split: Split, fewest_rows: int) -> Split:
    """Keep of each row its rarest label, and of these the ones with ``fewest_rows``."""
    counts = np.bincount(split.Y.indices, minlength=split.Y.shape[1])
    train, test = (_rarest(Y, counts) for Y in (split.Y, split.Y_test))
    n_rows = np.bincount(train.indices, minlength=train.shape[1])
    kept = np.flatnonzero(n_rows >= fewest_rows)
    parts = []
    for X, Y in ((split.X, train), (split.X_test, test)):
        Y = csr_matrix(Y[:, kept])
        rows = np.diff(Y.indptr) > 0
        parts += [X[rows], Y[rows]]
    return Split(*parts)


def _rarest(Y: csr_matrix, counts: NDArray[np.int64]) -> csr_matrix:
    known = csr_matrix((1.0 / np.maximum(counts[Y.indices], 0.5), Y.indices, Y.indptr), Y.shape)
    best = np.asarray(known.argmax(axis=1)).ravel()
    rows = np.diff(Y.indptr) > 0
    ones = np.ones(np.count_nonzero(rows), dtype=np.float32)
    return csr_matrix((ones, (np.flatnonzero(rows), best[rows])), shape=Y.shape)
