"""What the trees can be told beyond their parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypeVar

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

Chosen = TypeVar("Chosen", bound="TreeSettings")


@dataclass(frozen=True)
class TreeSettings(Settings):
    """The shape of any tree, beyond how wide it is and where it ends.

    Attributes
    ----------
    max_depth : int, optional
        Steps from the root to a label at most.
    balance : float
        No child holds more labels than the mean of its siblings divided by this: 1 makes all
        alike, 0 leaves clusters as they come.
    normalize : bool
        Whether rows are scaled to length one: True.
    """

    max_depth: int | None = None
    balance: float = 0.8
    normalize: bool = True

    presets: ClassVar[tuple[str, ...]] = ("best",)
    rules: ClassVar[Rules] = {
        "max_depth": [whole(), None],
        "balance": [real(0, 1, "both")],
        "normalize": [FLAG],
    }

    tunable: ClassVar[Tunable] = {
        "branching": (8, 32, 100),
        "leaf_size": (100, 400),
        "beam": (20, 50),
    }

    @classmethod
    def for_corpus(cls: type[Chosen], preset: str, shape: CorpusShape) -> Chosen:
        """Return the settings, which are the same for all corpora."""
        return cls()


@dataclass(frozen=True)
class LabelTreeSettings(TreeSettings):
    """All that :class:`labelspace.models.LabelTree` can be told beyond its parameters.

    Attributes
    ----------
    max_depth, balance
        The tree; as in :class:`TreeSettings`.
    tol : float
        Violation of a margin of 1 that is let pass.
    max_iter : int
        Passes over the rows at most.
    """

    tol: float = 0.1
    max_iter: int = 100

    rules: ClassVar[Rules] = {
        **TreeSettings.rules,
        "tol": [real(0)],
        "max_iter": [whole()],
    }
    tunable: ClassVar[Tunable] = {**TreeSettings.tunable, "C": Span(0.1, 10.0)}


@dataclass(frozen=True)
class BalancedLabelTreeSettings(LabelTreeSettings):
    """All that :class:`labelspace.models.BalancedLabelTree` can be told beyond its parameters.

    Attributes
    ----------
    n_rounds : int
        Turns of learning a node's predictors and moving its labels.
    max_depth, balance, tol, max_iter
        As in :class:`LabelTreeSettings`.
    """

    n_rounds: int = 2

    rules: ClassVar[Rules] = {**LabelTreeSettings.rules, "n_rounds": [whole()]}


@dataclass(frozen=True)
class LabelEmbeddingTreeSettings(TreeSettings):
    """All that :class:`labelspace.models.LabelEmbeddingTree` can be told beyond its parameters.

    Attributes
    ----------
    decay : float
        γ: larger keeps the map shorter.
    max_depth, balance
        The tree; as in :class:`TreeSettings`.
    """

    decay: float = 1e-6

    rules: ClassVar[Rules] = {**TreeSettings.rules, "decay": [real(0, closed="left")]}


@dataclass(frozen=True)
class ParabelSettings(Settings):
    """All that Parabel can be told; values are those of "best", those of "paper" in brackets.

    Attributes
    ----------
    n_trees : int
        Trees that answer together: 3 (3).
    leaf_size : int
        A node with at most so many labels has them as its children: 100 (100).
    beam : int
        Nodes of each level that the search keeps: 10 (10).
    C : float or "auto"
        Weight of the training error against the length of the weights: auto (1).
    min_weight : float
        Weights closer to zero are cut: 0.05 (0.1).
    centroid_features : int
        Largest values of a label's centroid that halving looks at: 1,000 (all).
    tol : float
        Violation of a margin of 1 that is let pass: 0.1 (0.1).
    max_iter : int
        Passes over the rows at most: 100 (20).
    normalize : bool
        Whether rows are scaled to length one: True.
    """

    n_trees: int = 3
    leaf_size: int = 100
    beam: int = 10
    C: float | str = "auto"
    min_weight: float = 0.05
    centroid_features: int = 1000
    tol: float = 0.1
    max_iter: int = 100
    normalize: bool = True

    rules: ClassVar[Rules] = {
        "n_trees": [whole()],
        "leaf_size": [whole()],
        "beam": [whole()],
        "C": [real(0), one_of("auto")],
        "min_weight": [real(0, closed="left")],
        "centroid_features": [whole()],
        "tol": [real(0)],
        "max_iter": [whole()],
        "normalize": [FLAG],
    }
    tunable: ClassVar[Tunable] = {"C": Span(0.1, 10.0), "leaf_size": (50, 400), "beam": (20, 50)}

    @classmethod
    def for_corpus(cls, preset: str, shape: CorpusShape) -> ParabelSettings:
        """Return the settings of a preset."""
        if preset == "paper":
            return cls(
                C=1.0, min_weight=0.1, centroid_features=max(shape.n_features, 1), max_iter=20
            )
        return cls()
