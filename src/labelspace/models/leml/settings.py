"""What LEML and RobustXML can be told, and what their presets say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from labelspace.models.leml.newton import LOSSES
from labelspace.parameters import FLAG, CorpusShape, Rules, Settings, one_of, real, whole

# Dimensions at least and at most; the publication's are a share of the labels.
_FEWEST, _MOST = 16, 200
_SHARE_IN_PAPER, _MOST_IN_PAPER = 0.8, 500


@dataclass(frozen=True)
class LEMLSettings(Settings):
    """All that LEML can be told; values are those of "best", those of "paper" in brackets.

    Attributes
    ----------
    dim : int
        Rank of the map: the number of labels, 200 at most (four fifths of it, 500 at
        most).
    penalty : float
        λ of both factors: 2 (2).
    loss : {"squared", "logistic", "squared-hinge"}
        What a score that is off costs: squared (squared). The others go over all pairs of rows
        and labels.
    n_rounds : int
        Rounds of solving for one factor and for the other: 1 (10).
    n_steps : int
        Steps of conjugate gradients in each: 20 (20).
    normalize : bool
        Whether rows are scaled to length one: True.

    Examples
    --------
    >>> LEMLSettings.for_corpus("best", CorpusShape(4880, 1836, 159)).dim
    159
    """

    dim: int = _MOST
    penalty: float = 2.0
    loss: str = "squared"
    n_rounds: int = 1
    n_steps: int = 20
    normalize: bool = True

    presets: ClassVar[tuple[str, ...]] = ("best", "paper")
    rules: ClassVar[Rules] = {
        "dim": [whole()],
        "penalty": [real(0)],
        "loss": [one_of("squared", *LOSSES)],
        "n_rounds": [whole()],
        "n_steps": [whole()],
        "normalize": [FLAG],
    }

    @classmethod
    def for_corpus(cls, preset: str, shape: CorpusShape) -> LEMLSettings:
        """Return the settings of a preset for a corpus of some shape."""
        if preset == "paper":
            return cls(dim=_published_dim(shape), n_rounds=10)
        return cls(dim=_dim(shape))


@dataclass(frozen=True)
class RobustXMLSettings(Settings):
    """All that RobustXML can be told; values are those of "best", those of "paper" in brackets.

    Attributes
    ----------
    dim : int
        Rank of the low-rank part: the number of labels, 200 at most (four fifths of it, 500 at
        most).
    penalty : float
        λ of its two factors: 2 (2).
    l1 : float
        ν: pulls of a feature below this give no weight: 0.2 (0.2).
    sparse_penalty : float
        μ of the sparse part: 0.05 (0.05).
    n_weights : int
        Features of a label in the sparse part at most: 100 (500).
    n_turns : int
        Turns of solving for one part and for the other: 1 (5).
    n_rounds : int
        Rounds of solving for the factors in each turn: 1 (1).
    n_steps : int
        Steps of conjugate gradients in each round: 20 (20).
    normalize : bool
        Whether rows are scaled to length one: True.

    Examples
    --------
    >>> RobustXMLSettings.for_corpus("paper", CorpusShape(4880, 1836, 159)).n_turns
    5
    """

    dim: int = _MOST
    penalty: float = 2.0
    l1: float = 0.2
    sparse_penalty: float = 0.05
    n_weights: int = 100
    n_turns: int = 1
    n_rounds: int = 1
    n_steps: int = 20
    normalize: bool = True

    presets: ClassVar[tuple[str, ...]] = ("best", "paper")
    rules: ClassVar[Rules] = {
        "dim": [whole()],
        "penalty": [real(0)],
        "l1": [real(0, closed="left")],
        "sparse_penalty": [real(0)],
        "n_weights": [whole()],
        "n_turns": [whole()],
        "n_rounds": [whole()],
        "n_steps": [whole()],
        "normalize": [FLAG],
    }

    @classmethod
    def for_corpus(cls, preset: str, shape: CorpusShape) -> RobustXMLSettings:
        """Return the settings of a preset for a corpus of some shape."""
        if preset == "paper":
            return cls(dim=_published_dim(shape), n_weights=500, n_turns=5)
        return cls(dim=_dim(shape))


def _dim(shape: CorpusShape) -> int:
    return min(max(shape.n_labels, _FEWEST), _MOST)


def _published_dim(shape: CorpusShape) -> int:
    return min(max(int(_SHARE_IN_PAPER * shape.n_labels), _FEWEST), _MOST_IN_PAPER)
