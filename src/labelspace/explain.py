"""What spoke for a label: the rows that voted for it, and the features that its classifier likes.

Shared by all methods that explain. Each function looks at one row of a question; reasons come with
the largest weight first, and what spoke against a label is no reason. ``named`` gives reasons the
names that people know them by.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_matrix, csr_matrix
from sklearn.utils.validation import check_is_fitted

from labelspace import threads
from labelspace.base import LabelRanker
from labelspace.csr import split_dense
from labelspace.data.rows import is_matrix, one_text
from labelspace.data.text.excerpts import Excerpts
from labelspace.errors import UsageError
from labelspace.explanation import Explanation, Reason
from labelspace.label_choice import LabelChoice
from labelspace.label_holder import LabelHolder
from labelspace.search.sparse import SparseIndex
from labelspace.topk import TopK


@dataclass(frozen=True)
class NamedReason:
    """One thing that spoke for a label.

    ``kind``, ``weight`` and ``id`` are as in ``labelspace.Reason``; ``name`` is the word, the
    label, or the beginning of the training text (its number where no texts are kept).
    """

    kind: str
    name: str
    weight: float
    id: int


@dataclass(frozen=True)
class NamedExplanation:
    """Why a label was given: the reasons with the largest weight, largest first.

    ``label`` is its name, ``id`` its column.
    """

    label: str
    score: float
    reasons: list[NamedReason]
    id: int


def named(why: Explanation, names: Mapping[str, Callable[[int], str]]) -> NamedExplanation:
    """Return an explanation with names, which ``names`` gives for each kind of reason.

    >>> why = Explanation(0, 0.5, [Reason("feature", 7, 0.5)])
    >>> named(why, {"label": ["red"].__getitem__}).reasons
    [NamedReason(kind='feature', name='7', weight=0.5, id=7)]
    """
    return NamedExplanation(
        names["label"](why.label),
        why.score,
        [
            NamedReason(one.kind, names.get(one.kind, str)(one.id), one.weight, one.id)
            for one in why.reasons
        ],
        why.label,
    )


def explains_by_examples(estimator: LabelRanker, X: csr_matrix) -> bool:
    """Tell whether a fitted estimator names training rows, by what it says of some of ``X``."""
    rows: Any = np.flatnonzero(np.diff(X.indptr))[:8]
    if not hasattr(estimator, "explain") or not rows.size:
        return False
    try:
        explanations = estimator.explain(X[rows], 1)
    except UsageError:  # with the parameters that it has, it cannot explain
        return False
    return any(
        reason.kind == "example" for row in explanations for why in row for reason in why.reasons
    )


class NamedExplainer(LabelHolder):
    """What a tagger says of its answers; it has the attributes of a fitted ``Tagger``."""

    features_: Any
    excerpts_: Excerpts | None
    features_of: Callable[[Any], csr_matrix]

    def explain(self, row: Any, k: int | None = None, n_reasons: int = 5) -> list[NamedExplanation]:
        """Return why each of the ``k`` best labels of a text, or of a row of features, was given.

        Reasons are words of the text (features of the row), labels, or training texts (rows by
        their number from 0 where no texts are kept), whichever the method goes by.
        """
        X = self._explainable(row)
        return [named(why, self._names) for why in self.estimator_.explain(X, k, n_reasons)[0]]

    def explain_choice(
        self, row: Any, choice: LabelChoice, n_reasons: int = 5
    ) -> list[NamedExplanation]:
        """Return the same of the labels that ``choice`` gives to a row."""
        X = self._explainable(row)
        given = choice.given(self.estimator_.predict_topk(X, choice.n_ranked), 0)
        if not given:
            return []
        labels, scores = zip(*given, strict=True)
        top = TopK(np.array([labels], dtype=np.int64), np.array([scores], dtype=np.float32))
        X = self.estimator_._checked(X, reset=False)
        with threads.limit(self.estimator_.n_threads):
            found = self.estimator_._explain(X, top, n_reasons)[0]
        return [named(why, self._names) for why in found]

    def _explainable(self, row: Any) -> csr_matrix:
        """Return a text or a row of features as features, if the method explains its answers."""
        check_is_fitted(self, "estimator_")
        if not hasattr(self.estimator_, "explain"):
            raise UsageError(
                f"{type(self.estimator_).__name__} cannot explain its answers: use a method that "
                "votes, such as knn."
            )
        return self.features_of(row if is_matrix(row) else [one_text(row)])

    @property
    def _names(self) -> dict[str, Callable[[int], str]]:
        return {
            "label": self.catalog.name,
            "feature": self.feature_name,
            "name": self.feature_name,
            "example": self.excerpt,
        }

    def feature_name(self, column: int) -> str:
        """Return the word of a feature, or its number as text."""
        if self.features_ is not None:
            return str(self.features_.name_of(column))
        names = self.estimator_.feature_names_
        return str(column if names is None else names[column])

    def excerpt(self, row: int) -> str:
        """Return the beginning of a training text, or the row's number where none is kept."""
        excerpts = self.excerpts_
        text = excerpts[row] if excerpts is not None and row < len(excerpts) else ""
        return text or str(row)


