"""What XML-CNN can be told, and what its presets say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

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

if TYPE_CHECKING:
    from labelspace.deep.loop import DeepSettings

_FEW_ROWS = 4_000  # up to which steps are the largest


@dataclass(frozen=True)
class XMLCNNSettings(Settings):
    """All that XML-CNN can be told; values are those of "best", those of "paper" in brackets.

    Attributes
    ----------
    max_words : int
        Words of a row that are read, from its beginning: 200 (500).
    dim : int
        Length of word vectors: 128 (300).
    bag_dim : int
        Length of the vectors that words have in bags, where order does not count; 0 for no bags:
        256 (0).
    bag_words : int
        Words of a row that are in its bag: 500 (500).
    word_start : {"labels", "random"}
        Where word vectors begin: by the labels that words come with, or at random: labels
        (random).
    widths : sequence of int
        Words under a filter: 1, 2 and 4 (2, 4 and 8).
    n_filters : int
        Filters of each width: 128 (128).
    n_parts : int
        Parts of a row, of which each filter's largest answer is kept: 4 (8).
    hidden : int
        Width of the bottleneck: 512 (512).
    dropout : float
        Share of what the bottleneck hears and says that is left out in a step: 0.1 (0.5).
    word_dropout : float
        Share of words that is left out in a step: 0.1 (0).
    n_sampled : int
        Labels that a batch is scored against, its own and others: 8,192 (all).
    n_epochs : int
        Passes over the rows: 8 (20).
    min_steps : int
        More passes are made until there have been so many steps: 300 (0).
    batch_size : int
        Rows in a step: 64 (128).
    learning_rate : float
        First step size of filters and bottleneck: 0.0004 up to 4,000 rows, falling to 0.0001 from
        128,000 on (0.001).
    row_learning_rate : float
        First step size of word and label vectors: five times as much (0.001).
    normalize : bool
        Whether rows of features are scaled to length one; sequences of words never are: yes (yes).
    """

    max_words: int = 200
    dim: int = 128
    bag_dim: int = 256
    bag_words: int = 500
    word_start: str = "labels"
    widths: tuple[int, ...] = (1, 2, 4)
    n_filters: int = 128
    n_parts: int = 4
    hidden: int = 512
    dropout: float = 0.1
    word_dropout: float = 0.1
    n_sampled: int = 8192
    n_epochs: int = 8
    min_steps: int = 300
    batch_size: int = 64
    learning_rate: float = 4e-4
    row_learning_rate: float = 2e-3
    normalize: bool = True

    rules: ClassVar[Rules] = {
        "max_words": [whole()],
        "dim": [whole()],
        "bag_dim": [whole(0)],
        "bag_words": [whole()],
        "word_start": [one_of("labels", "random")],
        "widths": [tuple, list],
        "n_filters": [whole()],
        "n_parts": [whole()],
        "hidden": [whole()],
        "dropout": [real(0, 1, "left")],
        "word_dropout": [real(0, 1, "left")],
        "n_sampled": [whole()],
        "n_epochs": [whole()],
        "min_steps": [whole(0)],
        "batch_size": [whole()],
        "learning_rate": [real(0)],
        "row_learning_rate": [real(0)],
        "normalize": [FLAG],
    }
    tunable: ClassVar[Tunable] = {"dropout": (0.05, 0.2), "learning_rate": Span(1e-4, 1e-3)}

    @classmethod
    def for_corpus(cls, preset: str, shape: CorpusShape) -> XMLCNNSettings:
        """Return the settings of a preset."""
        if preset == "paper":
            return cls(
                max_words=500,
                dim=300,
                bag_dim=0,
                word_start="random",
                widths=(2, 4, 8),
                n_parts=8,
                dropout=0.5,
                word_dropout=0.0,
                n_sampled=max(shape.n_labels, 1),
                n_epochs=20,
                min_steps=0,
                batch_size=128,
                learning_rate=1e-3,
                row_learning_rate=1e-3,
            )
        rate = _step_size(shape.n_examples)
        return cls(learning_rate=rate, row_learning_rate=5.0 * rate)

    def training(
        self, seed: int, *, stops_early: bool = False, checkpoint: str | None = None
    ) -> DeepSettings:
        """Return how the task is trained."""
        from labelspace.deep.loop import DeepSettings

        return DeepSettings(
            n_epochs=self.n_epochs,
            min_steps=self.min_steps,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            row_learning_rate=self.row_learning_rate,
            patience=2 if stops_early else None,
            checkpoint=checkpoint,
            seed=seed,
        )


def _step_size(n_rows: int) -> float:
    """Return how large steps are at first: the more rows, the more and the smaller.

    >>> [round(_step_size(n), 5) for n in (100, 4_000, 45_000, 1_000_000)]
    [0.0004, 0.0004, 0.00015, 0.0001]
    """
    return 4e-4 * min(max((_FEW_ROWS / max(n_rows, 1)) ** 0.4, 0.25), 1.0)
