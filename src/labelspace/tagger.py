"""The facade: texts or features in, named labels out, whatever the method.

Command line and server go through a ``Tagger``. One that learned from texts holds the fitted text
features as well; one that learned from features is, and is stored as, its estimator.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from labelspace import models, progress, store
from labelspace.base import LabelRanker
from labelspace.calibration import Threshold
from labelspace.csr import NamedColumns
from labelspace.data.rows import count_rows, is_matrix, one_text, row_blocks
from labelspace.data.text.excerpts import Excerpts, kept
from labelspace.data.text.features import TextFeatures
from labelspace.errors import DataError, ModelFileError, UsageError
from labelspace.explain import NamedExplanation, explains_by_examples, named
from labelspace.labels import LabelEncoder
from labelspace.topk import TopK

# Rows turned into features and ranked at a time: bounds memory, and lets progress be seen.
BLOCK = 4096


class Tagger(store.Storable, BaseEstimator):
    """Tag texts, or rows of features, with labels learned from tagged ones.

    Parameters
    ----------
    method : str or estimator, optional
        Name of a method (see ``labelspace methods``) or an estimator of ``labelspace.models``;
        the default method if not given.
    features : TextFeatures, optional
        How texts become features.
    keep_texts : int, default=200
        Characters kept of each training text where the method explains its answers by examples,
        so that an explanation can show them; 0 keeps none.
    **parameters
        Parameters of the method, such as ``n_threads=1``.

    Attributes
    ----------
    estimator_ : LabelRanker
        The fitted method.
    features_ : TextFeatures, or None
        The fitted text features; None where it learned from features.
    excerpts_ : Excerpts, or None
        Beginnings of the training texts.
    labels_ : LabelEncoder
        The labels: their names, and the column of each.
    label_names_ : list of str, or None
        Names of the labels; None where they were given as numbers only.
    fields_ : Fields, or None
        Columns of the table that it learned from, by which the command line reads others.

    Examples
    --------
    >>> texts = ["a red ball", "a green ball", "a red cube", "a green cube"]
    >>> labels = [["red", "round"], ["green", "round"], ["red"], ["green"]]
    >>> tagger = Tagger("most-common").fit(texts, labels)
    >>> [name for name, score in tagger.tag("a blue ball", k=2)]
    ['green', 'red']
    """

    fields_: Any = None

    def __init__(
        self,
        method: str | LabelRanker | None = None,
        *,
        features: TextFeatures | None = None,
        keep_texts: int = 200,
        **parameters: Any,
    ) -> None:
        self.method = method
        self.features = features
        self.keep_texts = keep_texts
        self.parameters = parameters

    def fit(self, rows: Any, labels: Any, label_names: Iterable[str] | None = None) -> Tagger:
        """Learn from tagged texts or from tagged rows of features.

        Parameters
        ----------
        rows : iterable of str, or matrix of shape (n_rows, n_features)
            Texts are gone through once and need not be in memory. A matrix is sparse or a 2-d
            array; ``labelspace.NamedColumns`` gives names to its features.
        labels : list of lists of str, or one str per row
            Labels of each row. A 0-1 matrix or lists of column numbers do as well.
        label_names : iterable of str, optional
            Names of the columns, where ``labels`` are a matrix or numbers.
        """
        estimator = self._new_estimator()
        encoder = LabelEncoder()
        Y: Any = encoder.learn(_with_names(labels, label_names))
        features = excerpts = None
        if not is_matrix(rows):
            features = TextFeatures() if self.features is None else clone(self.features)
            excerpts = Excerpts(self.keep_texts) if self.keep_texts > 0 else None
            with progress.task("Turning texts into features"):
                rows = features.fit_transform(kept(rows, excerpts))
            _check_texts(rows, Y)
        estimator.fit(rows, Y if encoder.names is None else NamedColumns(Y, encoder.names))
        self.estimator_, self.features_ = estimator, features
        self.excerpts_ = None
        if excerpts is not None and explains_by_examples(estimator, rows):
            self.excerpts_ = excerpts
        return self

    def partial_fit(
        self, rows: Any, labels: Any, label_names: Iterable[str] | None = None
    ) -> Tagger:
        """Learn more tagged rows, which may have new labels; the first call is ``fit``.

        Words that were in none of the first texts stay unknown: hashing
        (``TextFeatures(n_hashes=...)``) takes in every word.
        """
        if not hasattr(self, "estimator_"):
            return self.fit(rows, labels, label_names)
        if why := self.why_it_cannot_learn():
            raise UsageError(why)
        texts = None if is_matrix(rows) or isinstance(rows, str) else list(rows)
        X = self.features_of(rows if texts is None else texts)
        return self.learn_rows(X, labels, label_names, texts)

    def learn_rows(
        self,
        X: Any,
        labels: Any,
        label_names: Iterable[str] | None = None,
        texts: Sequence[str | None] | None = None,
    ) -> Tagger:
        """Learn more rows of features, as ``features_of`` gives them, like ``partial_fit``.

        ``texts`` are those that the rows were made from, where there are any.
        """
        self.estimator_.partial_fit(X, _with_names(labels, label_names))
        if self.excerpts_ is not None:
            self.excerpts_.extend(text or "" for text in texts or [None] * (count_rows(X) or 0))
        return self

    def why_it_cannot_learn(self) -> str | None:
        """Return what keeps the tagger from learning on, such as its method, if anything does."""
        if not hasattr(self.estimator_, "partial_fit"):
            return (
                f"{type(self.estimator_).__name__} cannot learn on: train it again on all rows, or "
                "use a method that can."
            )
        try:
            self.estimator_._validate_params()
        except ValueError as error:  # such as a package that learning needs
            return str(error)
        return None

    def tag(
        self, text: str, k: int | None = None, threshold: Threshold = None
    ) -> list[tuple[str, float]]:
        """Return the ``k`` best labels of a text with their scores, best first.

        Fewer come back where the method finds fewer, or where ``threshold`` leaves some out.
        Both default to the method's own parameters (``k=5`` and no threshold); ``"f1"`` and
        ``"precision=0.9"`` are thresholds of methods that give probabilities.
        """
        return self.tag_many([one_text(text)], k, threshold)[0]

    def tag_many(
        self, rows: Any, k: int | None = None, threshold: Threshold = None
    ) -> list[list[tuple[str, float]]]:
        """Return what ``tag`` gives for each of many rows, which is much quicker at once."""
        check_is_fitted(self, "estimator_")
        k, least = self.limits(k, threshold)
        return [
            [(self.labels_.name(label), score) for label, score in top.given(row, least)]
            for top in self.ranked(rows, k)
            for row in range(len(top))
        ]

    def predict_topk(self, rows: Any, k: int | None = None) -> TopK:
        """Return the columns of the ``k`` best labels of each row with their scores."""
        check_is_fitted(self, "estimator_")
        n_rows = count_rows(rows)
        doing = "Ranking labels" if n_rows is None else f"Ranking labels for {n_rows:,} rows"
        parts = []
        with progress.task(doing, n_rows) as advance:
            for part in self.ranked(rows, k):
                parts.append(part)
                advance(len(part))
        return TopK.stack(parts) if parts else TopK.empty(0, self.estimator_._asked(k))

    def ranked(self, rows: Any, k: int | None = None, block: int = BLOCK) -> Iterator[TopK]:
        """Yield what ``predict_topk`` gives, ``block`` rows at a time, as soon as they are read."""
        if not is_matrix(rows):
            self._check_takes_text()
        blocks = row_blocks(rows, block)
        return (self.estimator_.predict_topk(self.features_of(part), k) for part in blocks)

    def predict(self, rows: Any, k: int | None = None, threshold: Threshold = None) -> csr_matrix:
        """Return a 0-1 CSR matrix of the best labels of each row."""
        check_is_fitted(self, "estimator_")
        k, least = self.limits(k, threshold)
        return self.predict_topk(rows, k).to_csr(self.estimator_.n_labels_, threshold=least)

    def limits(self, k: int | None = None, threshold: Threshold = None) -> tuple[int, float | None]:
        """Return how many labels are given at most, and the score that they need."""
        return self.estimator_.limits(k, threshold)

    def score(self, rows: Any, labels: Any) -> float:
        """Return P@1: the share of rows (0 to 1) whose best label is right."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.score(self.features_of(rows), labels)

    def explain(self, row: Any, k: int | None = None, n_reasons: int = 5) -> list[NamedExplanation]:
        """Return why each of the ``k`` best labels of a text, or of a row of features, was given.

        Reasons are words of the text (features of the row), labels, or training rows by their
        number from 0, whichever the method goes by.
        """
        check_is_fitted(self, "estimator_")
        if not hasattr(self.estimator_, "explain"):
            raise UsageError(
                f"{type(self.estimator_).__name__} cannot explain its answers: use a method that "
                "votes, such as knn."
            )
        X = self.features_of(row if is_matrix(row) else [one_text(row)])
        names = {"label": self.labels_.name, "feature": self.feature_name}
        return [named(why, names) for why in self.estimator_.explain(X, k, n_reasons)[0]]

    def features_of(self, rows: Any) -> csr_matrix:
        """Return rows as the estimator takes them: texts as their features, a matrix as it is."""
        if is_matrix(rows):
            return rows
        self._check_takes_text()
        assert self.features_ is not None
        return self.features_.transform(rows)

    def feature_name(self, column: int) -> str:
        """Return the word of a feature, or its number as text."""
        if self.features_ is not None:
            return str(self.features_.name_of(column))
        names = self.estimator_.feature_names_
        return str(column if names is None else names[column])

    @property
    def takes_text(self) -> bool:
        """Whether it learned from texts; if not, it takes features only."""
        return self.features_ is not None

    @property
    def labels_(self) -> LabelEncoder:
        if not hasattr(self, "estimator_"):
            raise AttributeError("labels_ is there once the tagger is fitted")
        return self.estimator_._labels

    @property
    def label_names_(self) -> list[str] | None:
        names = self.labels_.names
        return None if names is None else [str(name) for name in names]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted tagger to the folder ``path``.

        One of features is written as its estimator, which holds all names already.
        """
        check_is_fitted(self, "estimator_")
        store.save(self if self.takes_text else self.estimator_, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Tagger:
        """Read a tagger from the folder ``path``; an estimator there becomes one of features."""
        loaded = store.load(path)
        if isinstance(loaded, cls):
            return loaded
        if isinstance(loaded, LabelRanker):
            return cls.around(loaded)
        raise ModelFileError(
            f"{path} holds {type(loaded).__name__}, which ranks no labels: give a folder that "
            "'labelspace train' made."
        )

    @classmethod
    def around(cls, estimator: LabelRanker) -> Tagger:
        """Return a tagger of features around a fitted estimator."""
        made = cls(estimator)
        made.estimator_, made.features_, made.excerpts_ = estimator, None, None
        return made

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the tagger's own parameters and those given for the method."""
        shown: dict[str, Any] = {
            "method": self.method,
            "features": self.features,
            "keep_texts": self.keep_texts,
        }
        for name, part in list(shown.items()):
            if deep and isinstance(part, BaseEstimator):
                shown |= {f"{name}__{key}": value for key, value in part.get_params().items()}
        return shown | self.parameters

    def set_params(self, **parameters: Any) -> Tagger:
        """Set parameters of the tagger, its method or (``features__ngrams=2``) its features."""
        for name, value in parameters.items():
            owner, nested, key = name.partition("__")
            if nested and owner == "features" and self.features is None:
                self.features = TextFeatures()
            if nested and owner in ("method", "features"):
                getattr(self, owner).set_params(**{key: value})
            elif name in ("method", "features", "keep_texts"):
                setattr(self, name, value)
            else:
                self.parameters = {**self.parameters, name: value}
        return self

    def _new_estimator(self) -> LabelRanker:
        if self.method is None or isinstance(self.method, str):
            return models.make(self.method or models.DEFAULT_METHOD, **self.parameters)
        if not isinstance(self.method, LabelRanker):
            raise UsageError(
                f"method is a {type(self.method).__name__}, which is no method: give a name such "
                f"as '{models.DEFAULT_METHOD}' or an estimator of labelspace.models."
            )
        return clone(self.method).set_params(**self.parameters)

    def _check_takes_text(self) -> None:
        if not self.takes_text:
            raise UsageError(
                "This model was trained on features, so it cannot take text: give rows with the "
                f"same {self.estimator_.n_features_in_:,} features."
            )


def _with_names(labels: Any, label_names: Iterable[str] | None) -> Any:
    if isinstance(labels, Iterator):
        labels = list(labels)
    return labels if label_names is None else NamedColumns(labels, list(label_names))


def _check_texts(X: csr_matrix, Y: csr_matrix) -> None:
    if X.shape[0] != Y.shape[0]:
        raise DataError(
            f"There are {X.shape[0]} texts but labels for {Y.shape[0]}: give a list of labels for "
            "each text (an empty one where there are none)."
        )
