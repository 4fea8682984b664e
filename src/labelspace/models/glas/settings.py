"""The settings of a label embedding, as the paper has them and as measured best.

"best" depends on the corpus: few rows are overfitted by a hidden layer, and where features are few
a linear map beside the network knows nothing that the network does not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from labelspace.deep.loop import DeepSettings
    from labelspace.models.glas.task import GLaSTaskSettings

PRESETS: dict[str, dict[str, Any]] = {
    "best": {
        "n_learners": 1,
        "dim": 512,
        "hidden": (512,),
        "activation": "relu",
        "weight_norm": False,
        "keep_features": 0.8,
        "dropout": 0.0,
        "loss": "binary",
        "biases": True,
        "scale": 8.0,
        "tail": 1.0,
        "regularizer": "glas",
        "regularizer_weight": 100.0,
        "linear_dim": 512,
        "linear_scale": 25.0,
        "n_epochs": 8,
        "batch_size": 512,
        "learning_rate": 3e-3,
        "row_rule": "adam",
        "row_learning_rate": 3e-3,
    },
    "paper": {
        "n_learners": 1,
        "dim": 1024,
        "hidden": (1024,),
        "activation": "relu",
        "weight_norm": True,
        "keep_features": 0.8,
        "dropout": 0.0,
        "loss": "margin",
        "biases": False,
        "scale": 10.0,
        "tail": 0.0,
        "regularizer": "glas",
        "regularizer_weight": 10.0,
        "linear_dim": 0,
        "linear_scale": 25.0,
        "n_epochs": 10,
        "batch_size": 4096,
        "learning_rate": 1e-3,
        "row_rule": "adam",
        "row_learning_rate": 1e-3,
    },
}

_SMALL = 10_000
_FOR_SMALL: dict[str, Any] = {
    "hidden": (),
    "scale": 10.0,
    "keep_features": 0.4,
    "n_epochs": 15,
    "batch_size": 128,
    "row_rule": "adagrad",
    "row_learning_rate": 2e-2,
}

_LARGE = 20_000
_FOR_LARGE: dict[str, Any] = {
    "n_learners": 2,
    "linear_dim": 1024,
    "scale": 10.0,
    "tail": 2.0,
    "n_epochs": 6,
}


# Fewer features than this are dense, not words.
_FEW_FEATURES = 1000


def preset(name: str, n_rows: int, n_features: int) -> dict[str, Any]:
    """Return all settings of a preset for a corpus of so many rows and features.

    >>> preset("best", 500, 2000)["hidden"], preset("best", 50_000, 2000)["hidden"]
    ((), (512,))
    """
    chosen = dict(PRESETS[name])
    if name == "best" and n_rows < _SMALL:
        chosen |= _FOR_SMALL
    elif name == "best" and n_rows >= _LARGE:
        chosen |= _FOR_LARGE
    if name == "best" and n_features < _FEW_FEATURES:
        chosen["linear_dim"] = 0
    return chosen


def task_settings(chosen: dict[str, Any]) -> GLaSTaskSettings:
    """Return what a task is told of the settings."""
    from labelspace.models.glas.task import GLaSTaskSettings

    network = ("activation", "weight_norm", "dropout", "scale", "biases", "regularizer")
    loss = ("loss", "all_positives", "margin", "n_hardest", "n_sampled")
    return GLaSTaskSettings(
        widths=(*chosen["hidden"], chosen["dim"]),
        keep=chosen["keep_features"],
        weight=chosen["regularizer_weight"],
        **{name: chosen[name] for name in network + loss},
    )


def training_settings(chosen: dict[str, Any], **more: Any) -> DeepSettings:
    """Return what the training loop is told of the settings."""
    from labelspace.deep.loop import DeepSettings

    same = ("n_epochs", "batch_size", "learning_rate", "row_learning_rate", "row_rule")
    return DeepSettings(min_steps=40, **{name: chosen[name] for name in same}, **more)
