"""What LabelSpace takes for corpora of several sizes."""

from __future__ import annotations

from itertools import pairwise

import pytest

from labelspace.models import LabelSpace
from labelspace.models.labelspace.settings import LabelSpaceSettings
from labelspace.parameters import CorpusShape
from tests.planted import planted_corpus


def taken(
    n_examples: int, n_labels: int = 1000, per_row: int = 50, effort: str = "balanced"
) -> LabelSpaceSettings:
    shape = CorpusShape(n_examples, 5000, n_labels, n_examples * per_row)
    return LabelSpaceSettings.for_corpus(effort, shape)


@pytest.mark.parametrize("n_examples", [5_000, 50_000])
def test_more_effort_has_more_of_everything(n_examples: int) -> None:
    fast, balanced, best = (
        taken(n_examples, effort=effort) for effort in ("fast", "balanced", "best")
    )
    for name in ("dim", "n_learners", "n_trees", "max_held_out"):
        steps = [getattr(one, name) for one in (fast, balanced, best)]
        assert steps == sorted(steps), name
        assert steps[0] < steps[2], name
    assert fast.tol > balanced.tol > best.tol
    X, Y = planted_corpus()
    assert LabelSpace(effort="fast", random_state=0).fit(X, Y).settings_.dim == fast.dim


@pytest.mark.parametrize(
    ("n_examples", "expected"),
    [
        (3_000, (100, 10.0, 0.0, 80, 5)),
        (20_000, (63, 14.1, 0.5, 200, 5)),
        (90_000, (40, 20.0, 1.0, 200, 3)),
    ],
)
def test_the_more_rows_the_sharper_the_contrast(n_examples: int, expected: tuple) -> None:
    told = taken(n_examples)
    found = told.n_neighbors, round(told.gamma, 1), told.label_weight
    assert (*found, told.min_steps, told.n_epochs) == expected


def test_the_more_labels_the_larger_batches() -> None:
    sizes = [taken(50_000, n_labels).batch_size for n_labels in (500, 16_000, 100_000)]
    assert sizes == [128, 250, 512]


@pytest.mark.parametrize(
    "name",
    [
        "n_neighbors",
        "gamma",
        "learning_rate",
        "label_weight",
        "min_steps",
        "n_epochs",
        "hard_neighbors",
        "hard_negatives",
        "batch_size",
    ],
)
@pytest.mark.parametrize("grows", ["n_examples", "n_labels", "per_row"])
def test_no_setting_jumps(name: str, grows: str) -> None:
    """A tenth more rows, labels or features changes a setting by little of its range, or by 1."""
    usual = {"n_examples": 30_000, "n_labels": 3_000, "per_row": 50}
    sizes = [int(30 * 1.1**step) for step in range(110)]
    if grows == "per_row":
        sizes = sizes[:30]
    found = [float(getattr(taken(**{**usual, grows: size}), name)) for size in sizes]
    steps = [abs(after - before) for before, after in pairwise(found)]
    rounding = {"learning_rate": 0, "gamma": 0, "label_weight": 0}.get(name, 1)
    assert max(steps) <= max(0.15 * (max(found) - min(found)), rounding)


def test_long_rows_have_more_hard_negatives() -> None:
    short, long = taken(1000, per_row=40), taken(1000, per_row=200)
    assert (short.hard_neighbors, short.hard_negatives) == (30, 50)
    assert (long.hard_neighbors, long.hard_negatives) == (100, 100)


@pytest.mark.parametrize(
    ("n_examples", "n_labels", "expected"),
    [(2_000, 1_000, 250), (80_000, 100_000, 200), (80_000, 10**6, 50)],
)
def test_negatives_are_as_many_as_are_affordable(
    n_examples: int, n_labels: int, expected: int
) -> None:
    assert taken(n_examples, n_labels).min_negatives == expected


def test_settings_reach_the_model() -> None:
    X, Y = planted_corpus(60)
    told = {"reservoir_size": 7, "max_held_out": 3, "n_voted": 2, "n_by_margin": 1}
    model = LabelSpace(n_learners=1, settings=told, random_state=0).fit(X, Y)
    assert model.reservoir_.shape[0] == 7
    assert model.calibration_.n_rows == 3
    assert (model.predict_topk(X, 5).labels[:, 3:] == -1).all()


def test_classifiers_see_all_rows_unless_that_is_too_much() -> None:
    assert taken(20_000, n_labels=50_000).exact
    assert not taken(20_001, n_labels=50_000).exact
