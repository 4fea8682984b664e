"""What LabelSpace can be told, and what it takes for a corpus of some size."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

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

# Between the two numbers, settings of small corpora turn into those of large ones; see docs.
_ROWS = 10_000, 40_000
_ROWS_FOR_STEPS = 4_000, 16_000
_ROWS_FOR_EPOCHS = 20_000, 80_000
_ROWS_FOR_ONE_EPOCH = 80_000, 320_000
_FEATURES = 50, 200  # of a row: the more it has, the more hard negatives it needs and can afford
_LABELS_PER_NEGATIVE = 64  # of which one is met in each batch
_EXACT = 5e10  # labels times features of all rows: solvers that see all rows pass over few of them
_QUICKLY_EXACT = 1e9  # the same where time counts
_MOST_NEGATIVES = 1e9  # labels times features of a row times negatives that are the most effort


@dataclass(frozen=True)
class LabelSpaceSettings(Settings):
    """All that LabelSpace can be told beside C, idf and propensity.

    Attributes
    ----------
    dim : int
        Dimensions of each space in which neighbours are searched: 128.
    n_learners : int
        Spaces whose neighbours vote together: four.
    gamma : float
        Sharpness of the contrast by which a space is learned: 10 up to 10,000 rows, rising to 20
        from 40,000 on.
    learning_rate : float
        First step size of a space: 0.1 up to 10,000 rows, rising to 0.2 from 40,000 on.
    min_steps : int
        Steps of a space at least: 80 up to 4,000 rows, rising to 200 from 16,000 on.
    label_weight : float
        Weight, in learning a space, of labels' own vectors, to which rows are drawn: 0 (no such
        vectors) up to 10,000 rows, rising to 1 from 40,000 on.
    n_epochs : int
        Passes over the rows in learning a space, at least: 5 up to 20,000 rows, falling to 3 at
        80,000 and to 1 from 320,000 on, where one is as many steps as three are there.
    batch_size : int
        Rows that a space learns from at a time, at most: one for 64 labels, which have to meet
        those that they are mistaken for, but 128 at least and 512 at most.
    n_candidates : int
        Labels' vectors that the rows of a batch are compared with, at most: twice its rows.
    n_neighbors : int
        Training rows that vote, for each learner: 100 up to 10,000 rows, falling to 40 from
        40,000 on.
    vote_gamma : float
        A neighbour's vote counts e^{γ(cos − 1)}: 20.
    n_row_trees : int
        Trees of rows, those in whose leaves vote beside neighbours: none, 20 with the most effort.
    n_voted : int
        Labels that come from votes to a row's candidates: 60.
    n_by_margin : int
        Labels that its classifiers add to these: 20.
    n_by_name : int
        Labels that are added because the row has all of their name: 10.
    hard_neighbors, hard_negatives : int
        Neighbours that propose labels for a training row, and how many of these are its hard
        negatives: 30 and 50 where rows have up to 50 features, rising to 100 and 100 from 200 on.
    update_neighbors, update_negatives : int
        The same for rows that come later: 30 and 50.
    min_negatives : int
        Negatives that a classifier draws at least: five for each feature of a row; where labels are
        so many that this is too much effort, fewer, but 50.
    min_weight : float
        Classifiers' weights closer to zero are cut: 0.05.
    longest_list : int
        Labels whose weights for a feature propose them, at most, the largest first, where some
        feature has weights for twenty times as many; margins are of all weights: 1,000.
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
        Boosted trees that correct the stacking, at most: 100; as many as help rows held out.
    validation_fraction : float
        Share of the rows held out to learn how votes and classifiers are stacked: 0.1.
    min_held_out, max_held_out : int
        Rows held out at least, unless these are more than three tenths of all, and at most: 1,000
        and 4,000. Where more than the share are, spaces are learned again from all rows.
    reservoir_size : int
        Training rows that are kept, to tell labels that come later from: 1,000.

    Examples
    --------
    >>> LabelSpaceSettings.for_corpus("balanced", CorpusShape(5_000, 300, 200, 50_000)).dim
    128
    """

    dim: int = 128
    n_learners: int = 4
    gamma: float = 20.0
    learning_rate: float = 0.2
    min_steps: int = 200
    label_weight: float = 1.0
    n_epochs: int = 5
    batch_size: int = 512
    n_candidates: int = 1024
    n_neighbors: int = 40
    vote_gamma: float = 20.0
    n_row_trees: int = 0
    n_voted: int = 60
    n_by_margin: int = 20
    n_by_name: int = 10
    hard_neighbors: int = 30
    hard_negatives: int = 50
    update_neighbors: int = 30
    update_negatives: int = 50
    min_negatives: int = 100
    min_weight: float = 0.05
    longest_list: int = 1000
    exact: bool = True
    tol: float = 0.5
    try_C: bool = True
    n_partners: int = 32
    n_trees: int = 100
    validation_fraction: float = 0.1
    min_held_out: int = 1000
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
        "n_epochs": [whole()],
        "batch_size": [whole(2)],
        "n_candidates": [whole()],
        "n_neighbors": [whole()],
        "vote_gamma": [real(0, closed="left")],
        "n_row_trees": [whole(0)],
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
        "min_held_out": [whole(0)],
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
        n_examples = max(shape.n_examples, 1)
        large = _way(shape.n_examples, *_ROWS)
        long = _way(shape.n_entries / n_examples, *_FEATURES)
        batch_size = int(np.clip(shape.n_labels // _LABELS_PER_NEGATIVE, 128, 512))
        balanced = cls(
            n_neighbors=round(_blend(100, 40, large)),
            gamma=_blend(10.0, 20.0, large),
            learning_rate=_blend(0.1, 0.2, large),
            label_weight=large,
            min_steps=round(_blend(80, 200, _way(shape.n_examples, *_ROWS_FOR_STEPS))),
            n_epochs=_n_epochs(shape.n_examples),
            batch_size=batch_size,
            n_candidates=2 * batch_size,
            hard_neighbors=round(_blend(30, 100, long)),
            hard_negatives=round(_blend(50, 100, long)),
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
                min_held_out=0,
                max_held_out=2000,
                exact=shape.n_labels * shape.n_entries <= _QUICKLY_EXACT,
                tol=1.0,
                try_C=False,
            )
        if preset == "best":
            return replace(
                balanced,
                n_learners=6,
                dim=192,
                n_row_trees=20,
                tol=0.1,
                n_trees=200,
                max_held_out=8000,
            )
        return balanced

    def training(self) -> ContrastiveSettings:
        """Return how the spaces are learned."""
        return ContrastiveSettings(
            dim=self.dim,
            gamma=self.gamma,
            learning_rate=self.learning_rate,
            min_steps=self.min_steps,
            label_weight=self.label_weight,
            n_epochs=self.n_epochs,
            batch_size=self.batch_size,
            n_candidates=self.n_candidates,
        )

    def update(self) -> ContrastiveSettings:
        """Return how they learn on: gently, since stored rows do not move with them."""
        return replace(self.training(), n_epochs=2, learning_rate=0.02, min_steps=16)


def _way(n: float, small: float, large: float) -> float:
    """Return how far a number is on the way from a small one to a large one: 0 to 1, by its log.

    >>> _way(100, 1_000, 4_000), _way(2_000, 1_000, 4_000)
    (0.0, 0.5)
    """
    return float(np.clip(np.log(max(n, 1.0) / small) / np.log(large / small), 0.0, 1.0))


def _blend(small: float, large: float, way: float) -> float:
    """Return what lies so far on the way between two numbers, by their logs."""
    return float(small * (large / small) ** way)


def _n_epochs(n_examples: int) -> int:
    """Return how often a space sees each row: the more of them, the more steps one pass has.

    >>> [_n_epochs(n) for n in (5_000, 40_000, 80_000, 160_000, 500_000)]
    [5, 4, 3, 2, 1]
    """
    ways = _way(n_examples, *_ROWS_FOR_EPOCHS) + _way(n_examples, *_ROWS_FOR_ONE_EPOCH)
    return round(5 - 2 * ways)


def _min_negatives(shape: CorpusShape) -> int:
    """Return how many negatives a classifier draws at least: the more, the longer rows are."""
    n_features = shape.n_entries / max(shape.n_examples, 1)
    affordable = _MOST_NEGATIVES / max(shape.n_labels * n_features, 1.0)
    return max(50, int(min(max(5 * n_features, 100), affordable)))
