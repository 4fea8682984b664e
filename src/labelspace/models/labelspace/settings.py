"""What LabelSpace can be told, and what it takes for a corpus of some size."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from labelspace.linear.contrastive import ContrastiveSettings
from labelspace.parameters import (
    FLAG,
    CorpusShape,
    Rules,
    Settings,
    Span,
    Tunable,
    real,
    whole,
)

# Small corpora are overfitted by a sharp contrast and large steps, and have time for two spaces.
_SMALL = 20_000
_FEW = 8_000
_LONG = 100  # features of a row from which on it can afford, and needs, more hard negatives
_EVERY_NEGATIVE = 1e8  # products of labels and features of rows that are no effort
_EXACT = 5e10  # the same for classifiers that see all rows, whose solver passes over few of them
_QUICKLY_EXACT = 1e9  # the same where time counts
_MOST_NEGATIVES = 1e9  # and those that are the most effort


@dataclass(frozen=True)
class LabelSpaceSettings(Settings):
    """All that LabelSpace can be told beside C, idf and propensity.

    Attributes
    ----------
    dim : int
        Dimensions of the space in which neighbours are searched: 192, but 128 for fewer than
        20,000 rows.
    n_learners : int
        Spaces whose neighbours vote together: two.
    gamma : float
        Sharpness of the contrast by which the space is learned: 20, but 10 for fewer than 20,000
        rows.
    learning_rate : float
        First step size of the space: 0.2, but 0.1 for fewer than 20,000 rows.
    min_steps : int
        Steps of the space at least: 200, but 80 for fewer than 8,000 rows.
    label_weight : float
        Weight, in learning the space, of labels' own vectors, to which rows are drawn: 1, but 0
        (no such vectors) for fewer than 20,000 rows.
    batch_size : int
        Rows that the space learns from at a time, at most: 512.
    n_neighbors : int
        Training rows that vote, for each learner: 40, but 100 for fewer than 20,000 rows.
    vote_gamma : float
        A neighbour's vote counts e^{γ(cos − 1)}: 20.
    n_voted : int
        Labels that come from votes to a row's candidates: 60.
    n_by_margin : int
        Labels that its classifiers add to these: 20.
    n_by_name : int
        Labels that are added because the row has all of their name: 10.
    hard_neighbors, hard_negatives : int
        Neighbours that propose labels for a training row, and how many of these are its hard
        negatives: 30 and 50, but 100 and 100 where rows have 100 features or more on average.
    update_neighbors, update_negatives : int
        The same for rows that come later: 30 and 50.
    min_negatives : int
        Negatives that a classifier draws at least: all rows where that is no effort, five for each
        feature of a row elsewhere, 100 at least.
    min_weight : float
        Classifiers' weights closer to zero are cut: 0.05.
    longest_list : int
        Labels whose weights for a feature propose them, at most, the largest first, where some
        feature has weights for ten times as many; margins are of all weights: 2,000.
    exact : bool
        Whether classifiers see all rows as negatives, or only hard ones and some drawn at random:
        all, unless labels × features of all rows are more than 5 · 10¹⁰.
    tol : float
        Largest violation of a margin that exact classifiers let pass: 0.5.
    try_C : bool
        Whether C is tried where it is "auto", or the usual one taken: yes.
    n_partners : int
        Labels that go with a label, of which it is known how often: 32.
    n_trees : int
        Boosted trees that correct the stacking: 100.
    validation_fraction : float
        Share of the rows held out to learn how votes and classifiers are stacked: 0.1.
    max_held_out : int
        Rows held out at most: 4,000.
    reservoir_size : int
        Training rows that are kept, to tell labels that come later from: 1,000.

    Examples
    --------
    >>> LabelSpaceSettings.for_corpus("balanced", CorpusShape(5_000, 300, 200, 50_000)).dim
    128
    """

    dim: int = 192
    n_learners: int = 2
    gamma: float = 20.0
    learning_rate: float = 0.2
    min_steps: int = 200
    label_weight: float = 1.0
    batch_size: int = 512
    n_neighbors: int = 40
    vote_gamma: float = 20.0
    n_voted: int = 60
    n_by_margin: int = 20
    n_by_name: int = 10
    hard_neighbors: int = 30
    hard_negatives: int = 50
    update_neighbors: int = 30
    update_negatives: int = 50
    min_negatives: int = 100
    min_weight: float = 0.05
    longest_list: int = 2000
    exact: bool = True
    tol: float = 0.5
    try_C: bool = True
    n_partners: int = 32
    n_trees: int = 100
    validation_fraction: float = 0.1
    max_held_out: int = 4000
    reservoir_size: int = 1000

    presets: ClassVar[tuple[str, ...]] = ("balanced", "fast", "best")
    rules: ClassVar[Rules] = {
        "dim": [whole()],
        "n_learners": [whole()],
        "gamma": [real(0, 40, closed="right")],
        "learning_rate": [real(0)],
        "min_steps": [whole()],
        "label_weight": [real(0, closed="left")],
        "batch_size": [whole(2)],
        "n_neighbors": [whole()],
        "vote_gamma": [real(0, closed="left")],
        "n_voted": [whole()],
        "n_by_margin": [whole(0)],
        "n_by_name": [whole(0)],
        "hard_neighbors": [whole()],
        "hard_negatives": [whole()],
        "update_neighbors": [whole()],
        "update_negatives": [whole()],
        "min_negatives": [whole(0)],
        "min_weight": [real(0, closed="left")],
        "longest_list": [whole()],
        "exact": [FLAG],
        "tol": [real(0)],
        "try_C": [FLAG],
        "n_partners": [whole(0)],
        "n_trees": [whole(0)],
        "validation_fraction": [real(0, 0.5, closed="both")],
        "max_held_out": [whole(0)],
        "reservoir_size": [whole()],
    }

    tunable: ClassVar[Tunable] = {
        "C": Span(0.1, 3.0),
        "dim": (64, 256),
        "n_learners": (1, 2, 3, 4),
        "n_neighbors": (50, 200),
        "gamma": Span(5.0, 30.0),
        "vote_gamma": (10.0, 40.0),
        "min_weight": (0.0, 0.02),
    }

    @classmethod
    def for_corpus(cls, preset: str, shape: CorpusShape) -> LabelSpaceSettings:
        """Return what measures best for a corpus, with so much effort."""
        few, small = shape.n_examples < _FEW, shape.n_examples < _SMALL
        long = shape.n_entries >= _LONG * shape.n_examples
        balanced = cls(
            dim=128 if small else 192,
            n_neighbors=100 if small else 40,
            gamma=10.0 if small else 20.0,
            learning_rate=0.1 if small else 0.2,
            min_steps=80 if few else 200,
            label_weight=0.0 if small else 1.0,
            hard_neighbors=100 if long else 30,
            hard_negatives=100 if long else 50,
            min_negatives=_min_negatives(shape),
            exact=shape.n_labels * shape.n_entries <= _EXACT,
        )
        if preset == "fast":
            return replace(
                balanced,
                dim=32,
                n_learners=1,
                label_weight=0.0,
                n_neighbors=30,
                n_voted=30,
                n_by_margin=10,
                n_trees=30,
                max_held_out=2000,
                exact=shape.n_labels * shape.n_entries <= _QUICKLY_EXACT,
                tol=1.0,
                try_C=False,
            )
        if preset == "best":
            return replace(balanced, n_learners=4, dim=256, tol=0.1, n_trees=200, max_held_out=8000)
        return balanced

    def training(self) -> ContrastiveSettings:
        """Return how the spaces are learned."""
        return ContrastiveSettings(
            dim=self.dim,
            gamma=self.gamma,
            learning_rate=self.learning_rate,
            min_steps=self.min_steps,
            label_weight=self.label_weight,
            batch_size=self.batch_size,
        )

    def update(self) -> ContrastiveSettings:
        """Return how they learn on: gently, since stored rows do not move with them."""
        return replace(self.training(), n_epochs=2, learning_rate=0.02, min_steps=16)


def _min_negatives(shape: CorpusShape) -> int:
    """Return how many negatives a classifier draws at least: the more, the longer rows are."""
    n_features = shape.n_entries / max(shape.n_examples, 1)
    per_negative = max(shape.n_labels * n_features, 1.0)
    if per_negative * shape.n_examples <= _EVERY_NEGATIVE:
        return shape.n_examples
    return max(100, int(min(5 * n_features, _MOST_NEGATIVES / per_negative)))
