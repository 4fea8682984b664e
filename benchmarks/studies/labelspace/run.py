"""What each kind of evidence in LabelSpace and its probabilities are worth: ``study labelspace``.

``evidence``: the default, and with one kind of evidence left out, on validation rows that the model
is not given (``evidence.py``).

``cuts`` and ``updates``: the default on parts of corpora, and as it learns on (``growing.py``).

``calibration``: the default on the training rows of each corpus, counted on its test rows: the
expected calibration error that training itself measured and that on test rows, then what the
thresholds ``"f1"`` and ``"precision=0.9"`` reach there.

``appending``, ``scale``: see ``benchmarks.studies.promises`` and, for what a row takes,
``scale.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.corpora import BY_SIZE
from benchmarks.studies import promises
from benchmarks.studies.labelspace import evidence, growing, page, scale
from benchmarks.studies.source import Source
from benchmarks.studies.study import Figures, Part, Study, Trial
from labelspace import metrics
from labelspace.errors import UsageError
from labelspace.models import make


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
        "evidence": Part(page.evidence(), evidence.measure),
        "cuts": Part(page.cuts(), growing.cuts),
        "updates": Part([Trial("updates", corpus) for corpus in page.UPDATED], growing.updates),
        "calibration": Part([Trial("calibration", corpus) for corpus in BY_SIZE], calibration),
        "appending": Part([Trial("appending", "eurlex57k")], promises.appending("labelspace")),
        "scale": Part(page.SIZES, promises.scale("labelspace", scale.ask_saved), own_process=True),
    },
    page.PAGE,
    page.tables,
)
