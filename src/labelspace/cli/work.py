"""What the commands do, apart from how it is shown.

A corpus of features trains an estimator; a corpus of text trains a ``Tagger`` around one. The
functions here hide that difference from the commands.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_matrix

from labelspace import metrics, progress
from labelspace.base import LabelRanker
from labelspace.calibration import checked_threshold
from labelspace.cli.output import Meter
from labelspace.data import Corpus, read_corpus
from labelspace.errors import DataError, UsageError
from labelspace.models import make
from labelspace.tagger import Tagger, load_ranker
from labelspace.topk import TopK

if TYPE_CHECKING:
    from numpy.typing import NDArray

Model = LabelRanker | Tagger

# Rows ranked at a time: bounds memory and lets progress be seen.
BLOCK = 4096


def parse_settings(settings: list[str]) -> dict[str, Any]:
    """Turn ``name=value`` into parameters; values are JSON where they can be, else text.

    >>> parse_settings(["C=0.5", "loss=logistic", "bias=true", "cap=none"])
    {'C': 0.5, 'loss': 'logistic', 'bias': True, 'cap': None}
    """
    parameters: dict[str, Any] = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals or not name:
            raise UsageError(f"--set takes name=value, but '{setting}' is not of that form.")
        named = {"true": True, "false": False, "none": None}
        try:
            value = named[text.lower()] if text.lower() in named else json.loads(text)
        except ValueError:
            value = text
        parameters[name.strip().replace("-", "_")] = value
    return parameters


def read(path: str | Path) -> Corpus:
    """Read a corpus to learn from; one without rows or without features is an error."""
    with progress.task(f"Reading {path}"):
        corpus = read_corpus(path)
    if len(corpus) == 0:
        raise DataError(f"{path} has no rows: give a corpus with at least one.")
    if corpus.X is not None and corpus.n_features == 0:
        raise DataError(f"{path} has no features: give a corpus with at least one.")
    return corpus


def train(corpus: Corpus, method: str, parameters: dict[str, Any]) -> tuple[Model, dict[str, Any]]:
    """Train a method on a corpus; return the model and what it cost."""
    model: Model
    with progress.task(f"Training {method} on {len(corpus):,} rows"), Meter() as meter:
        if corpus.X is None:
            model = Tagger(method, **parameters).fit(
                corpus.texts or [], corpus.Y, label_names=corpus.label_names
            )
        else:
            model = make(method, **parameters)
            model.label_names_ = corpus.label_names
            model.feature_names_ = corpus.feature_names
            model.fit(corpus.X, corpus.Y)
    cost = {
        "method": method,
        "n_examples": len(corpus),
        "n_features": estimator(model).n_features_in_,
        "n_labels": corpus.n_labels,
        "train_seconds": round(meter.wall_seconds, 3),
        "cpu_seconds": round(meter.cpu_seconds, 3),
        "peak_rss_mib": _rounded(Meter.peak_rss_mib()),
    }
    return model, cost


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 1)


def load(path: str | Path) -> Model:
    """Load a model folder."""
    with progress.task(f"Loading {path}"):
        return load_ranker(path)


def estimator(model: Model) -> LabelRanker:
    """Return the estimator inside a model."""
    return model.estimator_ if isinstance(model, Tagger) else model


def label_names(model: Model) -> list[str] | None:
    """Return the names of a model's labels, if they have any."""
    names = getattr(model, "label_names_", None)
    if names is not None:
        return names
    learned = estimator(model)._labels.names
    return None if learned is None else [str(name) for name in learned]


def read_for(model: Model, path: str | Path) -> Corpus:
    """Read a corpus so that its columns are those of ``model``."""
    is_text = isinstance(model, Tagger)
    ranker = estimator(model)
    with progress.task(f"Reading {path}"):
        corpus = read_corpus(
            path,
            n_features=None if is_text else ranker.n_features_in_,
            n_labels=ranker.n_labels_,
            label_names=label_names(model),
            feature_names=getattr(model, "feature_names_", None),
        )
    if is_text and corpus.texts is None:
        raise DataError(
            f"{path} holds features, but this model was trained on text: give a corpus of text."
        )
    if not is_text and corpus.X is None:
        raise DataError(
            f"{path} holds text, but this model was trained on features: give a corpus with the "
            f"same {ranker.n_features_in_:,} features."
        )
    return corpus


