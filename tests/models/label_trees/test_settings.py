"""The presets of the trees have the values of the papers, one by one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from labelspace.models import BalancedLabelTree, LabelEmbedding, LabelEmbeddingTree, LabelTree
from labelspace.models.label_trees.embedding_settings import (
    LabelEmbeddingSettings,
    LabelEmbeddingTreeSettings,
)
from labelspace.models.label_trees.settings import BalancedLabelTreeSettings, LabelTreeSettings
from labelspace.parameters import CorpusShape, Settings

BIBTEX = CorpusShape(4880, 1836, 159)

# Bengio, Weston and Grangier (2010), as the slides have them.
TREE = {
    # "Learning Label Tree Structure": clusters of a confusion matrix, down to single labels
    "leaf_size": 1,
    "max_depth": None,
    "balance": 0.0,
    # "b_j(x) = argmax f_c(x)": the walk follows the best child alone
    "beam": 1,
    # f(x) = w·φ(x): rows as they are
    "idf": False,
    "normalize": False,
}
PAPER: dict[type[Settings], dict[str, Any]] = {
    LabelTreeSettings: {
        **TREE,
        "affinity": "confusion",
        # "Relaxation 2": one ξ_i for all siblings on a row's way, and (1/m) Σ ξ_i
        "relaxation": 2,
        "slack": "row",
        "loss": "hinge",
        # weights are not cut
        "min_weight": 0.0,
    },
    # "Sequence of Convex Problems": A from confusions, V by eigenmaps, then W; against all labels
    LabelEmbeddingSettings: {
        "learning": "sequence",
        "affinity": "confusion",
        "n_sampled": 159,
        "idf": False,
        "normalize": False,
    },
    # "Learning Label Embedding Trees": the same with the constraints of siblings
    LabelEmbeddingTreeSettings: {**TREE, "learning": "sequence", "affinity": "confusion"},
    # Deng and others (2011): splits and weights together, overlap, bounded cost; two labels in a
    # leaf, as one would leave no room for overlap
    BalancedLabelTreeSettings: {
        **TREE,
        "leaf_size": 2,
        "balance": 0.8,
        "slack": "row",
        "loss": "hinge",
        "min_weight": 0.0,
    },
}
# What makes rows with several labels learnable, and nothing else.
REPAIRED: dict[type[Settings], dict[str, Any]] = {
    LabelTreeSettings: {"slack": "node"},
    LabelEmbeddingSettings: {"learning": "joint", "slack": "node", "learning_rate": 0.05},
    LabelEmbeddingTreeSettings: {"learning": "joint", "slack": "node", "learning_rate": 0.05},
    BalancedLabelTreeSettings: {"slack": "node"},
}


@pytest.mark.parametrize("kind", PAPER)
def test_the_paper_is_as_printed_value_by_value(kind: type[Settings]) -> None:
    assert PAPER[kind].items() <= vars(kind.for_corpus("paper", BIBTEX)).items()


@pytest.mark.parametrize("kind", REPAIRED)
def test_what_is_repaired_is_named(kind: type[Settings]) -> None:
    paper, repaired = (kind.for_corpus(preset, BIBTEX) for preset in ("paper", "repaired"))
    assert repaired == replace(paper, **REPAIRED[kind])


@pytest.mark.parametrize("kind", PAPER)
def test_the_default_is_the_settings_own(kind: type[Settings]) -> None:
    assert kind.for_corpus("best", BIBTEX) == kind()
    assert kind.rules.keys() == vars(kind()).keys()


@pytest.mark.parametrize("kind", [LabelTree, LabelEmbedding, LabelEmbeddingTree, BalancedLabelTree])
def test_a_constructor_has_few_parameters(kind: type) -> None:
    assert len(kind().get_params()) <= 16
