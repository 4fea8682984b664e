"""What the sparse classifiers can be told, and what their presets say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from labelspace.parameters import CorpusShape, Rules, Settings, Span, Tunable, real, whole


@dataclass(frozen=True)
class PPDSparseSettings(Settings):
    """All that PPD-Sparse can be told; values are those of "best", those of "paper" in brackets.

    Attributes
    ----------
    C : float
        Weight of the training error: 1 (1).
    shrink : float
        λ, the weight of ‖w‖₁ against ½‖w‖²: 0.1 (0.01).
    tol : float
        Violation of a margin of 1 that is let pass: 0.1 (0.1).
    max_rounds : int
        Times at most that a label looks for more negatives: 20 (20).
    max_passes : int
        Passes over a working set at most: 50 (50).
    """

    C: float = 1.0
    shrink: float = 0.1
    tol: float = 0.1
    max_rounds: int = 20
    max_passes: int = 50

    rules: ClassVar[Rules] = {
        "C": [real(0)],
        "shrink": [real(0, closed="left")],
        "tol": [real(0)],
        "max_rounds": [whole()],
        "max_passes": [whole()],
    }
    tunable: ClassVar[Tunable] = {"C": Span(0.1, 10.0), "shrink": Span(0.01, 0.3)}

    @classmethod
    def for_corpus(cls, preset: str, shape: CorpusShape) -> PPDSparseSettings:
        """Return the settings of a preset, which are the same for all corpora."""
        return cls(shrink=0.01) if preset == "paper" else cls()


@dataclass(frozen=True)
class ProXMLSettings(Settings):
    """All that ProXML can be told; values are those of "best", those of "paper" in brackets.

    Attributes
    ----------
    C : float
        Weight of the training error against ‖w‖₁: 1 (1).
    tol : float
        Violation of a margin of 1 that is let pass: 0.1 (0.01).
    max_rounds : int
        Times at most that a label looks for more negatives: 10 (50).
    max_passes : int
        Passes over the features in each step at most: 10 (100).
    """

    C: float = 1.0
    tol: float = 0.1
    max_rounds: int = 10
    max_passes: int = 10

    rules: ClassVar[Rules] = {
        "C": [real(0)],
        "tol": [real(0)],
        "max_rounds": [whole()],
        "max_passes": [whole()],
    }
    tunable: ClassVar[Tunable] = {"C": Span(0.3, 10.0)}

    @classmethod
    def for_corpus(cls, preset: str, shape: CorpusShape) -> ProXMLSettings:
        """Return the settings of a preset, which are the same for all corpora."""
        return cls(tol=0.01, max_rounds=50, max_passes=100) if preset == "paper" else cls()
