"""What auto-encoders of rows and label sets are told, as measured best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from labelspace.parameters import CorpusShape, Rules, Settings, one_of, real, whole

if TYPE_CHECKING:
    from labelspace.deep.loop import DeepSettings

Chosen = TypeVar("Chosen", bound="AutoencoderSettings")

FEW_ROWS = 20_000
VERY_FEW_ROWS = 2_000
# Features so few are not words: a row has more to say than their weighted sum.
FEWEST_WORDS = 1_000

# Few rows are overfitted: each epoch sees other parts of them.
_FOR_FEW_ROWS: dict[str, Any] = {
    "dim": 256,
    "label_dim": 256,
    "keep_features": 0.6,
    "dropout": 0.3,
    "n_epochs": 15,
}
# Where features are few, each is in many rows: adagrad, whose steps are too long for rare ones.
_FEW_FEATURES = 10_000
_FOR_FEW_FEATURES: dict[str, Any] = {"row_rule": "adagrad", "row_learning_rate": 3e-2}
_FOR_NO_WORDS: dict[str, Any] = {"hidden": (512,), "learning_rate": 3e-3, "n_epochs": 8}
# Very few rows are learned in a moment, by a small network.
_FOR_VERY_FEW_ROWS: dict[str, Any] = {
    "dim": 128,
    "label_dim": 128,
    "n_epochs": 12,
    "batch_size": 64,
}
_MIN_STEPS = 60


@dataclass(frozen=True)
class AutoencoderSettings(Settings):
    """What is learned, and how.

    Values for fewer than 20,000 rows stand after "few". Fewer than 2,000 rows get codes of 128
    dimensions, 12 passes and batches of 64. Fewer than 1,000 features are taken for something else
    than words: rows have a hidden layer, and training takes 8 passes with steps of 0.003.

    Attributes
    ----------
    dim, label_dim : int
        Widths of the codes of rows and of label sets: 512, few 256.
    hidden, label_hidden : tuple of int
        Hidden widths of the two encoders; decoders have them the other way round: none, for rows
        without words 512.
    regressor_hidden : tuple of int
        Hidden widths of the regressor: none, so that it is a linear map.
    activation : {"relu", "tanh", "linear"}
        What stands between layers: relu.
    code : {"linear", "tanh"}
        What the codes of label sets go through: linear.
    cosine : float
        If not 0, scores are cosines of codes and labels times a length that is learned and starts
        here, plus a bias: 20.
    keep_features : float
        Probability with which training shows the encoder a row's feature; the decoder has to give
        all of them: 0.8, few 0.6.
    keep_labels : float
        The same for labels, so that a label set is made whole from some of it: 0.5.
    dropout : float
        Share of hidden outputs and codes that training leaves out: 0.2, few 0.3.
    alpha, beta : float
        Weights of the reconstruction of rows and of label sets; 0 leaves the network for it out:
        1, 1.
    n_sampled : int
        Labels that a batch is scored against, those of its rows among them; all if there are no
        more: 1,024.
    n_zeros : int
        Features of which a batch makes zeros again; all if there are no more: 512.
    n_rebuilt : int
        Rows of a batch that are made again: batches are drawn at random, so a part of one stands
        for all of it: 32.
    n_epochs : int
        Passes over the rows at most: 4, few 15; very small corpora get more, for 60 steps.
    batch_size : int
        Rows in a step: 256.
    learning_rate : float
        First step size of dense layers, falling to zero: 0.0003.
    row_rule : {"adam", "adagrad"}
        How rows of the tables of features and labels move; adagrad takes a third of the memory:
        adam, but adagrad with few rows of fewer than 10,000 features.
    row_learning_rate : float
        First step size of the tables: 0.003, with adagrad so chosen 0.03.
    weight_decay : float
        Of dense layers: 0.
    patience : int
        Where rows are held out: epochs without a better P@1 on them after which training ends; the
        best epoch is taken: 2.
    storage : {"int8", "float32"}
        How the encoder's first layer is kept: int8.

    Examples
    --------
    >>> AutoencoderSettings.for_corpus("best", CorpusShape(50_000, 10_000, 100)).dim
    512
    >>> AutoencoderSettings.for_corpus("best", CorpusShape(5_000, 10_000, 100)).dim
    256
    """

    rules: ClassVar[Rules] = {
        "dim": [whole()],
        "label_dim": [whole()],
        "hidden": [tuple, list],
        "label_hidden": [tuple, list],
        "regressor_hidden": [tuple, list],
        "activation": [one_of("relu", "tanh", "linear")],
        "code": [one_of("linear", "tanh")],
        "cosine": [real(0, closed="left")],
        "keep_features": [real(0, 1, closed="right")],
        "keep_labels": [real(0, 1, closed="right")],
        "dropout": [real(0, 1, closed="left")],
        "alpha": [real(0, closed="left")],
        "beta": [real(0, closed="left")],
        "n_sampled": [whole()],
        "n_zeros": [whole()],
        "n_rebuilt": [whole()],
        "n_epochs": [whole()],
        "batch_size": [whole()],
        "learning_rate": [real(0)],
        "row_rule": [one_of("adam", "adagrad")],
        "row_learning_rate": [real(0)],
        "weight_decay": [real(0, closed="left")],
        "patience": [whole()],
        "storage": [one_of("int8", "float32")],
    }

    dim: int = 512
    label_dim: int = 512
    hidden: tuple[int, ...] = ()
    label_hidden: tuple[int, ...] = ()
    regressor_hidden: tuple[int, ...] = ()
    activation: str = "relu"
    code: str = "linear"
    cosine: float = 20.0
    keep_features: float = 0.8
    keep_labels: float = 0.5
    dropout: float = 0.2
    alpha: float = 1.0
    beta: float = 1.0
    n_sampled: int = 1024
    n_zeros: int = 512
    n_rebuilt: int = 32
    n_epochs: int = 4
    batch_size: int = 256
    learning_rate: float = 3e-4
    row_rule: str = "adam"
    row_learning_rate: float = 3e-3
    weight_decay: float = 0.0
    patience: int = 2
    storage: str = "int8"

    @classmethod
    def for_corpus(cls: type[Chosen], preset: str, shape: CorpusShape) -> Chosen:
        """Return the settings of a preset for a corpus of some shape."""
        chosen: dict[str, Any] = {}
        if shape.n_examples < FEW_ROWS:
            chosen |= _FOR_FEW_ROWS
            chosen |= _FOR_FEW_FEATURES if shape.n_features < _FEW_FEATURES else {}
        if shape.n_examples < VERY_FEW_ROWS:
            chosen |= _FOR_VERY_FEW_ROWS
        elif shape.n_features < FEWEST_WORDS:
            chosen |= _FOR_NO_WORDS
        return cls(**chosen)

    def training(
        self, *, seed: int, checkpoint: str | None = None, stops_early: bool = False
    ) -> DeepSettings:
        """Return what the training loop is told."""
        from labelspace.deep.loop import DeepSettings

        return DeepSettings(
            n_epochs=self.n_epochs,
            min_steps=_MIN_STEPS,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            row_learning_rate=self.row_learning_rate,
            row_rule=self.row_rule,
            weight_decay=self.weight_decay,
            patience=self.patience if stops_early else None,
            checkpoint=checkpoint,
            seed=seed,
        )
