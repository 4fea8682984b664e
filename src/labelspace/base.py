"""What every method can do: learn, rank labels, explain, learn on, and be saved.

A method is a ``LabelRanker`` that fills in ``_fit`` and ``_predict_topk`` (and ``_partial_fit``,
``_explain`` where it can). The base checks the input, turns labels into CSR, limits threads and
keeps what evaluation needs, so that a model file holds nothing but its algorithm.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from labelspace import metrics, store, threads
from labelspace.calibration import Calibration, Threshold, checked_threshold
from labelspace.csr import NamedColumns, as_given, canonical
from labelspace.errors import DataError, UsageError
from labelspace.explanation import Explanation
from labelspace.frames import feature_frame, is_frame
from labelspace.labels import LabelEncoder
from labelspace.parameters import (
    ESTIMATOR_SCHEMA,
    CorpusShape,
    Settings,
    check_settings,
    limited,
    real,
    resolve_settings,
    split_state,
    whole,
)
from labelspace.partial_labels import rejected_labels
from labelspace.responses import Responses
from labelspace.store import schema
from labelspace.topk import NO_LABEL, TopK

# Labels of a row at most where a threshold alone decides, and in any case.
MOST_GIVEN, MOST_ASKED = 100, 1_000_000
_FORM: dict[str, Any] = {"accept_sparse": "csr", "accept_large_sparse": True, "dtype": np.float32}

Ranker = TypeVar("Ranker", bound="LabelRanker")


def _has(hook: str) -> Any:
    """Show a method only on estimators that fill in ``hook``."""
    return available_if(lambda self: getattr(type(self), hook) is not getattr(LabelRanker, hook))


class LabelRanker(Responses, store.Storable, ClassifierMixin, BaseEstimator):
    """Base of all estimators.

    Parameters
    ----------
    k : int, default=5
        How many labels ``predict`` gives a row at most.
    threshold : float or str, optional
        Score below which ``predict`` leaves a label out. Methods that give probabilities also take
        ``"f1"``, the threshold that had the best F1 on rows held out in training, and
        ``"precision=0.9"``, the lowest that had it (or ``"recall=0.8"``); ``k`` counts where given.
    random_state : int, RandomState or None
        Seed of everything random in ``fit``.
    n_threads : int, optional
        Threads to use; all cores unless given.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels_,)
        Names of the labels, or their column numbers.
    n_labels_, n_features_in_, n_examples_ : int
    label_counts_ : ndarray of shape (n_labels_,)
        How many training rows have each label.
    feature_names_ : list of str, or None
        Names of the features, where they came with them. A model that the command line trained
        has ``provenance_`` beside it: its corpus, the date, and figures on other rows.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "k": [whole(1, MOST_ASKED)],
        "threshold": [real(), str, None],
        "random_state": ["random_state"],
        "n_threads": [whole(1, threads.MOST), None],
    }
    _schema: ClassVar[schema.Schema] = ESTIMATOR_SCHEMA
    # Whether scores are measured on rows held out; names of labels and ``rejected`` are taken.
    _is_calibrated: ClassVar[bool] = False
    takes_label_features: ClassVar[bool] = False
    takes_partial_labels: ClassVar[bool] = False
    reads_sequences: ClassVar[bool] = False  # texts come as words in order, not as weights
    settings_type: ClassVar[type[Settings] | None] = None  # what else a method can be told

    def __init__(
        self,
        *,
        k: int = 5,
        threshold: Threshold = None,
        random_state: Any = None,
        n_threads: int | None = None,
    ) -> None:
        self.k = k
        self.threshold = threshold
        self.random_state = random_state
        self.n_threads = n_threads

    def fit(self: Ranker, X: Any, Y: Any) -> Ranker:
        """Learn from examples.

        Rows and labels may come with names of their columns, as ``labelspace.NamedColumns`` or as
        frames of pandas, polars or pyarrow; labels may be a column of such a frame as well.

        Parameters
        ----------
        X : sparse or dense array of shape (n_examples, n_features)
        Y : 0-1 matrix (n_examples, n_labels), list of label lists, or one class per row
        """
        return self._learn(X, Y)

    def _learn(self: Ranker, X: Any, Y: Any, **more: Any) -> Ranker:
        """Check the input of ``fit`` and learn from it, or not at all; ``_fit`` gets ``more``."""
        self._validate_params()
        self._check_goal(self.threshold)
        before = dict(vars(self))
        try:
            X = self._checked(X, reset=True)
            self._labels = LabelEncoder()
            Y = self._labels.learn(Y, X.shape[0])
            if not Y.nnz:
                raise DataError("There is no label to learn: give the labels of some rows.")
            self._set_label_counts(np.zeros(0, dtype=np.int64), 0, Y)
            with threads.limit(self.n_threads, n_blas=1):
                self._fit(X, Y, **more)
        except BaseException:
            # Half a model must not answer: it is as if fit had not been called.
            self.__dict__ = before
            raise
        return self

    @_has("_partial_fit")
    def partial_fit(self, X: Any, Y: Any, classes: Any = None, rejected: Any = None) -> Any:
        """Learn on from new rows, which may have new labels; the first call is ``fit``.

        Where ``rejected`` is given, like ``Y``, labels that a row has in neither are unknown.
        """
        return self._learn_on(X, Y, rejected)

    def _learn_on(self: Ranker, X: Any, Y: Any, rejected: Any = None, **more: Any) -> Ranker:
        """Check the input of ``partial_fit`` and learn from it, or not at all."""
        if not hasattr(self, "_labels"):
            return self._learn(X, Y, **more)
        self._validate_params()
        X = self._checked(X, reset=False)
        with self._all_or_nothing():
            Y = self._labels.learn(Y, X.shape[0])
            more |= rejected_labels(self, rejected, Y)
            self._set_label_counts(self.label_counts_, self.n_examples_, Y)
            with threads.limit(self.n_threads, n_blas=1):
                self._partial_fit(X, Y, **more)
        return self

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Go back to what was there before where the block fails."""
        before = vars(store.snapshot(self))
        try:
            yield
        except BaseException:
            self.__dict__ = before
            raise

    def predict_topk(self, X: Any, k: int | None = None) -> TopK:
        """Return the ``k`` best labels of each row with their scores, best first."""
        check_is_fitted(self, "_labels")
        k = self._asked(k)
        X = self._checked(X, reset=False, least=0)
        if not X.shape[0]:
            return TopK.empty(0, k)
        with threads.limit(self.n_threads):
            return self._predict_topk(X, min(k, self.n_labels_)).of_numbers().padded(k)

    def predict(self, X: Any, k: int | None = None, threshold: Threshold = None) -> Any:
        """Return a 0-1 CSR matrix of the best labels, or classes if one per row was learned.

        It is a ``csr_array`` where labels came as such. At most ``k`` labels a row, those scored
        at least ``threshold`` if it is given; both default to the estimator's parameters.
        """
        check_is_fitted(self, "_labels")
        k, least = (1, None) if self._labels.kind == "classes" else self.limits(k, threshold)
        return self.chosen(self.predict_topk(X, k), least)

    def chosen(self, top: TopK, least: float | None = None) -> Any:
        """Return a ranking as ``predict`` gives it: labels scored ``least`` or more, or classes."""
        if self._labels.kind == "classes":
            best = top.labels[:, 0]
            most_common = int(np.argmax(self.label_counts_))
            return self.classes_[np.where(best == NO_LABEL, most_common, best)]
        return as_given(top.to_csr(self.n_labels_, threshold=least), self._labels.is_array)

    def limits(self, k: int | None = None, threshold: Threshold = None) -> tuple[int, float | None]:
        """Return how many labels ``predict`` gives at most, and the score that they need.

        Both default to the estimator's parameters. A threshold that is named by its goal decides
        how many labels a row gets, so that ``k`` counts only where it is given here.
        """
        threshold = checked_threshold(self.threshold if threshold is None else threshold)
        if not isinstance(threshold, str):
            return self._asked(k), threshold
        self._check_goal(threshold)
        calibration: Calibration = self.calibration_
        return (MOST_GIVEN if k is None else self._asked(k)), calibration.threshold_for(threshold)

    def score(self, X: Any, y: Any) -> float:
        """Return P@1: the share of rows (0 to 1) whose best label is right.

        The labels are called ``y`` here since scikit-learn passes them by that name.
        """
        top = self.predict_topk(X, 1)
        return metrics.evaluate(self._labels.encode(y, len(top)), top, ks=(1,))["P@1"] / 100.0

    @_has("_explain")
    def explain(self, X: Any, k: int | None = None, n_reasons: int = 5) -> list[list[Explanation]]:
        """Return for each row why each of its ``k`` best labels was given.

        A label has ``n_reasons`` reasons at most.
        """
        if not isinstance(n_reasons, Integral) or n_reasons < 0:
            raise UsageError(
                f"n_reasons is {n_reasons!r}, but it counts reasons: give a whole number from 0."
            )
        top = self.predict_topk(X, k)
        X = self._checked(X, reset=False, least=0)
        with threads.limit(self.n_threads):
            return self._explain(X, top, n_reasons) if len(top) else []

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted estimator to the folder ``path``."""
        check_is_fitted(self, "_labels")
        store.save(self, path)

    @property
    def classes_(self) -> NDArray[Any]:
        if not hasattr(self, "_labels"):
            raise AttributeError("classes_ is there once the estimator is fitted")
        return self._labels.classes

    @property
    def gives_probabilities(self) -> bool:
        """Whether a score is the probability that the label is right."""
        return False

    @property
    def n_labels_(self) -> int:
        return self._labels.n_labels

    def _fit(self, X: csr_matrix, Y: csr_matrix) -> None:
        """Learn from checked input: float32 CSR, indices sorted, no duplicates."""
        raise NotImplementedError

    def _predict_topk(self, X: csr_matrix, k: int) -> TopK:
        """Rank labels for checked input; ``k`` is at most the number of labels."""
        raise NotImplementedError

    def _partial_fit(self, X: csr_matrix, Y: csr_matrix) -> None:
        """Learn on; ``Y`` has ``n_labels_`` columns, of which the last may be new."""
        raise NotImplementedError

    def _explain(self, X: csr_matrix, top: TopK, n_reasons: int) -> list[list[Explanation]]:
        """Say why each label of ``top`` (-1: none, give nothing for it) was given."""
        raise NotImplementedError

    def _filled(self, top: TopK) -> TopK:
        """Give rows without an answer the most frequent labels: for methods that may find none."""
        silent = top.labels[:, 0] == NO_LABEL
        if silent.any():
            frequent = np.argsort(-self.label_counts_, kind="stable")[: top.k]
            top.labels[silent] = frequent
            top.scores[silent] = self.label_counts_[frequent] / max(self.n_examples_, 1)
        return top

    def _check_goal(self, threshold: Threshold) -> None:
        threshold = checked_threshold(threshold)
        if isinstance(threshold, str) and not self._is_calibrated:
            raise UsageError(
                f"threshold={threshold!r} needs scores measured on rows held out, which "
                f"{type(self).__name__} has not: give a number, or use a method that has them, "
                "such as labelspace."
            )

    def _validate_params(self) -> None:
        super()._validate_params()
        if self.settings_type is not None:
            check_settings(self.settings_type, getattr(self, "settings", None), type(self).__name__)

    def _resolved(self, X: csr_matrix, Y: csr_matrix, n_dense: int = 0) -> Any:
        """Return the settings for a corpus, whose last ``n_dense`` columns all rows have.

        The longer part counts, and sixteen numbers of a vector as a word: vectors change nothing.
        """
        assert self.settings_type is not None
        n_in_vectors = n_dense * X.shape[0]
        n_entries = max(X.nnz - n_in_vectors, n_in_vectors // 16)
        shape = CorpusShape(X.shape[0], X.shape[1], Y.shape[1], n_entries)
        return resolve_settings(self.settings_type, self, shape)

    @classmethod
    def _check_state(cls, state: schema.State, sizes: schema.Sizes) -> None:
        """Ask of stored parameters what is asked of those that are given, and then of the rest."""
        made, learned = split_state(cls, state)
        LabelRanker._validate_params(made)  # without what only learning needs
        if learned:
            super()._check_state(learned, sizes)

    def _asked(self, k: int | None) -> int:
        k = self.k if k is None else k
        if not isinstance(k, Integral) or k < 1:
            raise UsageError(f"k is {k!r}, but it counts labels: give a whole number from 1.")
        return int(k)

    def _checked(self, X: Any, *, reset: bool, least: int = 1) -> csr_matrix:
        names = None
        if isinstance(X, NamedColumns):
            X, names = X.values, list(X.names)
        elif is_frame(X):
            X, names = feature_frame(X, None if reset else vars(self)["feature_names_"])
        X = validate_data(self, X, reset=reset, ensure_min_samples=least, **_FORM)
        if names is not None and len(names) != X.shape[1]:
            what = f"There are {X.shape[1]} features but {len(names)} names of features"
            raise DataError(f"{what}: give one for each.")
        if reset:
            self.feature_names_ = names
        return limited(canonical(csr_matrix(X)))

    def _set_label_counts(self, before: NDArray[np.int64], n_before: int, Y: csr_matrix) -> None:
        counts = np.bincount(Y.indices, minlength=Y.shape[1]).astype(np.int64)
        counts[: before.size] += before
        self.label_counts_ = counts
        self.n_examples_ = n_before + Y.shape[0]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = True
        return tags