class Voters:
    """The training rows that voted on one row, each once however many learners found it.

    Parameters
    ----------
    ids, weights : ndarray of shape (n_found,)
        Rows of ``Y`` (-1 for none) and what each vote counts.
    Y : csr_matrix of shape (n_examples, n_labels)

    Examples
    --------
    >>> ids, weights = np.array([1, 0, 1]), np.array([0.5, 0.3, 0.2])
    >>> Voters(ids, weights, csr_matrix([[0, 1], [1, 1]])).reasons_for(1)
    [Reason(kind='example', id=1, weight=0.7), Reason(kind='example', id=0, weight=0.3)]
    """

    def __init__(
        self, ids: NDArray[np.integer], weights: NDArray[np.floating], Y: csr_matrix
    ) -> None:
        self.ids, self.weights = summed_weights(ids, weights)
        self._labels = csc_matrix(Y[self.ids])

    def reasons_for(self, label: int) -> list[Reason]:
        """Return the voters that have ``label``."""
        having = self._labels.indices[_column(self._labels, label)]
        return _largest_first("example", self.ids[having], self.weights[having])


class FeatureContributions:
    """The features of one row, and what each adds to the margins of labels: value × weight.

    Parameters
    ----------
    row : csr_matrix of shape (1, n_features)
    classifiers : SparseIndex
        Weights of each label.

    Examples
    --------
    >>> classifiers = SparseIndex(csr_matrix([[0.5, -1.0, 0.0], [0.0, 0.0, 1.0]]))
    >>> FeatureContributions(csr_matrix([[2.0, 1.0, 0.0]]), classifiers).reasons_for(0)
    [Reason(kind='feature', id=0, weight=1.0)]
    """

    def __init__(self, row: csr_matrix, classifiers: SparseIndex) -> None:
        self.row, self._dense, self._classifiers = row, None, classifiers
        if classifiers.dense is not None:
            self.row, self._dense = split_dense(row, classifiers.n_dense)

    def reasons_for(self, label: int) -> list[Reason]:
        """Return the features that speak for ``label``; the last, dense ones as one of them."""
        features: NDArray[Any] = self.row.indices
        parts = self.row.data * self._classifiers.weights_of(label, features)
        if self._dense is not None and self._classifiers.dense is not None:
            together = self._dense[0] @ self._classifiers.dense[:, label]
            features, parts = np.append(features, self.row.shape[1]), np.append(parts, together)
        return _largest_first("feature", features[parts > 0], parts[parts > 0])


def by_features(
    Z: csr_matrix, top: TopK, classifiers: SparseIndex, n_reasons: int
) -> list[list[Explanation]]:
    """Explain answers of linear classifiers: what each feature of a row adds to a label's score."""
    explained = []
    for row in range(len(top)):
        features = FeatureContributions(Z[row], classifiers)
        explained.append(
            [
                Explanation(label, score, features.reasons_for(label)[:n_reasons])
                for label, score in top.given(row)
            ]
        )
    return explained


def in_equal_parts(kinds: Sequence[list[Reason]], n_reasons: int) -> list[Reason]:
    """Return the largest reasons of several kinds, each kind an equal share of the whole.

    Kinds take turns, so that each has its share of the reasons, or more where another has too few.
    A kind that stands alone has the whole.

    >>> voted = [Reason("example", 7, 0.75), Reason("example", 4, 0.25)]
    >>> [(why.id, why.weight) for why in in_equal_parts([voted, [Reason("feature", 1, 2.0)]], 2)]
    [(1, 0.5), (7, 0.375)]
    """
    spoke = [kind for kind in kinds if kind]
    shares = [_normalized(kind, 1.0 / len(spoke)) for kind in spoke]
    turns = [one for turn in zip_longest(*shares) for one in turn if one is not None]
    return sorted(turns[:n_reasons], key=lambda reason: -reason.weight)


def summed_weights(
    ids: NDArray[np.integer], weights: NDArray[np.floating]
) -> tuple[NDArray[np.integer], NDArray[Any]]:
    """Return who votes, each once, and what the votes of each count together."""
    heard = (ids >= 0) & (weights > 0)
    voters, positions = np.unique(ids[heard], return_inverse=True)
    return voters, np.bincount(positions, weights[heard], voters.size)


def _column(matrix: csc_matrix, number: int) -> slice:
    return slice(matrix.indptr[number], matrix.indptr[number + 1])


def _largest_first(kind: str, ids: NDArray[Any], weights: NDArray[Any]) -> list[Reason]:
    order = np.argsort(-weights, kind="stable")
    return [Reason(kind, int(ids[at]), float(weights[at])) for at in order]


def _normalized(reasons: list[Reason], total: float) -> list[Reason]:
    whole = sum(reason.weight for reason in reasons) / total
    return [Reason(reason.kind, reason.id, reason.weight / whole) for reason in reasons]
