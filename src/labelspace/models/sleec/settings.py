"""What SLEEC can be told, and what its presets say."""

from __future__ import annotations

from dataclasses import dataclass
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
from labelspace.spaces.quantized import STORAGES

# Corpora that the publication calls small, where one learner takes all rows at once.
_SMALL = 15_000
_FEW_LABELS = 500
# Rows that are not parted: a part that a new row does not go to is lost to it.
_LARGE = 100_000


@dataclass(frozen=True)
class SLEECSettings(Settings):
    """All that SLEEC can be told; values are those of "best", those of "paper" in brackets.

    Attributes
    ----------
    n_learners : int
        Partitions, each with its maps, that vote together: 1 (1, but 10 beyond 15,000 rows).
    part_size : int
        Rows in a part, on average; a learner with as many rows or fewer has one part: 100,000
        (15,000 for so few rows, else 6,000).
    dim : int
        Dimensions of the space: 100 (100, but 50 beyond 15,000 rows).
    graph_neighbors : int
        Neighbours of each row whose products are kept: 100, but 50 beyond 15,000 rows (250, but
        500 with more than 500 labels and 25 beyond 15,000 rows).
    max_steps : int
        Pairs of steps of singular value projection at most: 200, but 100 beyond 15,000 rows
        (200).
    C : float
        Weight of a map's error against its length: 0.2, but 0.1 with more than 500 labels and 0.03
        beyond 15,000 rows (0.2, 0.1, 0.1).
    l1, rho : float
        λ, the price of an image's distance from zero, and ρ of the ADMM: 0.01, 0.001 (the same).
    n_rounds : int
        Rounds of the ADMM: 2 (2).
    cut_weights : float
        Share of a map's weights that are made zero, the smallest: 0 (0.01, else 0.8).
    cut_codes : float
        Share of the rows' coordinates that are made zero, the smallest of each dimension: 0
        (0.01, else 0.5).
    n_neighbors : int
        Training rows that vote, for each learner: 25, but 70 with more than 500 labels and 40
        beyond 15,000 rows (25, 70, 10).
    voting : {"distance", "counts"}
        Whether a nearer row's vote counts more, or all count one: distance (counts).
    storage : {"int8", "float32"}
        How maps are kept: int8 (float32).
    normalize : bool
        Whether rows are scaled to length one: True.

    Examples
    --------
    >>> SLEECSettings.for_corpus("paper", CorpusShape(4880, 1836, 159)).graph_neighbors
    250
    """

    n_learners: int = 1
    part_size: int = _SMALL
    dim: int = 100
    graph_neighbors: int = 100
    max_steps: int = 200
    C: float = 0.2
    l1: float = 0.01
    rho: float = 0.001
    n_rounds: int = 2
    cut_weights: float = 0.0
    cut_codes: float = 0.0
    n_neighbors: int = 25
    voting: str = "distance"
    storage: str = "int8"
    normalize: bool = True

    presets: ClassVar[tuple[str, ...]] = ("best", "paper")
    rules: ClassVar[Rules] = {
        "n_learners": [whole()],
        "part_size": [whole()],
        "dim": [whole()],
        "graph_neighbors": [whole()],
        "max_steps": [whole(0)],
        "C": [real(0)],
        "l1": [real(0, closed="left")],
        "rho": [real(0)],
        "n_rounds": [whole()],
        "cut_weights": [real(0, 1, "left")],
        "cut_codes": [real(0, 1, "left")],
        "n_neighbors": [whole()],
        "voting": [one_of("distance", "counts")],
        "storage": [one_of(*STORAGES)],
        "normalize": [FLAG],
    }

    tunable: ClassVar[Tunable] = {
        "dim": (50, 100, 200),
        "C": Span(0.05, 1.0),
        "n_neighbors": Span(10, 100),
        "graph_neighbors": (30, 100, 250),
    }

    @classmethod
    def for_corpus(cls, preset: str, shape: CorpusShape) -> SLEECSettings:
        """Return the settings of a preset for a corpus of some shape."""
        many_labels = shape.n_labels > _FEW_LABELS
        if shape.n_examples <= _SMALL:
            C, n_neighbors = (0.1, 70) if many_labels else (0.2, 25)
            if preset == "best":
                return cls(C=C, n_neighbors=n_neighbors)
            return cls(
                graph_neighbors=500 if many_labels else 250,
                C=C,
                cut_weights=0.01,
                cut_codes=0.01,
                n_neighbors=n_neighbors,
                voting="counts",
                storage="float32",
            )
        if preset == "best":
            return cls(part_size=_LARGE, graph_neighbors=50, C=0.03, max_steps=100, n_neighbors=40)
        return cls(
            n_learners=10,
            part_size=6000,
            dim=50,
            graph_neighbors=25,
            C=0.1,
            cut_weights=0.8,
            cut_codes=0.5,
            n_neighbors=10,
            voting="counts",
            storage="float32",
        )
