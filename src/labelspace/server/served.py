"""The model as the server sees it: rows in, ranked labels with names out.

A ``Tagger`` takes texts and features, a bare estimator takes features. This file hides the
difference, and that some models have names for labels and features while others only have
numbers. What is slow to make (the search index, the map) is made when it is first asked for.
"""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, vstack

from labelspace import store, threads
from labelspace.base import LabelRanker
from labelspace.data.corpus import build_csr
from labelspace.errors import UsageError
from labelspace.models import OneVsAll
from labelspace.registry import method_name
from labelspace.server.refusal import Refusal
from labelspace.server.schemas import Row
from labelspace.store import folders
from labelspace.tagger import Tagger, load_ranker
from labelspace.topk import TopK

# Made-up rows that a model ranks when it is loaded.
PROBES = 32

Identity = tuple[int, int, int]


@dataclass
class Ranked:
    """The answer to some rows, with the model that gave it: the next batch may have another."""

    served: Served
    top: TopK
    n_unknown: list[int]


class Served:
    """A loaded model with what requests need to know of it.

    Parameters
    ----------
    model : Tagger or LabelRanker
    version : str
        Changes when the model folder does.
    identity : tuple
        Tells whether the folder is still the one that was loaded.
    """

    def __init__(
        self, model: Tagger | LabelRanker, version: str = "0", identity: Identity | None = None
    ) -> None:
        self.model = model
        self.version = version
        self.identity = identity
        self.is_text = isinstance(model, Tagger)
        self.estimator: LabelRanker = model.estimator_ if isinstance(model, Tagger) else model
        self.scores = "probability"
        self._columns: dict[str, int] = {}
        self._n_named = -1
        self._feature_columns: dict[str, int] | None = None

    @staticmethod
    def load(folder: Path, n_threads: int = 1) -> Served:
        """Load a model folder and let it rank once, so that the first request does not wait."""
        store.read_manifest(folder)  # says in a sentence what is wrong with a folder
        identity, version = identity_of(folder), version_of(folder)
        served = Served(load_ranker(folder), version, identity)
        served.estimator.n_threads = None  # the batcher sets them once, for its whole thread
        with threads.limit(n_threads):
            served.warm_up()
        return served

    def warm_up(self) -> None:
        """Rank made-up rows: compiles what has to be, and shows what scores look like."""
        rng = np.random.default_rng(0)
        columns = rng.integers(self.estimator.n_features_in_, size=(PROBES, 4))
        rows = [Row(features=[(int(column), 0.5) for column in row]) for row in columns]
        scores = self.rank(rows, 5).top.scores
        scores = np.concatenate((scores, self.rank(rows[:1], 5).top.scores))
        given = scores[np.isfinite(scores)]
        outside = given.size and (given.min() < 0.0 or given.max() > 1.0 + 1e-5)
        self.scores = "score" if outside else "probability"

    def why_it_cannot_learn(self) -> str | None:
        """Return what keeps the model from learning on, such as its method, if anything does."""
        if not hasattr(self.estimator, "partial_fit"):
            return (
                f"{type(self.estimator).__name__} cannot learn on: train it again on all rows, or "
                "serve a method that can."
            )
        try:
            self.estimator._validate_params()
        except ValueError as error:  # such as a package that learning needs
            return str(error)
        return None

    @property
    def names(self) -> Sequence[Any] | None:
        """Names of the labels by number; None where the model has none."""
        if not self.is_text and getattr(self.model, "label_names_", None) is not None:
            return self.model.label_names_
        return self.model._labels.names

    def name(self, label: int) -> str:
        """Return the name of a label, or its number as text."""
        names = self.names
        return str(label) if names is None else str(names[label])

    @property
    def n_labels(self) -> int:
        """Number of labels known now; learning may add some."""
        return self.estimator.n_labels_

    def find_label(self, label: int | str) -> int | None:
        """Return the number of a label given by number or name; None if there is none such."""
        if isinstance(label, int):
            return label if label < self.n_labels else None
        names = self.names
        if names is None:
            return int(label) if _is_number(label) and int(label) < self.n_labels else None
        if self._n_named != len(names):
            self._columns = {str(name): column for column, name in enumerate(names)}
            self._n_named = len(names)
        return self._columns.get(label)

    def known_labels(self, labels: Sequence[int | str]) -> list[int]:
        """Return the numbers of labels; one that is not there is a 404."""
        found = []
        for label in labels:
            column = self.find_label(label)
            if column is None:
                shown = str(label) if len(str(label)) <= 80 else str(label)[:79] + "…"
                raise Refusal(404, f"There is no label '{shown}': see GET /v1/labels?q=.")
            found.append(column)
        return found

    @property
    def method(self) -> str:
        """Name of the method, as on the command line where it has one."""
        return method_name(type(self.estimator))

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameters of the method that are plain values."""
        plain = (str, int, float, bool, type(None))
        given = self.estimator.get_params(deep=False)
        return {name: value for name, value in given.items() if isinstance(value, plain)}

    def probability(self, score: float) -> float:
        """Return a score on a scale of 0 to 1."""
        if self.scores == "probability":
            return min(1.0, max(0.0, score))
        if isinstance(self.estimator, OneVsAll):
            # What the squared hinge loss aims at: a margin of 2p - 1 for probability p.
            return min(1.0, max(0.0, (1.0 + score) / 2.0))
        return 1.0 / (1.0 + math.exp(-max(-50.0, min(50.0, score))))

    def limits(self, k: int | None, goal: str) -> tuple[int, float]:
        """Return how many labels to give and the score that they need, for a threshold's goal."""
        try:
            k, least = self.estimator.limits(k, goal)
        except UsageError as error:
            raise Refusal(409, str(error)) from None
        return k, -math.inf if least is None else least

    def training_labels(self) -> csr_matrix | None:
        """Return the labels of the training rows, where the method keeps them."""
        return getattr(self.estimator, "Y_", None)

    def label_vectors(self) -> csr_matrix | None:
        """Return a vector for each label, where the method has them."""
        for name in ("label_vectors_", "coef_"):
            found = getattr(self.estimator, name, None)
            if found is not None and found.shape[0] == self.n_labels:
                return csr_matrix(found)
        return None

    def example(self, row: int) -> tuple[str | None, list[int]]:
        """Return the beginning of a training text and its labels, as far as they are kept."""
        kept = getattr(self.model, "excerpts_", None)
        Y = self.training_labels()
        labels = [] if Y is None else Y.indices[Y.indptr[row] : Y.indptr[row + 1]].tolist()
        return (None if kept is None or row >= len(kept) else kept[row]), labels

    def feature_name(self, column: int) -> str:
        """Return the word of a feature, or its number as text."""
        if isinstance(self.model, Tagger):
            return str(self.model.features_.name_of(column))
        names = getattr(self.model, "feature_names_", None)
        return str(column if names is None else names[column])

    def rank(self, rows: Sequence[Row], k: int) -> Ranked:
        """Return the ``k`` best labels of each row."""
        X, n_unknown = self.features(rows)
        return Ranked(self, self.estimator.predict_topk(X, k), n_unknown)

    def features(self, rows: Sequence[Row]) -> tuple[csr_matrix, list[int]]:
        """Return the rows as the estimator takes them, and how many features each lost."""
        n_unknown = [0] * len(rows)
        texts = [at for at, row in enumerate(rows) if row.text is not None]
        if len(texts) == len(rows):
            return self._transform([row.text for row in rows]), n_unknown
        others = [at for at, row in enumerate(rows) if row.text is None]
        made, lost = self._from_features([rows[at].features for at in others])
        for at, n in zip(others, lost, strict=True):
            n_unknown[at] = n
        if not texts:
            return made, n_unknown
        stacked = csr_matrix(vstack([self._transform([rows[at].text for at in texts]), made]))
        order: Any = np.argsort(np.concatenate((texts, others)), kind="stable")
        return stacked[order], n_unknown

    def _transform(self, texts: list[str]) -> csr_matrix:
        if not isinstance(self.model, Tagger):
            raise Refusal(422, "This model was trained on features: give 'features', not 'text'.")
        return self.model.features_.transform(texts)

    def _from_features(self, rows: list[Any]) -> tuple[csr_matrix, list[int]]:
        n_features = self.estimator.n_features_in_
        columns: list[int] = []
        values: list[float] = []
        ends, lost = [0], []
        for row in rows:
            n_unknown = 0
            for key, value in row.items() if isinstance(row, dict) else row:
                column = self._feature_column(key)
                if column is None or column >= n_features:
                    n_unknown += 1
                else:
                    columns.append(column)
                    values.append(value)
            ends.append(len(columns))
            lost.append(n_unknown)
        X = build_csr(
            np.array(values, dtype=np.float32),
            np.array(columns, dtype=np.int32),
            np.array(ends, dtype=np.int64),
            n_features,
        )
        X.sum_duplicates()
        return X, lost

    def _feature_column(self, key: int | str) -> int | None:
        if isinstance(key, int):
            return key
        if self._feature_columns is None:
            self._feature_columns = self._named_features()
        column = self._feature_columns.get(key)
        return int(key) if column is None and _is_number(key) else column

    def _named_features(self) -> dict[str, int]:
        if isinstance(self.model, Tagger):
            return getattr(self.model.features_, "vocabulary_", {})
        names = getattr(self.model, "feature_names_", None)
        return {str(name): column for column, name in enumerate(names or ())}


def identity_of(folder: Path) -> Identity:
    """Return what changes when a folder's model is replaced."""
    found = os.stat(folder / folders.MANIFEST)
    return found.st_ino, found.st_mtime_ns, found.st_size


def version_of(folder: Path) -> str:
    """Return a short name for the model in a folder, the same for the same model."""
    return hashlib.sha256((folder / folders.MANIFEST).read_bytes()).hexdigest()[:12]


def _is_number(key: str) -> bool:
    return key.isascii() and key.isdigit() and len(key) < 11
