"""What the sparse classifiers can be told, and what their presets say."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

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


@dataclass(frozen=True)
class PPDSparseSettings(Settings):
    """All that PPD-Sparse can be told; values are those of "best", those of "paper" in brackets.

    Attributes
    ----------
    loss : {"squared_hinge", "hinge"}
        What a margin that is missed costs: squared_hinge (squared_hinge).
    C : float
        Weight of the training error: 1 (1).
    shrink : float
        λ, the weight of ‖w‖₁ against ½‖w‖²: 0.3 (0.1).
    tol : float
        Violation of a margin of 1 that is let pass: 0.1 (0.1).
    max_rounds : int
        Times at most that a label looks for more negatives: 20 (15).
    max_passes : int
        Passes over a working set at most: 50 (1).
    normalize : bool
        Whether rows are scaled to length one: True.
    """

    loss: str = "squared_hinge"
    C: float = 1.0
    shrink: float = 0.3
    tol: float = 0.1
    max_rounds: int = 20
    max_passes: int = 50
    normalize: bool = True

    rules: ClassVar[Rules] = {
        "loss": [one_of("squared_hinge", "hinge")],
        "C": [real(0)],
        "shrink": [real(0, closed="left")],
        "tol": [real(0)],
        "max_rounds": [whole()],
        "max_passes": [whole()],
        "normalize": [FLAG],
    }
    tunable: ClassVar[Tunable] = {"C": Span(0.1, 10.0), "shrink": Span(0.03, 1.0)}

    @classmethod
    def for_corpus(cls, preset: str, shape: CorpusShape) -> PPDSparseSettings:
        """Return the settings of a preset, which are the same for all corpora."""
        if preset == "paper":
            return cls(shrink=0.1, max_rounds=15, max_passes=1)
        return cls()


@dataclass(frozen=True)
class PDSparseSettings(Settings):
    """All that PD-Sparse can be told; values are those of "best", those of "paper" in brackets.

    "repaired" is "paper" but for the threshold, and five labels join at a time.

    Attributes
    ----------
    loss : {"threshold", "each", "worst"}
        What has a margin: each label of a row and all others to a threshold of the row's own, each
        label of a row to the highest of all others, or the worst pair alone: threshold (worst).
    C : float
        Weight of the training error: 1 (1).
    shrink : float
        λ, the weight of ‖W‖₁ against ½‖W‖²: 0.3 (0.1).
    constant : float
        Value of the feature that all rows have, whose weight makes the bias: 0.3 (1).
    own_features : bool
        Whether a label has weights only for features that rows of its own have: True (False).
    tol : float
        Learning ends when the α move by this share of their sum: 0.02 (0.001).
    max_searches : int
        Times at most that rows look for labels that violate their margin: 10 (20).
    max_passes : int
        Passes over the rows after each search: 2 (1).
    n_joining : int
        Labels that join the active ones of a row in a search at most: 16 (1).
    slack : float
        Violation of a margin of 1 that lets no label join: 0.1 (0).
    n_post_passes : int
        Passes at most, after all searches, that settle the weights that are left without λ: 0 (20).
    normalize : bool
        Whether rows are scaled to length one: True.
    """

    loss: str = "threshold"
    C: float = 1.0
    shrink: float = 0.3
    constant: float = 0.3
    own_features: bool = True
    tol: float = 0.02
    max_searches: int = 10
    max_passes: int = 2
    n_joining: int = 16
    slack: float = 0.1
    n_post_passes: int = 0
    normalize: bool = True

    presets: ClassVar[tuple[str, ...]] = ("best", "paper", "repaired")
    rules: ClassVar[Rules] = {
        "loss": [one_of("threshold", "each", "worst")],
        "C": [real(0)],
        "shrink": [real(0, closed="left")],
        "constant": [real(0)],
        "own_features": [FLAG],
        "tol": [real(0)],
        "max_searches": [whole()],
        "max_passes": [whole()],
        "n_joining": [whole()],
        "slack": [real(0, closed="left")],
        "n_post_passes": [whole(0)],
        "normalize": [FLAG],
    }
    tunable: ClassVar[Tunable] = {"C": Span(0.1, 10.0), "shrink": Span(0.03, 1.0)}

    @classmethod
    def for_corpus(cls, preset: str, shape: CorpusShape) -> PDSparseSettings:
        """Return the settings of a preset, which are the same for all corpora."""
        if preset == "best":
            return cls()
        printed = cls(
            loss="worst",
            shrink=0.1,
            constant=1.0,
            own_features=False,
            tol=0.001,
            max_searches=20,
            max_passes=1,
            n_joining=1,
            slack=0.0,
            n_post_passes=20,
        )
        if preset == "repaired":
            return replace(printed, loss="threshold", n_joining=5)
        return printed


@dataclass(frozen=True)
class ProXMLSettings(Settings):
    """All that ProXML can be told; values are those of "best", those of "paper" in brackets.

    Attributes
    ----------
    C : float
        Weight of the training error against ‖w‖₁: 0.6 (1).
    rarity : float
        Rows of a label count by this power of one over its propensity: 1 (0, all alike).
    tol : float
        Violation of a margin of 1 that is let pass: 0.01 (0.01).
    max_rounds : int
        Times at most that a label looks for more negatives: 10 (50).
    max_passes : int
        Passes over the features in each step at most: 10 (100).
    normalize : bool
        Whether rows are scaled to length one: True.
    """

    C: float = 0.6
    rarity: float = 1.0
    tol: float = 0.01
    max_rounds: int = 10
    max_passes: int = 10
    normalize: bool = True

    rules: ClassVar[Rules] = {
        "C": [real(0)],
        "rarity": [real(0, closed="left")],
        "tol": [real(0)],
        "max_rounds": [whole()],
        "max_passes": [whole()],
        "normalize": [FLAG],
    }
    tunable: ClassVar[Tunable] = {"C": Span(0.3, 3.0), "rarity": (0.0, 0.5, 1.0)}

    @classmethod
    def for_corpus(cls, preset: str, shape: CorpusShape) -> ProXMLSettings:
        """Return the settings of a preset, which are the same for all corpora."""
        if preset == "paper":
            return cls(C=1.0, rarity=0.0, max_rounds=50, max_passes=100)
        return cls()
