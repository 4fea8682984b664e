"""Every preset learns: it is far above the most common labels on a small corpus.

One does not, which is known and said on its page.
"""

from __future__ import annotations

import functools
from typing import Any

import pytest

from labelspace import models
from labelspace.models import MostCommon
from tests.planted import planted_corpus

# Fewer learners, and more passes where presets are made for thousands of rows.
SMALL: dict[tuple[str, str], dict[str, Any]] = {
    ("annexml", "paper"): {"n_learners": 2},
    ("dxml", "paper"): {"n_epochs": 120},
    ("fastxml", "paper"): {"n_trees": 8},
    ("glas", "paper"): {"dim": 16, "hidden": (16,), "batch_size": 64, "n_epochs": 25},
    ("hierarchicalxc", "paper"): {"dim": 16},
    ("label-embedding", "paper"): {"dim": 11},
    ("label-embedding-tree", "paper"): {"dim": 11},
    ("hyperbolic", "paper"): {"n_learners": 2, "n_epochs": 60},
    ("neuralxc", "repaired"): {"n_epochs": 150},
    ("pfastrexml", "paper"): {"n_trees": 8},
    ("sleec", "paper"): {"n_learners": 2, "dim": 16, "n_neighbors": 10},
    ("wsabie", "paper"): {"dim": 16, "n_epochs": 30},
}
NEED_TORCH = {"dxml", "glas", "hierarchicalxc", "neuralxc"}
MARGIN = 0.15
# As printed it gives the most common labels; its page says so, and "repaired" is there for that.
DOES_NOT_LEARN = {("neuralxc", "paper")}


def presets() -> list[tuple[str, str]]:
    found = []
    for method in models.METHODS:
        kind = models.find(method)
        if "preset" in kind._get_param_names():
            settings = getattr(kind, "settings_type", None)
            names = ("paper",) if settings is None else settings.presets
            found += [(method, name) for name in names if name not in ("best", "balanced", "fast")]
    return found


@functools.cache
def most_common() -> float:
    return MostCommon().fit(*planted_corpus()).score(*planted_corpus(100, seed=1))


@pytest.mark.parametrize(("method", "preset"), presets())
def test_it_learns(method: str, preset: str) -> None:
    if method in NEED_TORCH:
        pytest.importorskip("torch")
    given = {"random_state": 0, "n_threads": 1, **SMALL.get((method, preset), {})}
    model = models.make(method, preset=preset, **given).fit(*planted_corpus())
    score = model.score(*planted_corpus(100, seed=1))
    if (method, preset) in DOES_NOT_LEARN:
        assert score < most_common() + MARGIN
    else:
        assert score > most_common() + MARGIN
