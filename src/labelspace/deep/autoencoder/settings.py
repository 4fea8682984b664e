"""The settings of NeuralXC, as near to the report as it tells them and as measured best."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from labelspace.deep.autoencoder.task import AutoencoderSettings
    from labelspace.deep.loop import DeepSettings

PRESETS: dict[str, dict[str, Any]] = {
    "best": {
        "n_learners": 1,
        "dim": 512,
        "label_dim": 512,
        "linear_dim": 512,
        "hidden": (),
        "label_hidden": (),
        "regressor_hidden": (),
        "activation": "relu",
        "code": "linear",
        "cosine": 20.0,
        "keep_features": 0.8,
        "keep_labels": 0.5,
        "dropout": 0.2,
        "alpha": 1.0,
        "beta": 1.0,
        "n_epochs": 4,
        "batch_size": 256,
        "learning_rate": 3e-4,
        "row_rule": "adam",
        "row_learning_rate": 3e-3,
        "weight_decay": 0.0,
    },
    "paper": {
        "n_learners": 1,
        "linear_dim": 0,
        "activation": "relu",
        "code": "tanh",
        "cosine": 0.0,
        "keep_features": 1.0,
        "keep_labels": 1.0,
        "dropout": 0.0,
        "alpha": 1.0,
        "beta": 1.0,
        "n_epochs": 10,
        "batch_size": 64,
        "learning_rate": 3e-4,
        "row_rule": "adam",
        "row_learning_rate": 3e-4,
        "weight_decay": 1e-4,
    },
}

# Few rows are overfitted by one network; several, each seeing other parts of the rows, less so.
_SMALL = 20_000
_FOR_SMALL: dict[str, Any] = {
    "n_learners": 2,
    "dim": 256,
    "label_dim": 256,
    "linear_dim": 512,
    "keep_features": 0.6,
    "dropout": 0.3,
    "n_epochs": 15,
}
# Where features are few, each is in many rows: adagrad, whose steps are too long for rare ones.
_FEW_FEATURES = 10_000
_FOR_FEW_FEATURES: dict[str, Any] = {"row_rule": "adagrad", "row_learning_rate": 3e-2}
# Features so few are not words: a row has more to say than their weighted sum, and a linear map
# beside the network knows nothing that the network does not.
_FEWEST_WORDS = 1_000
_FOR_NO_WORDS: dict[str, Any] = {
    "linear_dim": 0,
    "hidden": (512,),
    "learning_rate": 3e-3,
    "n_epochs": 8,
}
# Very few rows are learned in a moment, by a small network.
_TINY = 2_000
_FOR_TINY: dict[str, Any] = {
    "n_learners": 1,
    "dim": 128,
    "label_dim": 128,
    "linear_dim": 0,
    "n_epochs": 12,
    "batch_size": 64,
}
# Widths of the report's networks grow with the data; no more than this are needed or affordable.
_WIDEST = 2048


def preset(name: str, n_rows: int, n_features: int, n_labels: int) -> dict[str, Any]:
    """Return all settings of a preset for a corpus of this size.

    >>> preset("best", 50_000, 10_000, 100)["n_learners"]
    1
    >>> preset("best", 5_000, 10_000, 100)["n_learners"]
    2
    """
    chosen = dict(PRESETS[name])
    if name == "paper":
        chosen |= _paper_widths(n_features, n_labels)
        return chosen
    if n_rows < _SMALL:
        chosen |= _FOR_SMALL
        chosen |= _FOR_FEW_FEATURES if n_features < _FEW_FEATURES else {}
    if n_rows < _TINY:
        chosen |= _FOR_TINY
    elif n_features < _FEWEST_WORDS:
        chosen |= _FOR_NO_WORDS
    return chosen


def task_settings(chosen: dict[str, Any]) -> AutoencoderSettings:
    """Return what a task is told of the settings."""
    from labelspace.deep.autoencoder.task import AutoencoderSettings

    same = ("dim", "label_dim", "activation", "code", "keep_labels", "dropout", "alpha", "beta")
    sampled = ("n_sampled", "n_zeros", "n_rebuilt")
    return AutoencoderSettings(
        hidden=tuple(chosen["hidden"]),
        label_hidden=tuple(chosen["label_hidden"]),
        regressor_hidden=tuple(chosen["regressor_hidden"]),
        cosine=chosen["cosine"] or None,
        keep=chosen["keep_features"],
        **{name: chosen[name] for name in same + sampled},
    )


def training_settings(chosen: dict[str, Any], **more: Any) -> DeepSettings:
    """Return what the training loop is told of the settings."""
    from labelspace.deep.loop import DeepSettings

    steps = ("n_epochs", "batch_size", "weight_decay")
    rates = ("learning_rate", "row_rule", "row_learning_rate")
    return DeepSettings(min_steps=60, **{name: chosen[name] for name in steps + rates}, **more)


def _paper_widths(n_features: int, n_labels: int) -> dict[str, Any]:
    dim = min(max(round(6.0 * n_features**0.5), 1), _WIDEST)
    label_dim = min(max(round(2.5 * n_labels**0.5), 1), _WIDEST)
    return {
        "dim": dim,
        "label_dim": label_dim,
        "hidden": (min(round((n_features * dim) ** 0.5), _WIDEST),),
        "label_hidden": (min(round((n_labels * label_dim) ** 0.5), _WIDEST),),
        "regressor_hidden": (max((dim + label_dim) // 2, 1),),
    }
