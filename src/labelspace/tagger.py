"""Text in, label names out: any method, with the features and names that it needs around it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from labelspace import models, progress, store
from labelspace.base import Explanation, LabelRanker
from labelspace.calibration import Threshold
from labelspace.data.text.excerpts import Excerpts
from labelspace.data.text.features import TextFeatures
from labelspace.errors import DataError, ModelFileError, UsageError
from labelspace.labels import LabelEncoder
from labelspace.topk import NO_LABEL, TopK

# Texts turned into features and ranked at a time: bounds memory.
BLOCK = 4096


@dataclass(frozen=True)
class NamedReason:
    """One thing that spoke for a label.

    ``kind`` and ``weight`` are as in ``labelspace.Reason``; ``name`` is the word, the label or the
    number of the training text.
    """

    kind: str
    name: str
    weight: float


@dataclass(frozen=True)
class NamedExplanation:
    """Why a label was given: the reasons with the largest weight, largest first."""

    label: str
    score: float
    reasons: list[NamedReason]


class Tagger(store.Storable, BaseEstimator):
    """Tag texts with labels learned from tagged texts.

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
    features_ : TextFeatures
        The fitted features.
    excerpts_ : Excerpts, or None
        Beginnings of the training texts.
    label_names_ : list of str, or None
        Names of the labels; None where they were given as numbers only.

    Examples
    --------
    >>> texts = ["a red ball", "a green ball", "a red cube", "a green cube"]
    >>> labels = [["red", "round"], ["green", "round"], ["red"], ["green"]]
    >>> tagger = Tagger("most-common").fit(texts, labels)
    >>> [name for name, score in tagger.tag("a blue ball", k=2)]
    ['green', 'red']
    """

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

    def fit(
        self, texts: Iterable[str], labels: Any, label_names: Iterable[str] | None = None
    ) -> Tagger:
        """Learn from tagged texts.

        Parameters
        ----------
        texts : iterable of str
            Gone through once; need not be in memory.
        labels : list of lists of str, or one str per text
            Labels of each text. A 0-1 matrix or lists of column numbers do as well.
        label_names : iterable of str, optional
            Names of the columns, where ``labels`` are a matrix or numbers.
        """
        estimator = self._new_estimator()
        features = TextFeatures() if self.features is None else clone(self.features)
        encoder = LabelEncoder()
        Y = _learn_labels(encoder, labels, label_names)
        excerpts = Excerpts(self.keep_texts) if self.keep_texts > 0 else None
        with progress.task("Turning texts into features"):
            X = features.fit_transform(_kept(texts, excerpts))
        _check_rows(X, Y)
        # For methods that read files in which labels have names; the names stay with the tagger.
        estimator.label_names_ = encoder.names
        estimator.fit(X, Y)
        del estimator.label_names_
        self.estimator_, self.features_, self._labels = estimator, features, encoder
        self.excerpts_ = excerpts if _explains_by_examples(estimator, X) else None
        return self

    def partial_fit(
        self, texts: Iterable[str], labels: Any, label_names: Iterable[str] | None = None
    ) -> Tagger:
        """Learn more tagged texts, which may have new labels; the first call is ``fit``.

        Words that were in none of the first texts stay unknown: hashing
        (``TextFeatures(n_hashes=...)``) takes in every word.
        """
        if not hasattr(self, "estimator_"):
            return self.fit(texts, labels, label_names)
        if not hasattr(self.estimator_, "partial_fit"):
            raise UsageError(
                f"{type(self.estimator_).__name__} cannot learn on: fit it again on all texts, or "
                "use a method that can."
            )
        if not isinstance(texts, str):
            texts = list(texts)
        X = self.features_.transform(texts)
        return self.learn_rows(X, labels, label_names, list(texts))

    def learn_rows(
        self,
        X: csr_matrix,
        labels: Any,
        label_names: Iterable[str] | None = None,
        texts: Sequence[str | None] | None = None,
    ) -> Tagger:
        """Learn more rows of features, as ``features_`` makes them, like ``partial_fit``.

        ``texts`` are those that the rows were made from, where there are any.
        """
        encoder = LabelEncoder._from_state(self._labels._to_state())
        Y = _learn_labels(encoder, labels, label_names)
        _check_rows(X, Y)
        self.estimator_.partial_fit(X, Y)
        self._labels = encoder
        if self.excerpts_ is not None:
            self.excerpts_.extend(text or "" for text in texts or [None] * X.shape[0])
        return self

    def tag(
        self, text: str, k: int | None = None, threshold: Threshold = None
    ) -> list[tuple[str, float]]:
        """Return the ``k`` best labels of a text with their scores, best first.

        Fewer come back where the method finds fewer, or where ``threshold`` leaves some out.
        Both default to the method's own parameters (``k=5`` and no threshold); ``"f1"`` and
        ``"precision=0.9"`` are thresholds of methods that give probabilities.
        """
        return self.tag_many([_text(text)], k, threshold)[0]

    def tag_many(
        self, texts: Iterable[str], k: int | None = None, threshold: Threshold = None
    ) -> list[list[tuple[str, float]]]:
        """Return what ``tag`` gives for each of many texts, which is much quicker at once."""
        check_is_fitted(self, "estimator_")
        k, least = self.estimator_.limits(k, threshold)
        least = -np.inf if least is None else least
        return [
            [
                (self._name(label), score)
                for label, score in zip(labels, scores, strict=True)
                if label != NO_LABEL and score >= least
            ]
            for top in self._ranked(texts, k)
            for labels, scores in zip(top.labels.tolist(), top.scores.tolist(), strict=True)
        ]

    def predict_topk(self, texts: Iterable[str], k: int | None = None) -> TopK:
        """Return the columns of the ``k`` best labels of each text with their scores."""
        check_is_fitted(self, "estimator_")
        parts = list(self._ranked(texts, k))
        return TopK.stack(parts) if parts else TopK.empty(0, self.estimator_._asked(k))

    def predict(
        self, texts: Iterable[str], k: int | None = None, threshold: Threshold = None
    ) -> csr_matrix:
        """Return a 0-1 CSR matrix of the best labels of each text."""
        check_is_fitted(self, "estimator_")
        k, least = self.estimator_.limits(k, threshold)
        return self.predict_topk(texts, k).to_csr(self.estimator_.n_labels_, threshold=least)

    def score(self, texts: Iterable[str], labels: Any) -> float:
        """Return P@1: the share of texts (0 to 1) whose best label is right."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.score(self.features_.transform(texts), self._labels.encode(labels))

    def explain(
        self, text: str, k: int | None = None, n_reasons: int = 5
    ) -> list[NamedExplanation]:
        """Return why each of the ``k`` best labels of a text was given.

        Reasons are words of the text, labels, or training texts by their number from 0, whichever
        the method goes by.
        """
        check_is_fitted(self, "estimator_")
        if not hasattr(self.estimator_, "explain"):
            raise UsageError(
                f"{type(self.estimator_).__name__} cannot explain its answers: use a method that "
                "votes, such as knn."
            )
        X = self.features_.transform([_text(text)])
        explanations = self.estimator_.explain(X, k, n_reasons)[0]
        return [
            NamedExplanation(self._name(why.label), why.score, self._named_reasons(why))
            for why in explanations
        ]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted tagger to the folder ``path``."""
        check_is_fitted(self, "estimator_")
        store.save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Tagger:
        """Read a tagger from the folder ``path``."""
        loaded = store.load(path)
        if not isinstance(loaded, cls):
            raise ModelFileError(
                f"{path} holds {type(loaded).__name__}, which was trained on features and not on "
                "text: read it with labelspace.load."
            )
        return loaded

    @property
    def label_names_(self) -> list[str] | None:
        if not hasattr(self, "_labels"):
            raise AttributeError("label_names_ is there once the tagger is fitted")
        names = self._labels.names
        return None if names is None else [str(name) for name in names]

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

    def _ranked(self, texts: Iterable[str], k: int | None) -> Iterator[TopK]:
        if isinstance(texts, str):
            raise DataError("A single text was given where a list is needed: write [text].")
        remaining = iter(texts)
        while block := list(islice(remaining, BLOCK)):
            yield self.estimator_.predict_topk(self.features_.transform(block), k)

    def _name(self, label: int) -> str:
        names = self._labels.names
        return str(label if names is None else names[label])

    def _named_reasons(self, why: Explanation) -> list[NamedReason]:
        name_of = {"label": self._name, "feature": self.features_.name_of}
        return [
            NamedReason(reason.kind, name_of.get(reason.kind, str)(reason.id), reason.weight)
            for reason in why.reasons
        ]


def load_ranker(path: str | os.PathLike[str]) -> Tagger | LabelRanker:
    """Read a model that ranks labels; other things that can be stored are refused."""
    loaded = store.load(path)
    if not isinstance(loaded, (Tagger, LabelRanker)):
        raise ModelFileError(
            f"{path} holds {type(loaded).__name__}, which ranks no labels: give a folder that "
            "'labelspace train' made."
        )
    return loaded


def _explains_by_examples(estimator: LabelRanker, X: csr_matrix) -> bool:
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


def _kept(texts: Iterable[str], excerpts: Excerpts | None) -> Iterable[str]:
    """Return texts that leave an excerpt when they are gone through."""
    if excerpts is None or isinstance(texts, (str, bytes)) or not isinstance(texts, Iterable):
        return texts
    return excerpts.keeping(texts)


def _text(text: Any) -> str:
    if not isinstance(text, str):
        raise DataError(
            f"A text is needed, but this is of type {type(text).__name__}: give a string "
            "(tag_many takes a list of them)."
        )
    return text


def _learn_labels(
    encoder: LabelEncoder, labels: Any, label_names: Iterable[str] | None
) -> csr_matrix:
    """Encode labels; names that are given for their columns become the encoder's."""
    if isinstance(labels, Iterator):
        labels = list(labels)
    if label_names is None:
        return encoder.learn(labels)
    names = list(label_names)
    known = encoder.names or []
    if names[: len(known)] != known:
        raise DataError(
            "The label names differ from those that the tagger knows: keep them in the same order "
            "and put new ones at the end."
        )
    alone = LabelEncoder()
    Y = alone.learn(labels)
    n_labels = max(encoder.n_labels, 0 if alone.names else Y.shape[1])
    if n_labels > len(names):
        raise DataError(
            f"There are {n_labels} labels but {len(names)} label names: give one for each."
        )
    encoder.names = names
    if alone.names:
        return encoder.learn(labels)
    return encoder.learn(csr_matrix((Y.data, Y.indices, Y.indptr), shape=(Y.shape[0], len(names))))


def _check_rows(X: csr_matrix, Y: csr_matrix) -> None:
    if X.shape[0] != Y.shape[0]:
        raise DataError(
            f"There are {X.shape[0]} texts but labels for {Y.shape[0]}: give a list of labels for "
            "each text (an empty one where there are none)."
        )
