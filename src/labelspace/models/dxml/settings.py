"""The settings of DXML, as the paper has them and as measured best."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from labelspace.graph.cooccurrence import EDGES
from labelspace.models.dxml.graph_embedding import KINDS
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
from labelspace.search.result import SearchResult
from labelspace.spaces.quantized import STORAGES
from labelspace.voting import Votes

if TYPE_CHECKING:
    from labelspace.deep.loop import DeepSettings

LOSSES = ("smooth-l1", "contrastive", "triplet", "softmax")
TARGETS = (*KINDS, "neighbors")

# With fewer rows than this nothing is chosen on rows held out.
TINY = 500
# Few rows are overfitted by wide networks and sharp steps.
SMALL = 20_000
# The fewer the rows, the more does chance decide what a network makes of them, and the less does
# another network cost.
_FEW_ROWS = 10_000
# With fewer non-zeros than this, one thread learns.
LITTLE_WORK = 1_000_000

_FOR_SMALL: dict[str, Any] = {
    "n_learners": 4,
    "dim": 100,
    "hidden": (256,),
    "keep_features": 0.5,
    "gamma": 10.0,
    "learning_rate": 5e-3,
    "batch_size": 128,
}
_FOR_FEW_ROWS: dict[str, Any] = {"n_learners": 8, "dim": 600, "learning_rate": 2e-3}
_PAPER: dict[str, Any] = {
    "edges": "binary",
    "n_learners": 1,
    "dim": 300,
    "keep_features": 1.0,
    "dropout": 0.5,
    "loss": "smooth-l1",
    "gamma": 10.0,
    "label_weight": 0.0,
    "unit_labels": False,
    "unit_targets": False,
    "normalize": False,
    "n_epochs": 30,
    "batch_size": 128,
    "rule": "momentum",
    "learning_rate": 0.015,
    "weight_decay": 5e-4,
    "decay": False,
    "n_probes": 1,
    "voting": "counts",
    "label_votes": 0.0,
}
_PAPER_FOR_SMALL: dict[str, Any] = {"dim": 100, "hidden": (256,), "n_epochs": 40}
# The paper's seconds of asking in its Table 6 grow as the rows of all of delicious do, of mediamill
# as those of half of it: 13,000 rows have one cluster, 31,000 have two.
_ROWS_OF_CLUSTER = 15_000
# The paper's small corpora have 983 labels at most, its large ones 30,938 at least.
_LARGE_FOR_PAPER = 10_000
# What is taken of votes where it is neither told nor chosen.
_USUAL_VOTES: dict[str, Any] = {"n_neighbors": 20, "vote_gamma": 10.0, "label_votes": 0.5}


@dataclass(frozen=True)
class DXMLSettings(Settings):
    """All that DXML can be told.

    Values of "best" are given first, with those for fewer than 20,000 rows after "few" and for 500
    to 10,000 rows after "fewer", then those of "paper" in brackets where they differ, with those
    for fewer than 10,000 labels after "small".

    Attributes
    ----------
    edges : {"binary", "counts", "arithmetic", "geometric", "jaccard", "pmi"}
        What an edge of the label graph weighs: the number of rows that have both labels (one), or
        a likeness of the two.
    targets : {"deepwalk", "svd", "random", "neighbors"}
        Where label vectors come from: deepwalk. "neighbors" has none: rows are put near rows with
        like labels.
    n_walks, walk_length, window : int
        Walks from each label, their length, and how far on a walk labels are met: 10, 40, 5.
    n_learners : int
        Networks that are learned and vote together: 2, few 4, fewer 8; 1 below 500 rows (1).
    dim : int
        Dimensions of the space: 256, few 100, fewer 600 (300, small 100).
    hidden : tuple of int
        Widths of hidden layers: (512,), few (256,) ((512,), small (256,)).
    activation : {"relu", "linear"}
        What stands between layers: relu.
    keep_features : float
        Probability with which training keeps a row's feature: 0.7, few 0.5 (1).
    dropout : float
        Share of the last layer's outputs that training leaves out: 0 (0.5).
    loss : {"smooth-l1", "contrastive", "triplet", "softmax"}
        What rows lack of their targets: softmax over the targets of a batch (smooth-l1).
    gamma : float
        Sharpness of softmax and of ``label_weight``: 20, few 10 (10).
    margin : float
        Of contrastive and triplet: 0.5.
    label_weight : float
        What it weighs that a row's labels are nearer to it than labels that it lacks; their
        vectors then learn along, and labels have biases: 1 (0).
    unit_labels : bool
        Whether label vectors are centred and have length one, or are as walks give them: True
        (False).
    unit_targets : bool
        Whether targets are put on the sphere, where the rows are: True (False).
    n_epochs : int
        Passes over the rows: 8 (30, small 40); very small corpora get more, for 60 steps.
    batch_size : int
        Rows in a step: 512, few 128 (128).
    rule : {"adam", "momentum"}
        How parameters move: adam (momentum).
    learning_rate : float
        Step size: 0.003, few 0.005, fewer 0.002 (0.015).
    weight_decay : float
        Of momentum: 0 (0.0005).
    decay : bool
        Whether steps get smaller, down to zero at the last one: True (False).
    n_clusters : int or None
        Clusters of the embedded training rows; None: the root of their number (one for 15,000
        rows, as Table 6 of the paper suggests).
    n_probes : int
        Clusters that are searched, nearest first: 8 (1).
    n_neighbors : int or None
        Training rows that vote, for each network. None: chosen by asking about rows that a network
        has not seen; 20 for fewer than 500 rows.
    voting : {"weighted", "counts"}
        Whether a vote counts e^{γ(cos − 1)} or one: weighted (counts).
    vote_gamma : float or None
        γ of the votes. None: chosen as ``n_neighbors`` is; 10 for fewer than 500 rows.
    label_votes : float or None
        What all votes of labels for themselves count against all votes of rows. None: chosen as
        ``n_neighbors`` is; 0.5 for fewer than 500 rows, and 0 without ``label_weight`` (0).
    storage : {"int8", "float32"}
        How the first layer and the index are kept: int8.
    normalize : bool
        Whether rows are scaled to length one: True (False).

    Examples
    --------
    >>> shapes = CorpusShape(5_000, 300, 30_000), CorpusShape(5_000, 300, 200)
    >>> [DXMLSettings.for_corpus("paper", shape).dim for shape in shapes]
    [300, 100]
    """

    edges: str = "counts"
    targets: str = "deepwalk"
    n_walks: int = 10
    walk_length: int = 40
    window: int = 5
    n_learners: int = 2
    dim: int = 256
    hidden: tuple[int, ...] = (512,)
    activation: str = "relu"
    keep_features: float = 0.7
    dropout: float = 0.0
    loss: str = "softmax"
    gamma: float = 20.0
    margin: float = 0.5
    label_weight: float = 1.0
    unit_labels: bool = True
    unit_targets: bool = True
    n_epochs: int = 8
    batch_size: int = 512
    rule: str = "adam"
    learning_rate: float = 3e-3
    weight_decay: float = 0.0
    decay: bool = True
    n_clusters: int | None = None
    n_probes: int = 8
    n_neighbors: int | None = None
    voting: str = "weighted"
    vote_gamma: float | None = None
    label_votes: float | None = None
    storage: str = "int8"
    normalize: bool = True

    rules: ClassVar[Rules] = {
        "edges": [one_of(*EDGES)],
        "targets": [one_of(*TARGETS)],
        "n_walks": [whole()],
        "walk_length": [whole(2)],
        "window": [whole()],
        "n_learners": [whole()],
        "dim": [whole()],
        "hidden": [tuple, list],
        "activation": [one_of("relu", "linear")],
        "keep_features": [real(0, 1, "right")],
        "dropout": [real(0, 1, "left")],
        "loss": [one_of(*LOSSES)],
        "gamma": [real(0)],
        "margin": [real(0, None, "left")],
        "label_weight": [real(0, None, "left")],
        "unit_labels": [FLAG],
        "unit_targets": [FLAG],
        "n_epochs": [whole()],
        "batch_size": [whole()],
        "rule": [one_of("adam", "momentum")],
        "learning_rate": [real(0)],
        "weight_decay": [real(0, None, "left")],
        "decay": [FLAG],
        "n_clusters": [whole(), None],
        "n_probes": [whole()],
        "n_neighbors": [whole(), None],
        "voting": [one_of("weighted", "counts")],
        "vote_gamma": [real(0, None, "left"), None],
        "label_votes": [real(0, None, "left"), None],
        "storage": [one_of(*STORAGES)],
        "normalize": [FLAG],
    }

    tunable: ClassVar[Tunable] = {
        "dim": (100, 300, 600),
        "hidden": ((256,), (512,), (1024,)),
        "keep_features": (0.3, 0.5, 0.7, 0.9),
        "learning_rate": Span(5e-4, 1e-2),
        "n_epochs": (4, 15, 30),
        "idf": (True,),
    }

    @classmethod
    def for_corpus(cls, preset: str, shape: CorpusShape) -> DXMLSettings:
        n_rows = shape.n_examples
        if preset == "paper":
            is_large = shape.n_labels >= _LARGE_FOR_PAPER
            given = _PAPER | ({} if is_large else _PAPER_FOR_SMALL)
            return cls(**given, n_clusters=max(n_rows // _ROWS_OF_CLUSTER, 1))
        chosen = cls(**_FOR_SMALL) if n_rows < SMALL else cls()
        if n_rows < TINY:
            return replace(chosen, n_learners=1)
        return replace(chosen, **_FOR_FEW_ROWS) if n_rows < _FEW_ROWS else chosen

    def derived(self) -> dict[str, Any]:
        """Let labels vote only if they have learned where they lie, and votes are weighted."""
        can_vote = self.label_weight > 0 and self.voting == "weighted"
        return {"label_votes": None if can_vote else 0.0}

    @property
    def widths(self) -> tuple[int, ...]:
        """Outputs of the network's layers."""
        return (*self.hidden, self.dim)

    @property
    def is_told_of_votes(self) -> bool:
        """Whether there is nothing about votes left to choose."""
        if self.voting == "counts":
            return self.n_neighbors is not None
        return None not in (self.n_neighbors, self.vote_gamma, self.label_votes)

    def with_usual_votes(self) -> DXMLSettings:
        """Return the settings with the usual where nothing was told or chosen about votes."""
        usual = {name: value for name, value in _USUAL_VOTES.items() if getattr(self, name) is None}
        return replace(self, **usual)

    def votes(self, rows: SearchResult, labels: SearchResult) -> Votes:
        """Return the votes of what was found, once all is chosen about them."""
        if self.voting == "counts":
            return Votes.counted(rows)
        assert self.vote_gamma is not None
        assert self.label_votes is not None
        return Votes.weighted(rows, labels, self.vote_gamma, self.label_votes)

    def training(self, seed: int) -> DeepSettings:
        """Return how networks are trained."""
        from labelspace.deep.loop import DeepSettings

        return DeepSettings(
            n_epochs=self.n_epochs,
            min_steps=60,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            row_learning_rate=self.learning_rate,
            rule=self.rule,
            row_rule=self.rule,
            decay=self.decay,
            weight_decay=self.weight_decay,
            little_work=LITTLE_WORK,
            seed=seed,
        )

    def gentle_training(self, seed: int) -> DeepSettings:
        """Return how they learn on: gently, since stored rows do not move with them."""
        rate = 0.1 * self.learning_rate
        return replace(
            self.training(seed),
            n_epochs=2,
            min_steps=10,
            learning_rate=rate,
            row_learning_rate=rate,
        )
