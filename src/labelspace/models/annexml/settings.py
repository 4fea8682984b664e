"""What AnnexML can be told, and what its presets say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from labelspace.linear.contrastive import ContrastiveSettings
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
from labelspace.voting import VoteWeights

# Small corpora are overfitted by a sharp contrast and large steps.
_SMALL = 20_000
# Weights of votes where none were given and rows are too few to choose them by.
_VOTES = VoteWeights(20.0, 0.5)


@dataclass(frozen=True)
class AnnexMLSettings(Settings):
    """All that AnnexML can be told; values are those of "best", those of "paper" in brackets.

    Attributes
    ----------
    n_learners : int
        Maps that are learned and vote together: 4 (15).
    dim : int
        Dimensions of the space: 192, but 96 for fewer than 20,000 rows or more than 6 learners
        (50).
    graph_neighbors : int
        Neighbours of each row in the label graph: 10 (10).
    similarity : {"cosine", "overlap", "smce"}
        What makes rows neighbours: cosine of label vectors (share of the neighbour's labels), or
        "smce", which lets each row choose; see
        :func:`labelspace.models.annexml.label_manifolds.smce_graph`.
    gamma : float
        Sharpness of the contrast: 20, but 10 for fewer than 20,000 rows (10).
    objective : {"batches", "pairs"}
        How maps are learned: by batches in which one neighbour of each row stands against those of
        the others, or as the original program does, all neighbours of a row against as many rows
        drawn from its part, with a step for each pair: batches (pairs).
    n_epochs : int
        Passes over the rows: 5 (10); with batches small corpora get more, for ``min_steps`` steps.
    min_steps : int
        Steps of a map at least, with batches: 100.
    batch_size : int
        Anchors in a batch at most: 512.
    learning_rate : float
        First step size: 0.2, but 0.1 for fewer than 20,000 rows (0.1). With batches it falls to
        zero.
    label_weight : float
        Weight in training of labels' own vectors: 1 (0, no such vectors).
    partition : {"none", "learned", "kmeans", "smce"}
        How rows are divided into parts with a map and an index each: none (learned). "kmeans"
        clusters features and "smce" labels.
    part_size : int
        Rows in a part, on average: 6,000 (6,000).
    balanced : bool
        Whether parts are kept from growing beyond a tenth over that: no (no).
    n_neighbors : int
        Training rows that vote, for each learner: 40, fewer with more than 6 learners (10).
    voting : {"weighted", "counts"}
        Whether a vote counts e^{γ(cos − 1)} or one: weighted (counts).
    vote_gamma : float or None
        γ of the votes. None: chosen by asking about a twentieth of the rows, which is held out of
        the maps' training; 20 for fewer than 5,000 rows.
    label_votes : float or None
        What all votes of labels for themselves count against all votes of rows. None: chosen as
        ``vote_gamma`` is; 0.5 for fewer than 5,000 rows (0).
    search : {"ivf", "exact", "walk"}
        Index of the training rows: inverted lists around centroids (walk, the program's way from
        row to nearest row, which is less exact than "exact").
    n_probes : int
        Inverted lists that a search by "ivf" looks into: more finds more and takes longer. 8,
        fewer with more than 4 learners.
    storage : {"int8", "float32"}
        How maps and vectors are kept: int8 (float32).
    normalize : bool
        Whether rows are scaled to length one: True (True).

    Examples
    --------
    >>> AnnexMLSettings.for_corpus("best", CorpusShape(5_000, 300, 200)).dim
    96
    """

    n_learners: int = 4
    dim: int = 192
    graph_neighbors: int = 10
    similarity: str = "cosine"
    gamma: float = 20.0
    objective: str = "batches"
    n_epochs: int = 5
    min_steps: int = 100
    batch_size: int = 512
    learning_rate: float = 0.2
    label_weight: float = 1.0
    partition: str = "none"
    part_size: int = 6000
    balanced: bool = False
    n_neighbors: int = 40
    voting: str = "weighted"
    vote_gamma: float | None = None
    label_votes: float | None = None
    search: str = "ivf"
    n_probes: int = 8
    storage: str = "int8"
    normalize: bool = True

    rules: ClassVar[Rules] = {
        "n_learners": [whole()],
        "dim": [whole()],
        "graph_neighbors": [whole()],
        "similarity": [one_of("cosine", "overlap", "smce")],
        "gamma": [real(0, 40, closed="right")],
        "objective": [one_of("batches", "pairs")],
        "n_epochs": [whole()],
        "min_steps": [whole()],
        "batch_size": [whole(2)],
        "learning_rate": [real(0)],
        "label_weight": [real(0, closed="left")],
        "partition": [one_of("none", "learned", "kmeans", "smce")],
        "part_size": [whole()],
        "balanced": [FLAG],
        "n_neighbors": [whole()],
        "voting": [one_of("weighted", "counts")],
        "vote_gamma": [real(0, closed="left"), None],
        "label_votes": [real(0, closed="left"), None],
        "search": [one_of("ivf", "exact", "walk")],
        "n_probes": [whole()],
        "storage": [one_of(*STORAGES)],
        "normalize": [FLAG],
    }

    tunable: ClassVar[Tunable] = {
        "n_learners": (8, 15),
        "dim": (96, 192, 384),
        "gamma": Span(5.0, 30.0),
        "n_epochs": (10, 20),
        "learning_rate": Span(0.03, 0.3),
        "n_neighbors": (20, 80),
        "idf": (True,),
    }

    @classmethod
    def for_corpus(cls, preset: str, shape: CorpusShape) -> AnnexMLSettings:
        """Return what measures best for a corpus, or the defaults of the original program."""
        if preset == "paper":
            return cls(
                n_learners=15,
                dim=50,
                similarity="overlap",
                gamma=10.0,
                objective="pairs",
                n_epochs=10,
                learning_rate=0.1,
                label_weight=0.0,
                partition="learned",
                n_neighbors=10,
                voting="counts",
                label_votes=0.0,
                search="walk",
                storage="float32",
            )
        if shape.n_examples < _SMALL:
            return cls(dim=96, gamma=10.0, learning_rate=0.1)
        return cls()

    def derived(self) -> dict[str, Any]:
        """Let each of many learners hold and find less."""
        return {
            "dim": min(self.dim, 96) if self.n_learners > 6 else self.dim,
            "n_neighbors": min(max(240 // self.n_learners, 10), 40),
            "n_probes": min(max(32 // self.n_learners, 2), 8),
        }

    def training(self) -> ContrastiveSettings:
        """Return how maps are learned."""
        return ContrastiveSettings(
            dim=self.dim,
            gamma=self.gamma,
            n_epochs=self.n_epochs,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            label_weight=self.label_weight,
            min_steps=self.min_steps,
        )

    def update(self) -> ContrastiveSettings:
        """Return how maps learn on: gently, since stored rows do not move with them."""
        return ContrastiveSettings(
            dim=self.dim,
            gamma=self.gamma,
            n_epochs=2,
            batch_size=self.batch_size,
            learning_rate=0.02,
            min_steps=16,
        )

    @property
    def vote_weights(self) -> VoteWeights:
        """What votes count, the usual where neither given nor chosen."""
        return VoteWeights(
            _VOTES.sharpness if self.vote_gamma is None else self.vote_gamma,
            _VOTES.label_votes if self.label_votes is None else self.label_votes,
        )
