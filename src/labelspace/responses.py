"""Scores of all labels in one matrix, as scikit-learn's scorers and meta-estimators ask for them.

A ranking has the best labels of a row; ``decision_function`` and ``predict_proba`` give every label
its column instead: dense for few labels, and for many a sparse matrix of the best of each row.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, csr_matrix
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from labelspace.csr import as_given
from labelspace.topk import NO_LABEL, TopK

# Up to so many labels a matrix of rows × labels is dense.
FEW_LABELS = 2000
# Labels of a row that a sparse matrix has.
MOST_RANKED = 100


class Responses:
    """What an estimator that ranks labels answers for all labels at once."""

    # Whether a score says how well a label fits.
    _scores_say_something: ClassVar[bool] = True

    @available_if(lambda self: self._scores_say_something)
    def decision_function(self: Any, X: Any) -> Any:
        """Return the score of every label for each row, larger for labels that fit better.

        An array of shape (n, n_labels) for up to 2,000 labels, where labels that the method does
        not rank have 0, or 1 less than the row's lowest score where that is not above 0; for more
        labels a CSR matrix that has the scores of the 100 best labels of each row. Where one class
        per row was learned, and there are two, an array of shape (n,) that is above 0 for the
        second.
        """
        if self.gives_probabilities and _learned_classes(self):
            scores = self.predict_proba(X)
        else:
            scores = _scores(self, X, is_probability=self.gives_probabilities)
        if _learned_classes(self) and self.n_labels_ == 2:
            return scores[:, 1] - scores[:, 0]
        return scores

    @available_if(lambda self: self.gives_probabilities)
    def predict_proba(self: Any, X: Any) -> Any:
        """Return the probability of every label for each row: methods whose scores are such.

        Shaped like ``decision_function``; labels that the method does not rank have 0. Where one
        class per row was learned, the probabilities of a row add up to 1.
        """
        scores = _scores(self, X, is_probability=True)
        if not _learned_classes(self):
            return scores
        if isinstance(scores, (csr_matrix, csr_array)):
            sums = np.asarray(scores.sum(axis=1)).ravel()
            scores.data /= np.repeat(np.where(sums > 0, sums, 1.0), np.diff(scores.indptr))
            return scores
        sums = scores.sum(axis=1, keepdims=True)
        return scores / np.where(sums > 0, sums, 1.0)


class TaggerResponses:
    """The same for texts: what the estimator of a tagger answers to their features."""

    @available_if(lambda self: hasattr(self.estimator_, "decision_function"))
    def decision_function(self: Any, rows: Any) -> Any:
        """Return the score of every label for each row, as the estimator gives them."""
        return self.estimator_.decision_function(self.features_of(rows))

    @available_if(lambda self: self.estimator_.gives_probabilities)
    def predict_proba(self: Any, rows: Any) -> Any:
        """Return the probability of every label for each row, where the method has them."""
        return self.estimator_.predict_proba(self.features_of(rows))


def _learned_classes(estimator: Any) -> bool:
    return hasattr(estimator, "_labels") and estimator._labels.kind == "classes"


def _scores(estimator: Any, X: Any, *, is_probability: bool) -> Any:
    check_is_fitted(estimator, "_labels")
    n_labels: int = estimator.n_labels_
    if n_labels > FEW_LABELS:
        ranked = sparse_scores(estimator.predict_topk(X, MOST_RANKED), n_labels)
        return as_given(ranked, estimator._labels.is_array)
    scores = dense_scores(estimator.predict_topk(X, n_labels), n_labels, is_probability)
    if _learned_classes(estimator):
        # A row that no label was found for gets the most frequent class, as in predict.
        silent = ~scores.any(axis=1)
        scores[silent] = estimator.label_counts_ / estimator.label_counts_.sum()
    return scores


def dense_scores(top: TopK, n_labels: int, is_probability: bool) -> NDArray[np.float64]:
    """Return an answer as an array (n, n_labels).

    >>> top = TopK(np.array([[1, -1], [0, 1]]), np.array([[0.5, -np.inf], [0.1, -2.0]]))
    >>> dense_scores(top, 3, is_probability=False)
    array([[ 0. ,  0.5,  0. ],
           [ 0.1, -2. , -3. ]])
    """
    given = top.labels != NO_LABEL
    known = np.where(given, top.scores.astype(np.float64), np.inf)
    lowest = known.min(axis=1, initial=np.inf)
    floor = np.where((lowest > 0) | is_probability, 0.0, lowest - 1.0)
    scores = np.repeat(floor[:, None], n_labels, axis=1)
    rows = np.nonzero(given)[0]
    scores[rows, top.labels[given]] = top.scores[given]
    return scores


def sparse_scores(top: TopK, n_labels: int) -> csr_matrix:
    """Return an answer as a CSR matrix (n, n_labels) of its scores."""
    given = top.labels != NO_LABEL
    indptr = np.concatenate(([0], np.cumsum(given.sum(axis=1))))
    shape = (len(top), n_labels)
    scores = csr_matrix((top.scores[given], top.labels[given], indptr), shape=shape)
    scores.sort_indices()
    return scores
