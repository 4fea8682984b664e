"""What NeuralXC is told: by the report's program, mended so that it learns, and as measured best.

The program (``setups/*/*.yml`` and ``train_neuralxc_with_args.sh``) has widths of its own for each
of the report's four corpora; those of other corpora go by a rule that is near them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from labelspace.deep.program_widths import step_size, widths_by_rule, widths_of_rows
from labelspace.errors import UsageError
from labelspace.models.neuralxc.autoencoder_settings import (
    FEW_ROWS,
    FEWEST_WORDS,
    VERY_FEW_ROWS,
    AutoencoderSettings,
)
from labelspace.parameters import FLAG, CorpusShape, Rules, Span, Tunable, one_of, whole

if TYPE_CHECKING:
    from labelspace.deep.loop import DeepSettings

Chosen = TypeVar("Chosen", bound="NeuralXCSettings")

# What the program's networks are by themselves: they read no other value.
_DENSE: dict[str, Any] = {
    "activation": "relu",
    "code": "tanh",
    "cosine": 0.0,
    "keep_features": 1.0,
    "keep_labels": 1.0,
    "dropout": 0.0,
}
_PAPER: dict[str, Any] = {
    **_DENSE,
    "networks": "dense",
    "errors": "mean",
    "label_priors": False,
    "normalize": False,
    "alpha": 0.01,
    "beta": 0.01,
    "n_epochs": 10,
    "batch_size": 64,
    "weight_decay": 1e-4,
    "storage": "float32",
}
# Neither is enough by itself. Outputs that begin at how frequent labels are make bibtex learn, and
# delicious worse; delicious gains by leaving out the L2 term, which is large against gradients of
# means over columns, and bibtex gains nothing by that alone.
_REPAIRED: dict[str, Any] = {"label_priors": True, "weight_decay": 0.0}

# Hidden widths and the code of label sets, by the number of labels: bibtex, delicious, mediamill,
# eurlex.
_WIDTHS_OF_LABELS: dict[int, tuple[tuple[int, ...], int]] = {
    159: ((96,), 32),
    983: ((326, 163), 82),
    101: ((75, 50), 32),
    3993: ((1331, 443), 141),
}
_WIDTHS_BETWEEN = {(256, 32): 112, (125, 82): 104, (50, 32): 41, (500, 141): 325}


@dataclass(frozen=True)
class NeuralXCSettings(AutoencoderSettings):
    """All that NeuralXC can be told.

    The values of the preset "best" are given first, those of "paper" in brackets; "repaired" has
    those of "paper" but for ``label_priors``, which is True, and ``weight_decay``, which is 0.

    What is not below is an attribute of ``AutoencoderSettings``. Of these, in "paper", ``alpha``
    and ``beta`` are 0.01, ``n_epochs`` is 10, ``batch_size`` 64, ``learning_rate`` 0.0003, on
    mediamill 0.001, and ``weight_decay`` 0.0001; nothing is dropped; codes of label sets go through
    tanh; and widths are the program's for the corpora of the report, else 6·√features and
    2.5·√labels for codes, the geometric mean of those and the number of columns for the one hidden
    layer, and the mean of both codes for that of the regressor. On eurlex, the program also has
    batch normalisation in φ_i and a ReLU instead of the sigmoid at the end of ψ_i; "paper" has
    neither.

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
    networks : {"sparse", "dense"}
        Networks that read and make samples of columns, or the program's own, which read and make
        all of them, with steps that do not get smaller and Adam that has ``weight_decay`` in its
        gradients: sparse (dense). Dense ones have ReLU (LeakyReLU in ψ_i and φ_o), tanh at the end
        of φ_o and f and sigmoids at the end of both decoders, and are shown all of a row: other
        values of ``activation``, ``code``, ``cosine``, ``keep_features``, ``keep_labels`` and
        ``dropout`` are refused with them.
    errors : {"sum", "mean"}
        With dense networks: whether errors are sums over columns or means: sum (mean).
    label_priors : bool
        With dense networks: whether outputs begin at the log-odds of how frequent each label is, as
        they do with sparse ones: True (False).
    normalize : bool
        Whether rows are scaled to length one: True (False).

    Examples
    --------
    >>> NeuralXCSettings.for_corpus("best", CorpusShape(5_000, 10_000, 100)).n_learners
    2
    >>> NeuralXCSettings.for_corpus("paper", CorpusShape(12_920, 500, 983)).label_hidden
    (326, 163)
    """

    presets: ClassVar[tuple[str, ...]] = ("best", "repaired", "paper")
    rules: ClassVar[Rules] = {
        **AutoencoderSettings.rules,
        "n_learners": [whole()],
        "linear_dim": [whole(0)],
        "networks": [one_of("sparse", "dense")],
        "errors": [one_of("sum", "mean")],
        "label_priors": [FLAG],
        "normalize": [FLAG],
    }

    n_learners: int = 1
    linear_dim: int = 0
    networks: str = "sparse"
    errors: str = "sum"
    label_priors: bool = True
    normalize: bool = True

    tunable: ClassVar[Tunable] = {
        "n_learners": (2, 4),
        "dim": (128, 256, 512),
        "keep_features": (0.3, 0.5, 0.7),
        "learning_rate": Span(3e-4, 1e-2),
        "linear_dim": (0, 512),
    }

    def refuse_unread(self) -> None:
        """Raise if dense networks are told what they do not read."""
        if self.networks != "dense":
            return
        for name, value in _DENSE.items():
            if (told := getattr(self, name)) != value:
                raise UsageError(
                    f"{name}={told!r} is for sparse networks; the report's own, of "
                    f"preset='paper' and 'repaired', have {name}={value!r} and nothing else: leave "
                    "it out with these presets, or give networks='sparse'."
                )

    @classmethod
    def for_corpus(cls: type[Chosen], preset: str, shape: CorpusShape) -> Chosen:
        """Return the settings of a preset for a corpus of some shape."""
        if preset != "best":
            changed = _REPAIRED if preset == "repaired" else {}
            widths = _program_widths(shape.n_features, shape.n_labels)
            rate = step_size(shape.n_features)
            steps = {"learning_rate": rate, "row_learning_rate": rate}
            return cls(**{**_PAPER, **widths, **steps, **changed})
        chosen = super().for_corpus(preset, shape)
        if shape.n_examples < VERY_FEW_ROWS:
            return chosen
        return replace(
            chosen,
            n_learners=2 if shape.n_examples < FEW_ROWS else 1,
            linear_dim=512 if shape.n_features >= FEWEST_WORDS else 0,
        )

    def training(
        self, *, seed: int, checkpoint: str | None = None, stops_early: bool = False
    ) -> DeepSettings:
        """Return what the training loop is told."""
        told = super().training(seed=seed, checkpoint=checkpoint, stops_early=stops_early)
        return replace(told, rule="adam-l2", decay=False) if self.networks == "dense" else told


def _program_widths(n_features: int, n_labels: int) -> dict[str, Any]:
    hidden, dim = widths_of_rows(n_features)
    label_hidden, label_dim = _WIDTHS_OF_LABELS.get(n_labels) or widths_by_rule(n_labels, 2.5)
    between = _WIDTHS_BETWEEN.get((dim, label_dim), (dim + label_dim) // 2)
    return {
        "dim": dim,
        "label_dim": label_dim,
        "hidden": hidden,
        "label_hidden": label_hidden,
        "regressor_hidden": (max(between, 1),),
    }
