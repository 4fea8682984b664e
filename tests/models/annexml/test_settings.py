"""Presets of AnnexML, and what follows from the number of learners."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from scipy.sparse import csr_matrix

from labelspace.models import AnnexML
from labelspace.models.annexml import learners
from labelspace.models.annexml.graph_index import EPSILON, N_EDGES
from labelspace.models.annexml.label_partition import learn_partition
from labelspace.models.annexml.settings import AnnexMLSettings


def resolved(n_examples: int = 50_000, **parameters: Any) -> AnnexMLSettings:
    X, Y = csr_matrix((n_examples, 10)), csr_matrix((n_examples, 3))
    return AnnexML(**parameters)._resolved(X, Y)


def test_small_corpora_have_fewer_dimensions_and_a_softer_contrast() -> None:
    small, large = resolved(19_999), resolved(20_000)
    assert (small.dim, small.gamma, small.learning_rate) == (96, 10.0, 0.1)
    assert (large.dim, large.gamma, large.learning_rate) == (192, 20.0, 0.2)


@pytest.mark.parametrize(
    ("n_learners", "expected"), [(1, (192, 40, 8)), (7, (96, 34, 4)), (15, (96, 16, 2))]
)
def test_each_of_many_learners_holds_and_finds_less(
    n_learners: int, expected: tuple[int, int, int]
) -> None:
    by_parameter = resolved(n_learners=n_learners)
    assert by_parameter == resolved(settings={"n_learners": n_learners})
    assert (by_parameter.dim, by_parameter.n_neighbors, by_parameter.n_probes) == expected


def test_what_is_given_or_the_papers_own_does_not_follow() -> None:
    assert resolved(n_learners=15, dim=200).dim == 200
    assert resolved(n_learners=15, settings={"n_neighbors": 33}).n_neighbors == 33
    assert resolved(preset="paper", n_learners=3).n_neighbors == 10


# The defaults of the original program (AnnexMLParameter.h): emb_size, num_learner, num_nn (it is
# positives, negatives and neighbours at prediction), cls_type 1, emb_iter, label_normalize 1, eta0,
# gamma, pred_type 1 with num_edge and search_eps; 6,000 rows of a part stand in AnnexML.cc, votes
# are counted in AnnexML::Predict, and rows are scaled to length one when they are read.
# DataPartitioner.cc looks at 5,000 rows for each row. Beside these values there are rules: as many
# parts as whole 6,000 rows (test_learners.py), num_nn rows in a leaf (test_graph_index.py), and a
# vote for every row found (test_model.py).
PROGRAM = {
    "dim": 50,
    "n_learners": 15,
    "graph_neighbors": 10,
    "n_neighbors": 10,
    "partition": "learned",
    "part_size": 6000,
    "balanced": False,
    "n_epochs": 10,
    "similarity": "overlap",
    "learning_rate": 0.1,
    "gamma": 10.0,
    "objective": "pairs",
    "voting": "counts",
    "label_weight": 0.0,
    "label_votes": 0.0,
    "storage": "float32",
    "search": "walk",
    "normalize": True,
}


def test_the_paper_is_the_original_program_value_by_value() -> None:
    assert PROGRAM.items() <= vars(resolved(preset="paper")).items()
    assert learners._BUDGET == 5000
    assert (N_EDGES, EPSILON) == (50, 0.0)
    partition = inspect.signature(learn_partition).parameters
    # cls_iter, eta0 and lambda
    assert [partition[name].default for name in ("n_epochs", "learning_rate", "l1")] == [
        10,
        0.1,
        4.0,
    ]
