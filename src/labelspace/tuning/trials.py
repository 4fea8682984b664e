"""A trial: a configuration learns from some of the rows and is measured on rows held out."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.base import clone

from labelspace import metrics, models, progress, selection, threads
from labelspace.base import LabelRanker
from labelspace.csr import NamedColumns, canonical
from labelspace.data.formats.streamed import taken
from labelspace.data.rows import is_matrix, plain
from labelspace.data.text.features import TextFeatures
from labelspace.data.text.transformers import features_for
from labelspace.errors import DataError, UsageError
from labelspace.label_names import LabelNames
from labelspace.parameters import CorpusShape, resolve_settings
from labelspace.tagger import Tagger
from labelspace.tagger_setup import label_features, learn_features
from labelspace.topk import TopK
from labelspace.tuning.blend import Blend
from labelspace.tuning.choose import Chosen
from labelspace.tuning.mixture import N_CANDIDATES, Mixture
from labelspace.tuning.space import Configuration

HELD_OUT = 0.2
MOST_HELD_OUT = 4000
SHOWN = ("P@1", "P@3", "P@5")

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Trained:
    """What came of a trial, and the seconds that learning took, with those of text features."""

    figures: dict[str, float]
    answer: TopK
    seconds: float


class Trials:
    """Trials on one corpus.

    Parameters
    ----------
    rows : matrix, or sequence of str
    Y : csr_matrix
        Their labels.
    held_out : ndarray, optional
        Rows that trials are measured on; a fifth of those with labels is drawn unless given.
    features, encoder
        Text features, where they are not to be chosen, and what stands beside them.
    """

    def __init__(
        self,
        rows: Any,
        Y: csr_matrix,
        *,
        metric: str,
        held_out: Rows | None = None,
        features: Any = None,
        encoder: Any = None,
        names: LabelNames | None = None,
        seed: int = 0,
        n_threads: int | None = None,
    ) -> None:
        self.has_texts = not is_matrix(rows)
        self.rows: Any = list(rows) if self.has_texts and not _is_sequence(rows) else rows
        if not self.has_texts:
            self.rows = canonical(csr_matrix(plain(rows), dtype=np.float32))
        self.Y = Y
        self.metric = metrics.scorer(metric)
        self.features = features
        self.encoder = encoder
        self.names = names
        self._columns = rows.names if isinstance(rows, NamedColumns) else None
        self.seed = seed
        self.n_threads = n_threads
        self.held_out = _drawn(Y, seed) if held_out is None else np.unique(held_out)
        # Each rung has the rows of the one below it, and others.
        self.learned = np.random.default_rng(seed).permutation(
            np.setdiff1d(np.arange(Y.shape[0]), self.held_out)
        )
        if not self.learned.size or not self.held_out.size:
            raise DataError(
                f"There are {Y.shape[0]} rows, too few to learn from some and hold others out: "
                "give more rows."
            )
        self.truth = csr_matrix(Y[self.held_out])
        self._made: dict[tuple[str, int], tuple[Any, Any, dict[str, Any], float]] = {}

    def estimator(self, configuration: Configuration) -> LabelRanker:
        """Return a configuration's method, not fitted."""
        how = {"random_state": self.seed, "n_threads": self.n_threads}
        return models.make(configuration.method, **how, **configuration.parameters)

    def text_features(self, configuration: Configuration) -> Any:
        """Return a configuration's text features, not fitted; None are the usual ones."""
        if not configuration.features:
            return self.features
        usual = self.features if isinstance(self.features, TextFeatures) else TextFeatures()
        told: Any = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in configuration.features.items()
        }
        return clone(usual).set_params(**told)

    def tagger(self, chosen: Chosen) -> Tagger:
        """Return a tagger of what was chosen, not fitted."""
        members = [one.configuration for one in chosen.members]
        texts = {"features": self.text_features(members[0]), "encoder": self.encoder}
        how: dict[str, Any] = {"random_state": self.seed, "n_threads": self.n_threads}
        if len(members) == 1:
            return Tagger(members[0].method, **texts, **how, **members[0].parameters)
        answers = [one.answer for one in chosen.members if one.answer is not None]
        mixture = Mixture.learn(answers, self.truth)
        estimators = [self.estimator(one) for one in members]
        return Tagger(Blend(estimators, mixture, **how), **texts)

    def run(self, configuration: Configuration, n_rows: int) -> Trained:
        """Let a configuration learn from ``n_rows`` rows and ask it about those held out."""
        estimator = self.estimator(configuration)
        rows = np.sort(self.learned[:n_rows])
        Y = csr_matrix(self.Y[rows])
        X, asked, named, seconds = self._matrices(configuration, rows, Y, estimator)
        more = named if estimator.takes_label_features else {}
        self._use_settings_for_all(estimator, X, Y)
        began, compiled = time.monotonic(), progress.seconds_compiled()
        fit: Any = estimator.fit
        fit(X, Y, **more)
        # Kernels are compiled once: the next training does not wait for them.
        seconds += time.monotonic() - began - (progress.seconds_compiled() - compiled)
        answer = estimator.predict_topk(asked, min(N_CANDIDATES, self.Y.shape[1]))
        return Trained(self.figures(answer, Y), answer, seconds)

    def figures(self, answer: TopK, learned: csr_matrix | None = None) -> dict[str, float]:
        """Return what answers for the rows held out are worth, in percent."""
        Y = csr_matrix(self.Y[self.learned]) if learned is None else learned
        counts = np.bincount(Y.indices, minlength=Y.shape[1])
        measured = metrics.evaluate(self.truth, answer)
        shown = {name: measured[name] for name in SHOWN}
        figure = self.metric.figure(self.truth, answer, counts, Y.shape[0])
        return {self.metric.name: figure, **shown}

    def fingerprint(self) -> str:
        """Return a text that tells this corpus, with the rows held out, from any other."""
        told = hashlib.sha256()
        for matrix in [self.Y] if self.has_texts else [self.Y, self.rows]:
            told.update(repr(matrix.shape).encode())
            for array in (matrix.indptr.astype(np.int64), matrix.indices, matrix.data):
                told.update(np.ascontiguousarray(array).tobytes())
        if self.has_texts:
            for text in self.rows:
                told.update(str(text).encode("utf-8", "surrogatepass") + b"\0")
        told.update(self.held_out.astype(np.int64).tobytes())
        return told.hexdigest()[:32]

    def _use_settings_for_all(self, estimator: LabelRanker, X: Any, Y: csr_matrix) -> None:
        """Give a method the settings that it takes for all rows: few are to tell of those."""
        kind, n_rows = estimator.settings_type, self.learned.size
        if kind is not None and n_rows > X.shape[0]:
            n_entries = int(X.nnz * n_rows / X.shape[0])
            shape = CorpusShape(n_rows, X.shape[1], Y.shape[1], n_entries)
            estimator.set_params(settings=resolve_settings(kind, estimator, shape))

    def _matrices(
        self, configuration: Configuration, rows: Rows, Y: csr_matrix, estimator: LabelRanker
    ) -> tuple[Any, Any, dict[str, Any], float]:
        """Return features of rows to learn from and of those held out, names, and their seconds."""
        if not self.has_texts:
            X = csr_matrix(self.rows[rows])
            named = {}
            if self._columns is not None:
                named = label_features(None, NamedColumns(X, self._columns), self.names)
            return X, csr_matrix(self.rows[self.held_out]), named, 0.0
        key = configuration.features_key, len(rows)
        if key not in self._made:
            began = time.monotonic()
            features = features_for(self.text_features(configuration), self.encoder)
            texts = taken(self.rows, rows.tolist())
            learned = learn_features(features, texts, Y, estimator, self.names)
            with threads.limit(self.n_threads):
                asked = features.transform(taken(self.rows, self.held_out.tolist()))
            named = label_features(features, None, self.names)
            # One pair in memory at a time.
            self._made = {key: (learned, asked, named, time.monotonic() - began)}
        return self._made[key]


def _drawn(Y: csr_matrix, seed: int) -> Rows:
    with_labels = np.flatnonzero(np.diff(Y.indptr))
    n_rows = min(int(HELD_OUT * with_labels.size), MOST_HELD_OUT)
    return selection.hold_out(with_labels, n_rows, seed)


def _is_sequence(rows: Any) -> bool:
    if isinstance(rows, str):
        raise UsageError("A single text was given where a list of texts is needed: write [text].")
    return isinstance(rows, Sequence)
