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

# What the slides say of Bengio, Weston and Grangier (2010) and of Deng and others (2011); each
# value with the slide's title.
TREE = {
    # "Learning Label Tree Structure": clusters of a confusion matrix, down to single labels
    "leaf_size": 1,
    "max_depth": None,
    "balance": 0.0,
    # "b_j(x) = argmax f_c(x)": the walk follows the best child alone
    "beam": 1,
    # "Learning With Fixed Label Tree", f_j(x) = w·φ(x): rows as they are
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
        # the same slide: all weights count, and none is cut
        "min_weight": 0.0,
    },
    # "Sequence of Convex Problems": A from confusions, V by eigenmaps, then W; against all labels
    LabelEmbeddingSettings: {
        "learning": "sequence",
        "affinity": "confusion",
        # "Learning W": one ξ_i for all pairs of a row, ∀ j ≠ i
        "slack": "row",
        "n_sampled": 159,
        "idf": False,
        "normalize": False,
    },
    # "Learning Label Embedding Trees": the same with the constraints of siblings, and one ξ_i
    LabelEmbeddingTreeSettings: {
        **TREE,
        "learning": "sequence",
        "affinity": "confusion",
        "slack": "row",
    },
    # "Summarization", goals of Deng and others (2011): splits and weights together, overlap, and
    # a trade-off of accuracy and cost; what it does not say is that of the tree
    BalancedLabelTreeSettings: {
        **{name: value for name, value in TREE.items() if name not in ("leaf_size", "balance")},
        "slack": "row",
        "loss": "hinge",
        "min_weight": 0.0,
    },
}
# What the slides say nothing of.
SOLVER = {"C": "auto", "tol": 0.1, "max_iter": 20}
DESCENT = {"dim": 100, "n_epochs": 100, "learning_rate": 0.02, "decay": 1e-6}
OURS: dict[type[Settings], dict[str, Any]] = {
    LabelTreeSettings: {**SOLVER, "branching": 16},
    LabelEmbeddingSettings: DESCENT,
    LabelEmbeddingTreeSettings: {**DESCENT, "branching": 16},
    BalancedLabelTreeSettings: {
        **SOLVER,
        "branching": 16,
        # one label in a leaf would leave no room for overlap
        "leaf_size": 2,
        "balance": 0.8,
        "ambiguity": 1.5,
        "n_rounds": 2,
    },
}
# What makes rows with several labels learnable, and nothing else.
JOINT = {"learning": "joint", "slack": "node", "n_epochs": 10, "learning_rate": 0.05}
REPAIRED: dict[type[Settings], dict[str, Any]] = {
    LabelTreeSettings: {"slack": "node", "beam": 10},
    LabelEmbeddingSettings: JOINT,
    LabelEmbeddingTreeSettings: {**JOINT, "beam": 10},
    BalancedLabelTreeSettings: {"slack": "node", "beam": 10},
}


@pytest.mark.parametrize("kind", PAPER)
def test_the_paper_is_as_printed_value_by_value(kind: type[Settings]) -> None:
    assert {**PAPER[kind], **OURS[kind]} == vars(kind.for_corpus("paper", BIBTEX))
    assert not PAPER[kind].keys() & OURS[kind].keys()


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
