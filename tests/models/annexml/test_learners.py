"""Which graph a learner of the original program's kind learns from, and how."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from labelspace.graph.label_knn import LabelGraph, label_knn
from labelspace.models.annexml import learners
from labelspace.models.annexml.learners import LearnerTraining
from labelspace.models.annexml.pairwise import train_pairs
from labelspace.models.annexml.settings import AnnexMLSettings
from tests.planted import planted_corpus

FEW = 3


@pytest.fixture(autouse=True)
def few_rows_are_looked_at(monkeypatch) -> None:
    monkeypatch.setattr(learners, "_BUDGET", FEW)


def program(**parameters: Any) -> AnnexMLSettings:
    told = {"dim": 8, "n_epochs": 1, "similarity": "overlap", "objective": "pairs"}
    return AnnexMLSettings(
        **{**told, "label_weight": 0.0, "search": "exact", "storage": "float32", **parameters}
    )


def neighbours(Y: Any, seed: int, budget: int) -> LabelGraph:
    return label_knn(Y, 10, similarity="overlap", seed=seed, budget=budget, by_length=True)


def test_the_graph_of_all_rows_is_cut_and_that_of_a_part_is_not() -> None:
    _, Y = planted_corpus(200)
    learning = LearnerTraining(Y, program(), n_threads=1)
    cut, uncut = neighbours(Y, 4, FEW), neighbours(Y, 4, 10**6)
    assert cut.n_neighbors.sum() < uncut.n_neighbors.sum()
    assert np.array_equal(learning.graph(Y, 4).neighbors, cut.neighbors)
    assert np.array_equal(learning.graph(Y, 4, uncut=True).neighbors, uncut.neighbors)


def test_learners_learn_by_pairs_from_the_uncut_graph_with_the_same_ties() -> None:
    X, Y = planted_corpus(200)
    settings = program()
    learning = LearnerTraining(Y, settings, n_threads=1)
    for seed in (1, 2):
        learner = learning.learner(X, Y, learning.graph(Y, seed), seed)
        expected = train_pairs(X, Y, neighbours(Y, 0, 10**6), settings, seed)
        assert np.array_equal(learner.encoder.weights, expected)


@pytest.mark.parametrize("partition", ["learned", "kmeans"])
@pytest.mark.parametrize(("n", "n_parts"), [(99, 1), (199, 1), (200, 2), (299, 2), (300, 3)])
def test_there_are_as_many_parts_as_the_rows_fill(partition: str, n: int, n_parts: int) -> None:
    # AnnexML.cc: num_cluster = max(data_vec.size() / 6000, 1), in whole numbers
    X, Y = planted_corpus(n)
    learning = LearnerTraining(Y, program(partition=partition, part_size=100), n_threads=1)
    learner = learning.learner(X, Y, learning.graph(Y, 1), 1)
    assert len(getattr(learner, "parts", [learner])) == n_parts


def test_parts_learn_by_pairs_from_their_own_uncut_graph_with_the_same_ties() -> None:
    X, Y = planted_corpus(200)
    settings = program(partition="kmeans", part_size=100)
    learning = LearnerTraining(Y, settings, n_threads=1)
    learner = learning.learner(X, Y, learning.graph(Y, 1), 1)
    for number, part in enumerate(learner.parts):
        rows = np.flatnonzero(learner.partition.assign(X) == number)
        inside = X[rows][:, part.features]
        graph = neighbours(Y[rows], 0, 10**6)
        expected = train_pairs(inside, Y[rows], graph, settings, 1 + number)
        assert np.array_equal(part.encoder.weights, expected)
