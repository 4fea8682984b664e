"""What each part of LabelSpace and its probabilities are worth: ``study labelspace``.

``parts``: the default with one thing changed, measured on validation rows, a fifth of the training
rows (8,000 at most) that the model is not given, so that the test rows stay untouched.

``calibration``: the default on the training rows of each corpus, counted on its test rows: the
expected calibration error that training itself measured and that on test rows, then what the
thresholds ``"f1"`` and ``"precision=0.9"`` reach there.

``appending``, ``scale``: see ``benchmarks.studies.promises``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from benchmarks.corpora import BY_SIZE
from benchmarks.measure import Stopwatch
from benchmarks.studies import promises
from benchmarks.studies.labelspace import page
from benchmarks.studies.source import Source
from benchmarks.studies.study import Figures, Part, Study, Trial
from labelspace import metrics
from labelspace.errors import UsageError
from labelspace.models import make
from labelspace.models.labelspace import model as inside
from labelspace.models.labelspace.candidates import Candidates
from labelspace.models.labelspace.stacking import Stacker, best_candidates, learn_stacker
from labelspace.topk import TopK

MOST_HELD_OUT = 8000
MEASURES = ("P@1", "P@3", "P@5", "PSP@5")
OUTSIDE = ("rank by", "join")
"""What no parameter changes."""


def parts() -> list[Trial]:
    """Return every variant on every corpus, small ones first."""
    return [
        Trial("parts", corpus, what, parameters, seed)
        for corpus, seeds in page.CORPORA.items()
        for seed in seeds
        for what, parameters in page.VARIANTS.items()
    ]


def measure(trial: Trial, source: Source) -> Iterator[tuple[Trial, Figures]]:
    """Train on four fifths of the training rows, return the figures of the others."""
    X, Y, *_ = source.split(trial.corpus)
    order = np.random.default_rng(trial.seed).permutation(X.shape[0])
    held, kept = np.split(order, [min(MOST_HELD_OUT, X.shape[0] // 5)])
    given = {name: value for name, value in trial.parameters.items() if name not in OUTSIDE}
    model: Any = make("labelspace", random_state=trial.seed, **given)
    with ExitStack() as changed, Stopwatch() as watch:
        for name, instead in _taken_out(trial.parameters).items():
            changed.enter_context(patch.object(inside, name, instead))
        model.fit(X[kept], Y[kept])
    top = _ranked(model, X[held], trial.parameters.get("rank by"))
    found = metrics.evaluate(
        Y[held], top, label_counts=model.label_counts_, n_examples=model.n_examples_
    )
    yield trial, {**{name: found[name] for name in MEASURES}, "cpu_s": watch.cpu_s}


def _ranked(model: Any, X: csr_matrix, by: str | None) -> TopK:
    """Return labels in the order of the whole, or of one half's scores alone."""
    if by is None:
        top: TopK = model.predict_topk(X, k=5)
        return top
    rows = model.rows_.encode(csr_matrix(X, dtype=np.float32))
    candidates = model._evidence(model.classifiers_, model.label_centroids_).candidates(rows)
    return best_candidates(candidates.labels, np.exp(getattr(candidates, by)), 5)


def _taken_out(variant: Any) -> dict[str, Any]:
    """Return what stands in the place of a part that is taken out."""
    changes: dict[str, Any] = {}
    if variant.get("join") == "usual":
        changes["learn_stacker"] = lambda *given, **how: Stacker()
    elif variant.get("join") == "one band":
        changes["learn_stacker"] = _one_band
    return changes


def _one_band(
    candidates: Candidates,
    Y: csr_matrix,
    label_counts: NDArray[np.int64],
    partners: csr_matrix,
    **how: Any,
) -> Stacker:
    """Learn a stacker that takes all labels to be equally frequent."""
    middle: Any = np.full(label_counts.shape, np.exp(4.0) - 1.0)  # terms of frequency are 0 there
    return learn_stacker(candidates, Y, middle, partners, **how)


def calibration(trial: Trial, source: Source) -> Iterator[tuple[Trial, Figures]]:
    """Train on a corpus; return what its probabilities and thresholds are worth on test rows."""
    X, Y, X_test, Y_test = source.split(trial.corpus)
    model: Any = make("labelspace", random_state=trial.seed).fit(X, Y)
    figures = {
        "ECE held out": model.calibration_.error,
        "ECE test": metrics.calibration_error(Y_test, model.predict_topk(X_test, 5)),
        "F1 k=5": metrics.f1(Y_test, model.predict(X_test, k=5))["micro-F1"],
    }
    for name, goal in page.GOALS.items():
        try:
            given = model.predict(X_test, threshold=goal)
        except UsageError:
            continue  # no threshold was so precise on the rows held out
        right = given.multiply(Y_test).nnz
        figures[f"F1 {name}"] = metrics.f1(Y_test, given)["micro-F1"]
        figures[f"precision {name}"] = 100.0 * right / max(given.nnz, 1)
        figures[f"recall {name}"] = 100.0 * right / max(Y_test.nnz, 1)
    yield trial, figures


STUDY = Study(
    "labelspace",
    {
        "parts": Part(parts(), measure),
        "calibration": Part([Trial("calibration", corpus) for corpus in BY_SIZE], calibration),
        "appending": Part([Trial("appending", "eurlex57k")], promises.appending("labelspace")),
        "scale": Part(page.SIZES, promises.scale("labelspace"), own_process=True),
    },
    page.PAGE,
    page.tables,
)
