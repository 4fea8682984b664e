"""Presets of Hyperbolic, and what follows from the space and the number of learners."""

from __future__ import annotations

from typing import Any

import pytest
from scipy.sparse import csr_matrix

from labelspace.models import Hyperbolic
from labelspace.models.hyperbolic.settings import HyperbolicSettings


def resolved(n_examples: int = 50_000, **parameters: Any) -> HyperbolicSettings:
    X, Y = csr_matrix((n_examples, 10)), csr_matrix((n_examples, 3))
    return Hyperbolic(**parameters)._resolved(X, Y)


@pytest.mark.parametrize(
    ("space", "dim", "alpha", "learning_rate"),
    [("poincare", 50, 6.0, 0.2), ("sphere", 11, 10.0, 0.2), ("euclidean", 10, 2.0, 0.4)],
)
def test_the_space_decides_about_loss_and_steps(
    space: str, dim: int, alpha: float, learning_rate: float
) -> None:
    told = resolved(space=space, settings={"dim": dim})
    assert (told.alpha, told.learning_rate) == (alpha, learning_rate)
    paper = resolved(preset="paper", space=space, dim=dim)
    assert (paper.alpha, paper.learning_rate) == (60.0, 0.001)
    assert resolved(space=space, dim=dim, alpha=3.0).alpha == 3.0


def test_few_rows_are_looked_at_more_often() -> None:
    assert [resolved(n).n_epochs for n in (100, 13_000, 900_000)] == [20, 10, 5]
    assert resolved(100, preset="paper").n_epochs == 100


def test_each_of_many_learners_finds_less() -> None:
    assert [resolved(n_learners=n).n_neighbors for n in (1, 5, 15)] == [80, 48, 30]
    assert resolved(preset="paper", n_learners=3).n_neighbors == 10


def test_what_none_means_can_be_told_to_the_paper() -> None:
    assert resolved(preset="paper").label_scale == 1e-3
    assert resolved(preset="paper", settings={"label_scale": None}).label_scale is None


def test_votes_are_as_sharp_as_the_loss_unless_told() -> None:
    assert resolved(alpha=3.0).vote_weights == (3.0, 0.5)
    assert resolved(settings={"vote_alpha": 1.0, "label_votes": 0.0}).vote_weights == (1.0, 0.0)


# Gerald and Baskiotis (2019): the loss of section 2.4 for every label of a row, against labels
# sampled at random and no others; p(x) of section 2.3, Adam with the inverse metric (2.5), votes of
# training rows by number of occurrences and N/3000 random clusters (2.6); dimension 50, 5 % of the
# rows held out, 25 epochs of patience, N(0, 1e-3) and N(0, 1e-4) (3.1); 15 learners (3.2).
PUBLISHED = {
    "space": "poincare",
    "label_loss": "sum",
    "way": "clip",
    "n_hidden": None,
    "optimizer": "adam",
    "constant_steps": True,
    "answer": "rows",
    "voting": "counts",
    "search": "centroids",
    "batch_negatives": False,
    "dim": 50,
    "validation_fraction": 0.05,
    "max_held_out": None,
    "patience": 25,
    "label_scale": 1e-3,
    "map_scale": 1e-4,
    "n_learners": 15,
    "row_similarity": 0.0,
    "storage": "float32",
}
# What the publication does not say: α, the step (that of [KB14]), the labels drawn, the batch, the
# neighbours, the clusters looked into, whether rows are scaled, the passes at most; and where the
# factor of rows stands with Adam: "on the value to update", which can be read in two ways.
OURS = {
    "row_factor": "slope",
    "alpha": 60.0,
    "learning_rate": 0.001,
    "n_negatives": 128,
    "batch_size": 128,
    "n_neighbors": 10,
    "n_probes": 8,
    "normalize": True,
    "n_epochs": 100,
    "min_held_out": 10,
}


def test_the_paper_is_the_publication_value_by_value() -> None:
    assert PUBLISHED.items() <= vars(resolved(preset="paper")).items()


def test_what_the_publication_leaves_open_is_as_the_page_says() -> None:
    assert OURS.items() <= vars(resolved(preset="paper")).items()
