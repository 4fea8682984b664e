"""What the trees can be told beyond their parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypeVar

from labelspace.parameters import CorpusShape, Rules, Settings, Span, Tunable, real, whole

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
    """

    max_depth: int | None = None
    balance: float = 0.8

    presets: ClassVar[tuple[str, ...]] = ("best",)
    rules: ClassVar[Rules] = {
        "max_depth": [whole(), None],
        "balance": [real(0, 1, "both")],
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
