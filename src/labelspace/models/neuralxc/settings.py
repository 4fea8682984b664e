"""What NeuralXC is told: the settings of its auto-encoders, and how many learners answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, TypeVar

from labelspace.deep.autoencoder.settings import (
    FEW_ROWS,
    FEWEST_WORDS,
    VERY_FEW_ROWS,
    AutoencoderSettings,
)
from labelspace.parameters import CorpusShape, Rules, Span, Tunable, whole

Chosen = TypeVar("Chosen", bound="NeuralXCSettings")


@dataclass(frozen=True)
class NeuralXCSettings(AutoencoderSettings):
    """All that NeuralXC can be told.

    The values of the preset "best" are given first, those of "paper" in brackets.

    Attributes
    ----------
    n_learners : int
        Networks that are trained, each from a start of its own; scores are averaged: 1, with
        2,000 to 20,000 rows 2 (1). Few rows are overfitted by one network; several, each seeing
        other parts of the rows, less so.
    linear_dim : int
        Dimensions of a linear map from rows to labels that counts as much as all networks; 0 is
        none: 512, with fewer than 2,000 rows or 1,000 features 0 (0). Where features are few it
        knows nothing that the networks do not.

    All others are those of :class:`labelspace.deep.autoencoder.settings.AutoencoderSettings`.

    Examples
    --------
    >>> NeuralXCSettings.for_corpus("best", CorpusShape(5_000, 10_000, 100)).n_learners
    2
    """

    rules: ClassVar[Rules] = {
        **AutoencoderSettings.rules,
        "n_learners": [whole()],
        "linear_dim": [whole(0)],
    }

    n_learners: int = 1
    linear_dim: int = 0

    tunable: ClassVar[Tunable] = {
        "n_learners": (2, 4),
        "dim": (128, 256, 512),
        "keep_features": (0.3, 0.5, 0.7),
        "learning_rate": Span(3e-4, 1e-2),
        "linear_dim": (0, 512),
    }

    @classmethod
    def for_corpus(cls: type[Chosen], preset: str, shape: CorpusShape) -> Chosen:
        """Return the settings of a preset for a corpus of some shape."""
        chosen = super().for_corpus(preset, shape)
        if preset == "paper" or shape.n_examples < VERY_FEW_ROWS:
            return chosen
        return replace(
            chosen,
            n_learners=2 if shape.n_examples < FEW_ROWS else 1,
            linear_dim=512 if shape.n_features >= FEWEST_WORDS else 0,
        )
