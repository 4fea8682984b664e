"""What is being served, in the words of its card: name, where it comes from, how right it was."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from labelspace import __version__
from labelspace.calibration import Calibration
from labelspace.data.text.languages import NAMES, languages_of
from labelspace.errors import UsageError
from labelspace.server.served import Served
from labelspace.server.tables import can_write_workbooks
from labelspace.tagger import Tagger

# What the page offers beside "all of the top k".
GOALS = ("f1", "precision=0.9")
N_EXAMPLES = 3
_EXAMPLE_LENGTHS = (60, 180)
_N_LOOKED_AT = 300


def describe(served: Served, name: str, *, learning: bool) -> dict[str, Any]:
    """Return what is being served under a name."""
    return {
        "model": served.version,
        "name": name,
        "method": served.method,
        "parameters": served.parameters,
        "n_labels": served.n_labels,
        "n_examples": int(served.estimator.n_examples_),
        "n_features": int(served.estimator.n_features_in_),
        "takes_text": served.tagger.takes_text,
        "explains": hasattr(served.estimator, "explain"),
        "can_learn": hasattr(served.estimator, "partial_fit"),
        "learning": learning,
        "learns_marks": served.takes_partial_labels,
        "scores": served.scores,
        "goals": _goals(served),
        "languages": served.catalog.languages,
        "has_broader": served.catalog.has_broader,
        "card": _card(served),
        "examples": list(_of_texts(served)[0]),
        "text_languages": list(_of_texts(served)[1]),
        "language_names": NAMES,
        "workbooks": can_write_workbooks(),
        "versions": {"labelspace": __version__},
    }


def _goals(served: Served) -> dict[str, float]:
    """Return the thresholds that reached goals on rows held out, as far as they were reached."""
    calibration: Calibration | None = getattr(served.estimator, "calibration_", None)
    found: dict[str, float] = {}
    for goal in GOALS if calibration is not None else ():
        try:
            found[goal] = round(calibration.threshold_for(goal), 6)  # type: ignore[union-attr]
        except UsageError:  # it was not reached
            continue
    return found


def _card(served: Served) -> dict[str, Any]:
    """Return what training has left: corpus, date, and figures on other rows."""
    told = getattr(served.estimator, "provenance_", None) or {}
    figures = told.get("figures") or {}
    return {
        "corpus": told.get("corpus"),
        "trained": told.get("trained"),
        "held_out": told.get("valid"),
        "P@1": figures.get("P@1"),
    }


def _of_texts(served: Served) -> tuple[Sequence[str], Sequence[str]]:
    """Return texts to try, and the languages that the model learned from."""
    return _looked_at(served.tagger) if served.tagger.excerpts_ is not None else ((), ())


@lru_cache(maxsize=16)
def _looked_at(tagger: Tagger) -> tuple[Sequence[str], Sequence[str]]:
    texts = tagger.excerpts_
    assert texts is not None
    rows = np.linspace(0, max(len(texts) - 1, 0), min(len(texts), _N_LOOKED_AT)).astype(int)
    some = [texts[row] for row in np.unique(rows).tolist()]
    shortest, longest = _EXAMPLE_LENGTHS
    fitting = [text for text in some if shortest <= len(text) <= longest and "…" not in text]
    step = max(1, len(fitting) // N_EXAMPLES)
    return tuple((fitting or some)[::step][:N_EXAMPLES]), tuple(languages_of(some))
