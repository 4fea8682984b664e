"""The settings of GLaS, as the paper has them and as measured best.

"best" depends on the corpus: few rows are overfitted by a hidden layer, and where features are few
a linear map beside the network knows nothing that the network does not.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from labelspace.graph.cooccurrence import SIMILARITIES
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

LOSSES = ("binary", "softmax", "margin", "mining")
REGULARIZERS = ("glas", "spread-out", "laplacian", "gravity", "none")
SEARCHES = ("auto", "exact", "coarse_to_fine")

# Fewer rows than this are few, as many or more are many.
_FEW_ROWS, _MANY_ROWS = 10_000, 20_000
# Fewer features than this are dense, not words.
_FEW_FEATURES = 1000

_FOR_FEW_ROWS: dict[str, Any] = {
    "hidden": (),
    "scale": 10.0,
    "keep_features": 0.4,
    "n_epochs": 15,
    "batch_size": 128,
    "row_rule": "adagrad",
    "row_learning_rate": 2e-2,
}
_FOR_MANY_ROWS: dict[str, Any] = {
    "n_learners": 2,
    "linear_dim": 1024,
    "scale": 10.0,
    "tail": 2.0,
    "n_epochs": 6,
}
_PAPER: dict[str, Any] = {
    "dim": 1024,
    "hidden": (1024,),
    "weight_norm": True,
    "loss": "margin",
    "all_positives": False,
    "biases": False,
    "scale": 10.0,
    "tail": 0.0,
    "regularizer_weight": 10.0,
    "linear_dim": 0,
    "keep_duplicates": True,
    "rescale_kept": False,
    "normalize": False,
    "validation": 0.05,
    "patience": 10,
    "n_epochs": 10,
    "batch_size": 4096,
    "learning_rate": 1e-3,
    "row_learning_rate": 1e-3,
    "storage": "float32",
}


@dataclass(frozen=True)
class GLaSSettings(Settings):
    """All that GLaS can be told.

    Values of "best" are given first, with those for fewer than 10,000 rows after "few" and from
    20,000 rows on after "many", then those of "paper" in brackets where they differ.

    Attributes
    ----------
    n_learners : int
        Networks that are learned, of whose inner products the mean is taken: 1, many 2 (1).
    dim : int
        Dimensions of a network's space: 512 (1024).
    hidden : tuple of int
        Widths of the network's hidden layers: (512,), few none ((1024,)).
    activation : {"relu", "linear"}
        What stands between layers: relu.
    weight_norm : bool
        Whether all outputs of a layer share one length of weights: False (True).
    keep_features : float
        Probability ρ with which training keeps a row's feature: 0.8, few 0.4 (0.8).
    rescale_kept : bool
        Whether features that are kept are divided by ρ, so that sums stay the same: True (False).
    normalize : bool
        Whether rows are scaled to length one: True (False).
    loss : {"binary", "softmax", "margin", "mining"}
        Binary cross-entropy, softmax cross-entropy, or the margin loss against sampled labels or
        against the hardest of them: binary (margin).
    all_positives : bool
        Whether softmax wants all of a row's labels at once, or one drawn from them: True (False).
    margin : float
        By how much a row's label should stand above others, for margin and mining: 0.3.
    n_hardest : int
        Labels that mining looks at: 10.
    biases : bool
        Whether labels have biases, and scores a learned scale: True (False).
    scale : float
        Factor s of inner products in binary and softmax, to begin with; without biases it stays: 8,
        few and many 10 (10).
    tail : float
        How much rare labels are preferred, with ``loss="binary"``: 0 ranks by probability, 1 by
        probability times inverse propensity, which is what PSP counts: 1, many 2 (0).
    regularizer : {"glas", "spread-out", "laplacian", "gravity", "none"}
        What label vectors are held to: glas.
    regularizer_weight : float
        λ: 100 (10).
    keep_duplicates : bool
        Whether a label that was drawn for several rows of a batch is as many rows and columns of
        the regulariser's matrices, as in the paper's Algorithm 2, or one: False (True).
    similarity : {"arithmetic", "geometric", "jaccard", "pmi"}
        What glas and laplacian take for the likeness of labels: arithmetic.
    linear_dim : int
        Dimensions of a linear map beside the network, found without gradient steps: 512, many
        1024, but none with fewer than 1,000 features (none).
    linear_scale : float
        Factor of the linear map's inner products, which are added to the networks' mean: 25.
    n_sampled : int
        Labels that a batch is scored against, those of its rows among them; more where its rows
        have more: 4096.
    n_epochs : int
        Passes over the rows at most: 8, few 15, many 6 (10); very small corpora get more, for 40
        steps.
    batch_size : int
        Rows in a step at most: 512, few 128 (4096).
    learning_rate : float
        First step size of the network's dense layers, falling to zero: 0.003 (0.001).
    row_rule : {"adam", "adagrad"}
        How the rows of the two tables, features and labels, move; adagrad takes a third of the
        memory: adam, few adagrad (adam).
    row_learning_rate : float
        First step size of the tables: 0.003, few 0.02 (0.001).
    validation : float
        Share of the rows that is held out to stop early: 0 (0.05).
    patience : int
        Epochs without a better P@1 on rows held out after which training ends: 2 (10, so that ten
        passes are all made). The best epoch is taken either way.
    search : {"auto", "exact", "coarse_to_fine"}
        Index of the labels: auto, which is exact up to 2,000 labels. Above it is coarse to fine,
        which looks at a short form of every label and compares the best in full.
    storage : {"int8", "float32"}
        How the first layer and the labels' keys are kept: int8 (float32).

    Examples
    --------
    >>> few, many = CorpusShape(500, 2000, 90), CorpusShape(50_000, 2000, 90)
    >>> [GLaSSettings.for_corpus("best", shape).hidden for shape in (few, many)]
    [(), (512,)]
    """

    n_learners: int = 1
    dim: int = 512
    hidden: tuple[int, ...] = (512,)
    activation: str = "relu"
    weight_norm: bool = False
    keep_features: float = 0.8
    rescale_kept: bool = True
    normalize: bool = True
    loss: str = "binary"
    all_positives: bool = True
    margin: float = 0.3
    n_hardest: int = 10
    biases: bool = True
    scale: float = 8.0
    tail: float = 1.0
    regularizer: str = "glas"
    regularizer_weight: float = 100.0
    keep_duplicates: bool = False
    similarity: str = "arithmetic"
    linear_dim: int = 512
    linear_scale: float = 25.0
    n_sampled: int = 4096
    n_epochs: int = 8
    batch_size: int = 512
    learning_rate: float = 3e-3
    row_rule: str = "adam"
    row_learning_rate: float = 3e-3
    validation: float = 0.0
    patience: int = 2
    search: str = "auto"
    storage: str = "int8"

    rules: ClassVar[Rules] = {
        "n_learners": [whole()],
        "dim": [whole()],
        "hidden": [tuple, list],
        "activation": [one_of("relu", "linear")],
        "weight_norm": [FLAG],
        "keep_features": [real(0, 1, "right")],
        "rescale_kept": [FLAG],
        "normalize": [FLAG],
        "loss": [one_of(*LOSSES)],
        "all_positives": [FLAG],
        "margin": [real(0, None, "left")],
        "n_hardest": [whole()],
        "biases": [FLAG],
        "scale": [real(0)],
        "tail": [real(0, None, "left")],
        "regularizer": [one_of(*REGULARIZERS)],
        "regularizer_weight": [real(0, None, "left")],
        "keep_duplicates": [FLAG],
        "similarity": [one_of(*SIMILARITIES)],
        "linear_dim": [whole(0)],
        "linear_scale": [real(0, None, "left")],
        "n_sampled": [whole()],
        "n_epochs": [whole()],
        "batch_size": [whole()],
        "learning_rate": [real(0)],
        "row_rule": [one_of("adam", "adagrad")],
        "row_learning_rate": [real(0)],
        "validation": [real(0, 1, "left")],
        "patience": [whole()],
        "search": [one_of(*SEARCHES)],
        "storage": [one_of("int8", "float32")],
    }

    tunable: ClassVar[Tunable] = {
        "n_learners": (2, 4),
        "dim": (256, 512),
        "keep_features": (0.3, 0.5, 0.7),
        "learning_rate": Span(5e-4, 1e-2),
        "regularizer_weight": (0.0, 10.0),
        "idf": (True,),
    }

    @classmethod
    def for_corpus(cls, preset: str, shape: CorpusShape) -> GLaSSettings:
        if preset == "paper":
            return cls(**_PAPER)
        chosen = cls()
        if shape.n_examples < _FEW_ROWS:
            chosen = replace(chosen, **_FOR_FEW_ROWS)
        elif shape.n_examples >= _MANY_ROWS:
            chosen = replace(chosen, **_FOR_MANY_ROWS)
        return replace(chosen, linear_dim=0) if shape.n_features < _FEW_FEATURES else chosen

    @property
    def widths(self) -> tuple[int, ...]:
        """Outputs of the network's layers."""
        return (*self.hidden, self.dim)

    @property
    def uses_likeness(self) -> bool:
        """Whether the regulariser asks how alike labels are."""
        return self.regularizer in ("glas", "laplacian")

    def training(self, seed: int, *, checkpoint: str | None = None) -> DeepSettings:
        """Return how the networks are trained."""
        from labelspace.deep.loop import DeepSettings

        return DeepSettings(
            n_epochs=self.n_epochs,
            min_steps=40,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            row_rule=self.row_rule,
            row_learning_rate=self.row_learning_rate,
            patience=self.patience if self.validation else None,
            checkpoint=checkpoint,
            seed=seed,
        )

    def gentle_training(self, seed: int) -> DeepSettings:
        """Return how they learn on from new rows, without losing what they know."""
        return replace(
            self.training(seed),
            patience=None,
            n_epochs=2,
            min_steps=10,
            learning_rate=0.1 * self.learning_rate,
            row_learning_rate=0.1 * self.row_learning_rate,
        )