def rank(model: Model, corpus: Corpus, k: int) -> TopK:
    """Return the ``k`` best labels of each row of a corpus."""
    rows: Any = corpus.texts if isinstance(model, Tagger) else corpus.X
    parts = []
    with progress.task(f"Ranking labels for {len(corpus):,} rows", len(corpus)) as advance:
        for start in range(0, len(corpus), BLOCK):
            parts.append(model.predict_topk(rows[start : start + BLOCK], k))
            advance(len(parts[-1]))
    return TopK.stack(parts) if parts else TopK.empty(0, k)


def evaluate(
    model: Model, corpus: Corpus, *, A: float, B: float
) -> tuple[dict[str, Any], TopK, csr_matrix]:
    """Return the figures of a model on a corpus, its ranking, and the true labels."""
    if len(corpus) == 0:
        raise DataError("The test corpus has no rows: give one with at least one row.")
    with Meter() as meter:
        top = rank(model, corpus, max(metrics.KS))
    ranker = estimator(model)
    figures: dict[str, Any] = metrics.evaluate(
        corpus.Y,
        top,
        label_counts=ranker.label_counts_,
        n_examples=ranker.n_examples_,
        A=A,
        B=B,
    )
    figures = {name: round(value, 4) for name, value in figures.items()}
    if ranker.gives_probabilities:
        figures["ECE"] = round(metrics.calibration_error(corpus.Y, top), 4)
    figures["n"] = len(corpus)
    figures["predict_seconds"] = round(meter.wall_seconds, 4)
    return figures, top, corpus.Y


def limits(model: Model, k: int | None, threshold: str | None) -> tuple[int, float | None]:
    """Return how many labels to give at most, and the score that they need."""
    wanted = checked_threshold(threshold)
    if not isinstance(wanted, str):
        return (k or 5), wanted
    return estimator(model).limits(k, wanted)


def named(
    model: Model, labels: NDArray[np.int64], scores: Any, least: float | None = None
) -> list[dict[str, Any]]:
    """Return one row of an answer as it goes into JSON, without labels of a lower score."""
    names = label_names(model)
    return [
        {"label": int(label)}
        | ({} if names is None else {"name": names[label]})
        | {"score": round(float(score), 6)}
        for label, score in zip(labels, scores, strict=True)
        if label >= 0 and (least is None or score >= least)
    ]


def learn_on(model: Model, corpus: Corpus) -> int:
    """Let a model learn a corpus on top; return how many labels are new."""
    ranker = estimator(model)
    before = ranker.n_labels_
    if not hasattr(ranker, "partial_fit"):
        raise UsageError(
            f"{type(ranker).__name__} cannot learn on: train it again on all rows, or use a "
            "method that can."
        )
    if isinstance(model, Tagger):
        model.partial_fit(corpus.texts or [], corpus.Y, label_names=corpus.label_names)
    else:
        names = label_names(model)
        ranker.partial_fit(corpus.X, corpus.Y)
        if names is not None:
            ranker.label_names_ = corpus.label_names
    return ranker.n_labels_ - before


def answers(model: Model, source: str, k: int) -> Iterator[tuple[Any, Any]]:
    """Yield labels and scores of each row of a corpus file, or of each line of stdin."""
    if source != "-":
        top = rank(model, read_for(model, source), k)
        yield from zip(top.labels, top.scores, strict=True)
        return
    if not isinstance(model, Tagger):
        raise UsageError(
            "This model was trained on features, so it cannot take text from standard input: "
            "give a corpus file with the same features."
        )
    # At a terminal each line is answered as it is typed; a pipe is read in larger blocks.
    size = 1 if sys.stdin.isatty() else 1024
    lines: list[str] = []
    for line in sys.stdin:
        lines.append(line.rstrip("\n"))
        if len(lines) == size:
            top = model.predict_topk(lines, k)
            yield from zip(top.labels, top.scores, strict=True)
            lines = []
    if lines:
        top = model.predict_topk(lines, k)
        yield from zip(top.labels, top.scores, strict=True)
