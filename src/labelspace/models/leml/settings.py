"""What LEML and RobustXML can be told, and what their presets say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from labelspace.models.leml.newton import LOSSES
from labelspace.parameters import FLAG, CorpusShape, Rules, Settings, one_of, real, whole

# Dimensions at least, as many as there are labels up to here, then this often the root of their
# number, and at most; the publication's are a share of the labels.
_FEWEST, _FEW_LABELS, _BY_ROOT, _MOST = 16, 200, 5.0, 1000
# Weights of a map at most, and rows for each dimension at least, where these are more than that.
_MOST_WEIGHTS, _ROWS_EACH = 1 << 28, 20
_SHARE_IN_PAPER, _MOST_IN_PAPER = 0.8, 500
# λ, and what it falls to where labels have few rows: a quarter of the rows that there are for each.
_PENALTY, _LEAST_PENALTY, _BY_ROWS = 2.0, 0.5, 0.25


@dataclass(frozen=True)
class LEMLSettings(Settings):
    """All that LEML can be told; values are those of "best", those of "paper" in brackets.

    Attributes
    ----------
    dim : int
        Rank of the map: the number of labels, but beyond 200 five times its root, 200 at least and
        1,000 at most (four fifths of it, 500 at most).
    penalty : float
        λ of both factors: 2, but less where there are fewer than eight rows for each label, a
        quarter of that number, 0.5 at least (2).
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
    >>> LEMLSettings.for_corpus("best", CorpusShape(80_000, 100_000, 40_000)).dim
    1000
    """

    dim: int = _FEW_LABELS
    penalty: float = _PENALTY
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
        return cls(dim=_dim(shape), penalty=_penalty(shape))


@dataclass(frozen=True)
class RobustXMLSettings(Settings):
    """All that RobustXML can be told; values are those of "best", those of "paper" in brackets.

    Attributes
    ----------
    dim : int
        Rank of the low-rank part: as in :class:`LEMLSettings`.
    penalty : float
        λ of its two factors: as in :class:`LEMLSettings`.
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

    dim: int = _FEW_LABELS
    penalty: float = _PENALTY
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
        return cls(dim=_dim(shape), penalty=_penalty(shape))


def _dim(shape: CorpusShape) -> int:
    """Return a rank that grows with the number of labels, as far as memory goes."""
    most = min(_MOST, max(_FEW_LABELS, _MOST_WEIGHTS // max(shape.n_features, 1)))
    by_labels, by_rows = _BY_ROOT * shape.n_labels**0.5, shape.n_examples / _ROWS_EACH
    wanted = max(_FEW_LABELS, int(min(by_labels, by_rows)))
    return min(max(shape.n_labels, _FEWEST), wanted, most)


def _penalty(shape: CorpusShape) -> float:
    """Return λ: labels with few rows have short directions, which it must not cut off."""
    by_rows = _BY_ROWS * shape.n_examples / max(shape.n_labels, 1)
    return min(_PENALTY, max(_LEAST_PENALTY, by_rows))


def _published_dim(shape: CorpusShape) -> int:
    return min(max(int(_SHARE_IN_PAPER * shape.n_labels), _FEWEST), _MOST_IN_PAPER)
