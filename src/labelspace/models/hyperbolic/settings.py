"""What Hyperbolic can be told, and what its presets say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from labelspace.models.hyperbolic.metric_index import KINDS, SPACES
from labelspace.models.hyperbolic.optimizers import OPTIMIZERS
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

# Up to ten dimensions, and beyond: the best of a few values on rows held out of train.
_FEW_DIMENSIONS = 10
_ALPHAS = {"poincare": (2.0, 6.0), "sphere": (4.0, 10.0), "euclidean": (2.0, 4.0)}
_LEARNING_RATES = (0.4, 0.2)
# Rows that a learner looks at, each several times, unless there are more of them than that.
_ROWS_IN_ALL = 130_000
# What labels' votes count where that was neither given nor chosen.
_LABEL_VOTES = 0.5


@dataclass(frozen=True)
class HyperbolicSettings(Settings):
    """All that Hyperbolic can be told; values are those of "best", those of "paper" in brackets.

    Attributes
    ----------
    space : {"poincare", "sphere", "euclidean"}
        Where rows and labels are embedded: poincare (poincare).
    dim : int
        Dimensions of the space: 50 (50); 2 gives a map of the labels that can be drawn.
    n_learners : int
        Models that are learned and vote together: 3 (15).
    alpha : float
        Sharpness of the loss: 6 in the ball, 10 on the sphere and 4 in euclidean space; up to ten
        dimensions 2, 4 and 2 (60).
    way : {"lift", "clip"}
        How rows get into the ball: by the Lorentz form (clipped at the edge).
    row_factor : {"slope", "step"}
        Where the factor ((1 − ‖u‖²)/2)² of clipped rows stands: at each row's slope, before the
        optimizer adds them up, or on the step that it makes, as the mean over those rows of the
        batch that have the feature: slope (slope, by the printed rule for the map; what the
        paper says about Adam can be read as step).
    n_hidden : int or None
        Units of a tanh layer between features and points. None: the map is linear.
    optimizer : {"adagrad", "adam", "rsgd"}
        adagrad (adam), or projected Riemannian gradient descent.
    learning_rate : float
        Step size, the first one if steps fall: 0.2, but 0.4 up to ten dimensions (0.001).
    constant_steps : bool
        Whether steps stay as long as the first, instead of falling to zero: False (True).
    label_loss : {"mean", "sum"}
        Whether a row's loss is the mean over its labels or their sum: mean (sum).
    row_similarity : float
        Weight of a second loss that holds rows together whose label sets have a cosine of one half
        or more, and others apart, which the paper names as future work: 0 (0).
    n_epochs : int
        Passes over the rows at most: 5, and up to 20 for fewer than 26,000 rows (100).
    min_steps : int
        Steps at least, for which small corpora get more passes: 200 (200).
    patience : int
        Epochs without a better precision on held-out rows after which learning stops: 3 (25).
    validation_fraction : float
        Share of the rows held out for that and to choose the weights of votes; 0 for none. They
        vote all the same: 0.05 (0.05).
    min_held_out : int
        If that share has fewer rows, none are held out: 50 (10).
    max_held_out : int or None
        Rows held out at most: 1,000 (None: as many as the share has).
    batch_size : int
        Rows in a batch at most: 128 (128).
    n_negatives : int
        Labels drawn evenly for each batch, from which its rows are kept away: 128 (128).
    batch_negatives : bool
        Whether rows are kept away from the labels of the batch's other rows, too: True (False).
    map_scale : float or None
        Deviation of the map's first weights (0.0001). None: 1/√dim.
    label_scale : float or None
        Deviation of the labels' first points from the origin (0.001). None: each label starts amid
        its rows.
    answer : {"both", "rows", "labels"}
        Who votes: nearest rows and nearest labels (rows).
    n_neighbors : int
        Training rows that vote, for each learner: 80, fewer with more than 3 learners (10).
    voting : {"weighted", "counts"}
        Whether a row's vote counts e^{−α d} or one: weighted (counts).
    vote_alpha : float or None
        α of the votes. None: chosen by asking about the rows held out; with fewer than 5,000 rows
        that of the loss.
    label_votes : float or None
        With both, what all votes of labels count against all votes of rows. None: chosen as
        ``vote_alpha`` is; with fewer than 5,000 rows 0.5.
    search : {"kmeans", "centroids", "exact"}
        Index of the training rows and of the labels: kmeans (centroids, one random row in 3,000).
    n_probes : int
        Lists that a search looks into unless it is exact: more finds more and takes longer: 24
        (8; the paper does not say). With the paper's lists fewer than 27,000 rows are searched
        whole.
    storage : {"int8", "float32"}
        How maps are kept: int8 (float32).
    normalize : bool
        Whether rows are scaled to length one: True (True; the paper does not say).

    Examples
    --------
    >>> HyperbolicSettings.for_corpus("best", CorpusShape(13_000, 300, 200)).n_epochs
    10
    """

    space: str = "poincare"
    dim: int = 50
    n_learners: int = 3
    alpha: float = 6.0
    way: str = "lift"
    row_factor: str = "slope"
    n_hidden: int | None = None
    optimizer: str = "adagrad"
    learning_rate: float = 0.2
    constant_steps: bool = False
    label_loss: str = "mean"
    row_similarity: float = 0.0
    n_epochs: int = 10
    min_steps: int = 200
    patience: int = 3
    validation_fraction: float = 0.05
    min_held_out: int = 50
    max_held_out: int | None = 1000
    batch_size: int = 128
    n_negatives: int = 128
    batch_negatives: bool = True
    map_scale: float | None = None
    label_scale: float | None = None
    answer: str = "both"
    n_neighbors: int = 80
    voting: str = "weighted"
    vote_alpha: float | None = None
    label_votes: float | None = None
    search: str = "kmeans"
    n_probes: int = 24
    storage: str = "int8"
    normalize: bool = True

    rules: ClassVar[Rules] = {
        "space": [one_of(*SPACES)],
        "dim": [whole()],
        "n_learners": [whole()],
        "alpha": [real(0, 100)],
        "way": [one_of("lift", "clip")],
        "row_factor": [one_of("slope", "step")],
        "n_hidden": [whole(), None],
        "optimizer": [one_of(*OPTIMIZERS)],
        "learning_rate": [real(0)],
        "constant_steps": [FLAG],
        "label_loss": [one_of("mean", "sum")],
        "row_similarity": [real(0, closed="left")],
        "n_epochs": [whole()],
        "min_steps": [whole()],
        "patience": [whole()],
        "validation_fraction": [real(0, 0.5, closed="left")],
        "min_held_out": [whole()],
        "max_held_out": [whole(), None],
        "batch_size": [whole()],
        "n_negatives": [whole(0)],
        "batch_negatives": [FLAG],
        "map_scale": [real(0), None],
        "label_scale": [real(0, 0.1), None],
        "answer": [one_of("both", "rows", "labels")],
        "n_neighbors": [whole()],
        "voting": [one_of("weighted", "counts")],
        "vote_alpha": [real(0, closed="left"), None],
        "label_votes": [real(0, closed="left"), None],
        "search": [one_of(*KINDS)],
        "n_probes": [whole()],
        "storage": [one_of(*STORAGES)],
        "normalize": [FLAG],
    }

    tunable: ClassVar[Tunable] = {
        "n_learners": (4, 8),
        "dim": (50, 100, 200),
        "alpha": Span(2.0, 12.0),
        "learning_rate": Span(0.05, 0.8),
        "n_neighbors": (20, 80),
        "idf": (True,),
    }

    @classmethod
    def for_corpus(cls, preset: str, shape: CorpusShape) -> HyperbolicSettings:
        """Return what measures best for a corpus, or what the publication has."""
        if preset == "paper":
            return cls(
                n_learners=15,
                alpha=60.0,
                way="clip",
                optimizer="adam",
                learning_rate=1e-3,
                constant_steps=True,
                label_loss="sum",
                n_epochs=100,
                patience=25,
                min_held_out=10,
                max_held_out=None,
                batch_negatives=False,
                map_scale=1e-4,
                label_scale=1e-3,
                answer="rows",
                n_neighbors=10,
                voting="counts",
                search="centroids",
                n_probes=8,
                storage="float32",
            )
        return cls(n_epochs=min(max(_ROWS_IN_ALL // shape.n_examples, 5), 20))

    def derived(self) -> dict[str, Any]:
        """Let the space decide about the loss, and the number of learners what each has to find."""
        enough = int(self.dim > _FEW_DIMENSIONS)
        return {
            "alpha": _ALPHAS[self.space][enough],
            "learning_rate": _LEARNING_RATES[enough],
            "n_neighbors": min(max(240 // self.n_learners, 30), 80),
        }

    @property
    def vote_weights(self) -> VoteWeights:
        """What votes count, the usual where neither given nor chosen."""
        return VoteWeights(
            self.alpha if self.vote_alpha is None else self.vote_alpha,
            _LABEL_VOTES if self.label_votes is None else self.label_votes,
        )
