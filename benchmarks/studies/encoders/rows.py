"""Texts of the corpora, and the figures of rankings, for all parts of the study."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from benchmarks.corpora import data_home
from benchmarks.studies.study import Figures
from labelspace import metrics
from labelspace.data import Corpus, read_corpus
from labelspace.topk import TopK

LARGEST = 10  # labels of a row that are ranked


def read(corpus: str, part: str, n_labels: int | None = None) -> Corpus:
    """Return the texts and labels of a part of a corpus."""
    return read_corpus(data_home() / corpus / f"{part}.tsv.xz", n_labels=n_labels)


def texts_of(corpus: Corpus, rows: NDArray[np.int64]) -> list[str]:
    """Return the texts of some rows."""
    texts = corpus.texts or []
    return [texts[row] for row in rows]


def ranking_figures(truth: Any, top: TopK, counts: Any, n_examples: int) -> Figures:
    """Return P@k, nDCG@k and PSP@k in percent, recall@5, and F1@5 between 0 and 1."""
    Y = csr_matrix(truth)
    Y = csr_matrix((Y.data, Y.indices, Y.indptr), shape=(Y.shape[0], len(counts)))
    told: Any = {"label_counts": counts, "n_examples": n_examples}
    figures: Figures = dict(metrics.evaluate(Y, top, ks=(1, 3, 5, LARGEST), **told))
    hits = _hits(Y, top.labels[:, :5])
    n_true = np.diff(Y.indptr)
    figures["F1@5"] = float(np.mean(2 * hits / (5 + n_true)))
    figures["recall@5"] = 100 * float(np.mean(hits / np.maximum(n_true, 1)))
    return figures


def _hits(Y: csr_matrix, labels: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return how many of the labels given to each row are right."""
    rows = np.repeat(np.arange(len(labels)), labels.shape[1])
    right = np.asarray(Y[rows, np.maximum(labels, 0).ravel()]).reshape(labels.shape) > 0
    return (right & (labels >= 0)).sum(axis=1).astype(np.float64)
