"""What is tried of each compared system: settings on rows held out, parts on test rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.studies.study import Trial

Parameters = dict[str, Any]

SMALL = ("bibtex", "delicious")
LARGE = ("wordnet", "tibkat")
"""Large corpora, of which settings that follow a corpus' shape are tried on some rows."""
ASKED: list[Parameters] = [
    *({"n_neighbors": n_neighbors} for n_neighbors in (10, 15, 25, 40, 70, 100)),
    {"voting": "counts"},
]
"""Ways in which a trained SLEEC is asked."""

TRIED: dict[str, list[Parameters]] = {
    "leml": [
        *({"penalty": penalty} for penalty in (1.0, 4.0)),
        *({"n_rounds": n_rounds} for n_rounds in (2, 4)),
        *({"dim": dim} for dim in (100, 400)),
    ],
    "robustxml": [
        *({"l1": l1} for l1 in (0.1, 0.4)),
        *({"sparse_penalty": penalty} for penalty in (0.02, 0.1, 0.3)),
        *({"n_weights": n_weights} for n_weights in (30, 300)),
        {"n_turns": 2},
    ],
    "plst": [
        *({"penalty": penalty} for penalty in (0.3, 3.0)),
        {"dim": 100},
    ],
    "ml-cssp": [
        *({"penalty": penalty} for penalty in (0.3, 3.0)),
        *({"dim": dim} for dim in (100, 500)),
    ],
    "wsabie": [
        *({"learning_rate": rate} for rate in (0.025, 0.1)),
        *({"longest": longest} for longest in (3.0, 10.0)),
        {"constant": 1.0},
        *({"n_epochs": n_epochs} for n_epochs in (5, 20)),
        {"dim": 50},
    ],
    "cs": [
        *({"penalty": penalty} for penalty in (0.3, 3.0)),
        {"dim": 100},
    ],
    "cplst": [
        *({"penalty": penalty} for penalty in (0.3, 3.0)),
        {"dim": 100},
    ],
    "sleec": [
        *({"C": C} for C in (0.05, 0.4)),
        {"graph_neighbors": 50},
    ],
}
"""Settings beside the defaults, one changed at a time."""

ON_CUTS: dict[str, list[Parameters]] = {
    "leml": [{"dim": 200}, {"penalty": 2.0}],
    "robustxml": [{"dim": 200, "penalty": 2.0}],
    "sleec": [{"C": 0.1}],
}
"""Settings beside those that large corpora get."""

PARTS: dict[str, dict[str, Parameters]] = {
    "sleec": {
        "products not learned, singular vectors of them": {"max_steps": 0},
        "products of 20 neighbours": {"graph_neighbors": 20},
        "25 dimensions": {"dim": 25},
        "votes count alike": {"voting": "counts"},
        "regression hardly restrained": {"C": 20.0},
    },
    "leml": {
        "ten rounds": {"n_rounds": 10},
        "rank 50": {"dim": 50},
        "λ = 0.2": {"penalty": 0.2},
    },
    "robustxml": {
        "low-rank part alone": {"l1": 1e6},
        "sparse part all but alone (rank 1)": {"dim": 1},
        "a second turn": {"n_turns": 2},
        "30 features a label": {"n_weights": 30},
    },
    "wsabie": {
        "no constant feature": {"constant": 0.0},
        "no AdaGrad": {"adaptive": False},
        "vectors of length 2 at most": {"longest": 2.0},
        "50 dimensions": {"dim": 50},
    },
    "cplst": {
        "60 directions": {"dim": 60},
        "λ = 0.1": {"penalty": 0.1},
    },
    "plst": {
        "60 directions": {"dim": 60},
        "λ = 0.1": {"penalty": 0.1},
    },
    "cs": {
        "80 sums": {"dim": 80},
        "λ = 0.1": {"penalty": 0.1},
        "CoSaMP": {"decoder": "cosamp"},
    },
    "ml-cssp": {
        "60 labels": {"dim": 60},
        "λ = 0.1": {"penalty": 0.1},
    },
}
"""The parts of each system, by what is different."""


def settings() -> Iterator[Trial]:
    """Give the trials on rows held out of training, quick methods first."""
    for method, changes in TRIED.items():
        for corpus in SMALL:
            yield Trial("settings", corpus, method)
            for changed in changes:
                yield Trial("settings", corpus, method, changed)


def cuts() -> Iterator[Trial]:
    """Give the trials on rows held out of large corpora, of which some rows are taken."""
    for corpus in LARGE:
        for method, changes in ON_CUTS.items():
            yield Trial("cuts", corpus, method)
            for changed in changes:
                yield Trial("cuts", corpus, method, changed)


def parts() -> Iterator[Trial]:
    """Give the trials on test rows."""
    for method, changes in PARTS.items():
        for corpus in SMALL:
            yield Trial("parts", corpus, method)
            yield Trial("parts", corpus, method, {"preset": "paper"})
            for changed in changes.values():
                yield Trial("parts", corpus, method, changed)
