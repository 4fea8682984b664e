"""What the label embeddings can be told, with and without a tree, and what their presets say.

The paper has two ways to learn a small space. As printed, the joint one has no margin, so that
W = 0 has no slack and is its answer: "paper" is the other, a sequence of convex problems, and
"repaired" the joint one with a margin of one and a slack for each label. No small change makes the
sequence learn where rows have many labels: see the page.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from labelspace.models.label_trees.affinity import AFFINITIES
from labelspace.models.label_trees.settings import SLACKS, TreeSettings
from labelspace.parameters import (
    FLAG,
    CorpusShape,
    Rules,
    Settings,
    Span,
    Tunable,
    one_of,
    real,
    whole,
)

LEARNINGS = ("joint", "sequence")

# Of either: V by eigenmaps of the confusions, then W. Passes and steps are ours, for nothing is
# said of them: the problem of W is convex, and these come near its answer. W begins at random, and
# larger or fewer steps end above the objective of W = 0.
_SEQUENCE: dict[str, Any] = {
    "learning": "sequence",
    "affinity": "confusion",
    "n_epochs": 100,
    "learning_rate": 0.02,
}
# Its passes and steps are the default's.
_JOINT: dict[str, Any] = {
    "learning": "joint",
    "slack": "node",
    "n_epochs": 10,
    "learning_rate": 0.05,
}


@dataclass(frozen=True)
class LabelEmbeddingSettings(Settings):
    """All that :class:`labelspace.models.LabelEmbedding` can be told; "paper" in brackets.

    "repaired" is "paper" with ``learning="joint"``, a slack for each label, and the passes and
    steps of that problem.

    Attributes
    ----------
    learning : {"joint", "sequence"}
        Map and vectors together, or vectors first: joint (sequence).
    dim : int
        Dimensions of the space: 100 (100: the number is not said).
    slack : {"auto", "row", "node"}
        What a row asks for in the joint problem: auto, "row" if every row has one label (row;
        repaired: node).
    affinity : {"auto", "confusion", "centroid", "cooccurrence"}
        What says that labels are alike: auto (confusion).
    n_epochs : int
        Passes over the rows: 10 (100; repaired: 10).
    learning_rate : float
        First step size: 0.05 (0.02; repaired: 0.05).
    decay : float
        γ: larger keeps the map shorter: 1e-6.
    n_sampled : int
        Labels that a row is compared with in training: 1,024 (all).
    idf : bool or "auto"
        Whether features are weighted by inverse document frequency: auto (False).
    normalize : bool
        Whether rows are scaled to length one: True (False).

    Examples
    --------
    >>> LabelEmbeddingSettings.for_corpus("paper", CorpusShape(5_000, 300, 200)).learning
    'sequence'
    """

    learning: str = "joint"
    dim: int = 100
    slack: str = "auto"
    affinity: str = "auto"
    n_epochs: int = 10
    learning_rate: float = 0.05
    decay: float = 1e-6
    n_sampled: int = 1024
    idf: bool | Literal["auto"] = "auto"
    normalize: bool = True

    presets: ClassVar[tuple[str, ...]] = ("best", "paper", "repaired")
    rules: ClassVar[Rules] = {
        "learning": [one_of(*LEARNINGS)],
        "dim": [whole()],
        "slack": [one_of(*SLACKS)],
        "affinity": [one_of("auto", *AFFINITIES)],
        "n_epochs": [whole()],
        "learning_rate": [real(0)],
        "decay": [real(0, closed="left")],
        "n_sampled": [whole(2)],
        "idf": [FLAG, one_of("auto")],
        "normalize": [FLAG],
    }
    tunable: ClassVar[Tunable] = {
        "dim": (50, 100, 200),
        "learning_rate": Span(0.02, 0.5),
        "n_epochs": (10, 20, 40),
    }

    @classmethod
    def for_corpus(cls, preset: str, shape: CorpusShape) -> LabelEmbeddingSettings:
        """Return the settings of a preset."""
        if preset == "best":
            return cls()
        printed = cls(
            **_SEQUENCE,
            slack="row",
            n_sampled=max(shape.n_labels, 2),
            idf=False,
            normalize=False,
        )
        return printed if preset == "paper" else replace(printed, **_JOINT)


@dataclass(frozen=True)
class LabelEmbeddingTreeSettings(TreeSettings):
    """All that :class:`labelspace.models.LabelEmbeddingTree` can be told; "paper" in brackets.

    "repaired" is "paper" with ``learning="joint"``, a slack for each child, the passes and steps of
    that problem, and a beam of ten.

    Attributes
    ----------
    learning : {"joint", "sequence"}
        Map and vectors together, or first the vectors of all nodes, by eigenmaps: joint (sequence).
    affinity : {"auto", "confusion", "centroid", "cooccurrence", "random"}
        What says that labels are alike: auto (confusion).
    dim : int
        Dimensions of the space: 100 (100: the number is not said).
    n_epochs : int
        Passes over the rows: 10 (100; repaired: 10).
    learning_rate : float
        First step size: 0.05 (0.02; repaired: 0.05).
    decay : float
        γ: larger keeps the map shorter: 1e-6.
    slack, branching, leaf_size, beam, idf, max_depth, balance, normalize
        The tree; as in :class:`labelspace.models.label_trees.settings.TreeSettings`.
    """

    learning: str = "joint"
    affinity: str = "auto"
    dim: int = 100
    n_epochs: int = 10
    learning_rate: float = 0.05
    decay: float = 1e-6

    rules: ClassVar[Rules] = {
        **TreeSettings.rules,
        "learning": [one_of(*LEARNINGS)],
        "affinity": [one_of("auto", "random", *AFFINITIES)],
        "dim": [whole()],
        "n_epochs": [whole()],
        "learning_rate": [real(0)],
        "decay": [real(0, closed="left")],
    }

    @classmethod
    def printed(cls) -> dict[str, Any]:
        """Return what the paper has beyond the shape of its trees."""
        return _SEQUENCE

    def repaired(self) -> LabelEmbeddingTreeSettings:
        """Return the joint problem, with a margin and a slack for each child, and a wide walk."""
        return replace(super().repaired(), **_JOINT)
