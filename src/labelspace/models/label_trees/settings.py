"""What the trees can be told, and what their presets say."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, TypeVar

from labelspace.models.label_trees.affinity import AFFINITIES
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

SLACKS = ("auto", "row", "node")

# Of any tree as Bengio, Weston and Grangier (2010) have it: rows as they are, clusters as they
# come, each label a leaf, one slack for a row's whole way, and a walk along the best child.
PRINTED: dict[str, Any] = {
    "slack": "row",
    "leaf_size": 1,
    "beam": 1,
    "idf": False,
    "balance": 0.0,
    "normalize": False,
}


@dataclass(frozen=True)
class TreeSettings(Settings):
    """What any tree has: its shape, the walk, and what rows and slacks are.

    Attributes
    ----------
    slack : {"auto", "row", "node"}
        Whether a row has one slack for its whole way, or one for each child that it meets: auto,
        "row" if every row has one label (row; repaired: node).
    branching : int
        Children of a node at most: 16 (16: the paper's number is not said).
    leaf_size : int
        A node with at most so many labels has them as its children: 64 (1).
    beam : int
        Nodes of each level that the walk keeps: 10 (1; repaired: 10).
    idf : bool or "auto"
        Whether features are weighted by inverse document frequency: auto (False).
    max_depth : int, optional
        Steps from the root to a label at most.
    balance : float
        No child holds more labels than the mean of its siblings divided by this: 1 makes all
        alike, 0 leaves clusters as they come: 0.8 (0).
    normalize : bool
        Whether rows are scaled to length one: True (False).
    """

    slack: str = "auto"
    branching: int = 16
    leaf_size: int = 64
    beam: int = 10
    idf: bool | Literal["auto"] = "auto"
    max_depth: int | None = None
    balance: float = 0.8
    normalize: bool = True

    presets: ClassVar[tuple[str, ...]] = ("best", "paper", "repaired")
    rules: ClassVar[Rules] = {
        "slack": [one_of(*SLACKS)],
        "branching": [whole(2)],
        "leaf_size": [whole()],
        "beam": [whole()],
        "idf": [FLAG, one_of("auto")],
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
        """Return the settings of a preset, which are the same for all corpora."""
        if preset == "best":
            return cls()
        printed = cls(**PRINTED, **cls.printed())
        return printed if preset == "paper" else printed.repaired()

    @classmethod
    def printed(cls) -> dict[str, Any]:
        """Return what the paper has beyond the shape of its trees."""
        return {}

    def repaired(self: Chosen) -> Chosen:
        """Return these with what rows of several labels need: a slack per child, and a wide walk.

        With single labels as leaves the walk along the best child finds one label.
        """
        return replace(self, slack="node", beam=10)


@dataclass(frozen=True)
class PredictorSettings(TreeSettings):
    """Trees whose nodes have linear predictors of the features.

    Attributes
    ----------
    C : float or "auto"
        Weight of the training error against the length of the weights: auto, which is chosen on
        held-out training rows (auto: γ is not said).
    min_weight : float
        Weights closer to zero are cut: 0.05 (0).
    loss : {"squared_hinge", "hinge"}
        What a slack counts, its square or as it is: squared_hinge (hinge).
    tol : float
        Violation of a margin of 1 that is let pass: 0.1.
    max_iter : int
        Passes over the rows at most: 100 (20: not said).
    """

    C: float | str = "auto"
    min_weight: float = 0.05
    loss: str = "squared_hinge"
    tol: float = 0.1
    max_iter: int = 100

    rules: ClassVar[Rules] = {
        **TreeSettings.rules,
        "C": [real(0), one_of("auto")],
        "min_weight": [real(0, closed="left")],
        "loss": [one_of("squared_hinge", "hinge")],
        "tol": [real(0)],
        "max_iter": [whole()],
    }
    tunable: ClassVar[Tunable] = {**TreeSettings.tunable, "C": Span(0.1, 10.0)}

    @classmethod
    def printed(cls) -> dict[str, Any]:
        """Return what the paper has: a slack as it is, and all weights. Passes are ours."""
        return {"min_weight": 0.0, "loss": "hinge", "max_iter": 20}


@dataclass(frozen=True)
class LabelTreeSettings(PredictorSettings):
    """All that :class:`labelspace.models.LabelTree` can be told; those of "paper" in brackets.

    "repaired" is "paper" with a slack per child and a beam of ten.

    Attributes
    ----------
    relaxation : {1, 2}
        Each node by itself, or margins between siblings: 2 (2).
    affinity : {"auto", "confusion", "centroid", "cooccurrence", "random"}
        What says that labels are alike: auto, which is confusion up to 200 labels and centroid
        beyond (confusion).
    slack, branching, leaf_size, beam, idf, max_depth, balance, normalize
        The tree; as in :class:`TreeSettings`.
    C, min_weight, loss, tol, max_iter
        The predictors; as in :class:`PredictorSettings`.

    Examples
    --------
    >>> LabelTreeSettings.for_corpus("paper", CorpusShape(5_000, 300, 200)).slack
    'row'
    """

    relaxation: int = 2
    affinity: str = "auto"

    rules: ClassVar[Rules] = {
        **PredictorSettings.rules,
        "relaxation": [whole(1, 2)],
        "affinity": [one_of("auto", "random", *AFFINITIES)],
    }

    @classmethod
    def printed(cls) -> dict[str, Any]:
        """Return what the paper has: the second relaxation, and a tree from confusions."""
        return {**super().printed(), "relaxation": 2, "affinity": "confusion"}


@dataclass(frozen=True)
class BalancedLabelTreeSettings(PredictorSettings):
    """All that :class:`labelspace.models.BalancedLabelTree` can be told; "paper" in brackets.

    "repaired" is "paper" with a slack per child and a beam of ten.

    Attributes
    ----------
    ambiguity : float
        Labels that a step may leave, as a multiple of an even split's: 1.5 (1.5: the number is not
        said).
    n_rounds : int
        Turns of learning a node's predictors and moving its labels: 2 (2: not said).
    slack, branching, leaf_size, beam, idf, max_depth, balance, normalize
        The tree; as in :class:`TreeSettings`, but for "paper" ``balance`` is 0.8 and ``leaf_size``
        2, numbers that are not said.
    C, min_weight, loss, tol, max_iter
        The predictors; as in :class:`PredictorSettings`.
    """

    ambiguity: float = 1.5
    n_rounds: int = 2

    rules: ClassVar[Rules] = {
        **PredictorSettings.rules,
        "ambiguity": [real(1, closed="left")],
        "n_rounds": [whole()],
    }

    @classmethod
    def for_corpus(cls, preset: str, shape: CorpusShape) -> BalancedLabelTreeSettings:
        """Return the settings of a preset; leaves overlap, so they hold two labels at least."""
        chosen = super().for_corpus(preset, shape)
        if preset == "best":
            return chosen
        return replace(chosen, balance=0.8, leaf_size=2)


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
