"""Every method with settings that learn a planted corpus quickly, for tests that only need one."""

from __future__ import annotations

import functools
from typing import Any

from labelspace import models
from labelspace.base import LabelRanker
from tests.planted import planted_corpus

# Learners and steps cost, so there are few of them; two learners where their number matters.
SETTINGS: dict[str, dict[str, Any]] = {
    "annexml": {"n_learners": 2, "dim": 16, "min_steps": 20},
    "dxml": {"dim": 16, "hidden": (16,), "n_walks": 5, "walk_length": 20},
    "fastxml": {"n_trees": 8},
    "glas": {"dim": 16},
    "hyperbolic": {"n_learners": 2, "dim": 8, "n_epochs": 5, "min_steps": 50, "n_negatives": 32},
    "label-embedding": {"dim": 16},
    "label-embedding-tree": {"dim": 16},
    "labelspace": {"n_learners": 2, "dim": 16, "min_steps": 20},
    "wsabie": {"dim": 16, "n_epochs": 30},
    "leml": {"penalty": 0.3},
    "sleec": {"n_learners": 2, "dim": 16, "n_neighbors": 10},
    "parabel": {"n_trees": 2},
    "pfastrexml": {"n_trees": 8},
    "xml-cnn": {"dim": 32, "n_filters": 32, "hidden": 32},
    "neuralxc": {"dim": 16, "label_dim": 16, "n_sampled": 64, "n_zeros": 32, "n_rebuilt": 8},
}
NAMES = {models.find(name): name for name in models.METHODS}


def small(kind: type[LabelRanker], **parameters: Any) -> LabelRanker:
    """Return an estimator that learns fast; ``parameters`` are set beside the small ones."""
    name = NAMES[kind]
    return models.make(name, **{"random_state": 0, **SETTINGS.get(name, {}), **parameters})


@functools.cache
def fitted(kind: type[LabelRanker], n_threads: int | None = None) -> LabelRanker:
    """Return a small estimator that knows ``planted_corpus()``: for all tests, so do not touch it.

    It is fitted once; a test that changes parameters takes a ``copy.copy`` of it.
    """
    return small(kind, n_threads=n_threads).fit(*planted_corpus())
