"""The settings of DXML, as the paper has them and as measured best."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from labelspace.deep.loop import DeepSettings
    from labelspace.models.dxml.task import DXMLTaskSettings

PRESETS: dict[str, dict[str, Any]] = {
    "best": {
        "n_learners": 2,
        "edges": "counts",
        "targets": "deepwalk",
        "dim": 256,
        "hidden": (512,),
        "keep_features": 0.7,
        "dropout": 0.0,
        "loss": "softmax",
        "gamma": 20.0,
        "label_weight": 1.0,
        "unit_targets": True,
        "n_epochs": 8,
        "batch_size": 512,
        "rule": "adam",
        "learning_rate": 3e-3,
        "weight_decay": 0.0,
        "decay": True,
        "voting": "weighted",
        "n_probes": 8,
    },
    "paper": {
        "n_learners": 1,
        "edges": "binary",
        "targets": "deepwalk",
        "dim": 300,
        "hidden": (512,),
        "keep_features": 1.0,
        "dropout": 0.5,
        "loss": "smooth-l1",
        "gamma": 10.0,
        "label_weight": 0.0,
        "unit_targets": False,
        "n_epochs": 30,
        "batch_size": 128,
        "rule": "momentum",
        "learning_rate": 0.015,
        "weight_decay": 5e-4,
        "decay": False,
        "voting": "counts",
        "n_probes": 1,
    },
}
# Few rows are overfitted by wide networks and sharp steps.
SMALL = 20_000
_FOR_SMALL: dict[str, dict[str, Any]] = {
    "best": {
        "n_learners": 4,
        "dim": 100,
        "hidden": (256,),
        "keep_features": 0.5,
        "gamma": 10.0,
        "learning_rate": 5e-3,
        "batch_size": 128,
    },
    "paper": {"dim": 100, "hidden": (256,), "n_epochs": 40},
}
# The fewer the rows, the more does chance decide what a network makes of them, and the less does
# another network cost.
TINY = 10_000
_FOR_TINY: dict[str, dict[str, Any]] = {
    "best": {"n_learners": 8, "dim": 600, "learning_rate": 2e-3},
    "paper": {},
}
# What is chosen on rows held out, unless it is given or there are fewer rows than this.
CHOSEN = {"n_neighbors": 20, "vote_gamma": 10.0, "label_votes": 0.5}
FEW = 500
# With fewer non-zeros than this, one thread learns.
LITTLE_WORK = 1_000_000


def preset(name: str, n_rows: int) -> dict[str, Any]:
    """Return all settings of a preset for a corpus of so many rows.

    >>> preset("paper", 50_000)["dim"], preset("paper", 5_000)["dim"]
    (300, 100)
    """
    chosen = dict(PRESETS[name])
    if n_rows < SMALL:
        chosen |= _FOR_SMALL[name]
    if FEW <= n_rows < TINY:
        chosen |= _FOR_TINY[name]
    if n_rows < FEW:
        chosen["n_learners"] = 1
    return chosen | CHOSEN


def task_settings(chosen: dict[str, Any]) -> DXMLTaskSettings:
    """Return what a task is told of the settings."""
    from labelspace.models.dxml.task import DXMLTaskSettings

    same = ("activation", "loss", "gamma", "margin", "label_weight", "unit_targets")
    return DXMLTaskSettings(
        widths=(*chosen["hidden"], chosen["dim"]),
        keep=chosen["keep_features"],
        output_dropout=chosen["dropout"],
        **{name: chosen[name] for name in same},
    )


def training_settings(chosen: dict[str, Any], seed: int) -> DeepSettings:
    """Return what the training loop is told of the settings."""
    from labelspace.deep.loop import DeepSettings

    same = ("n_epochs", "batch_size", "learning_rate", "rule", "decay", "weight_decay")
    return DeepSettings(
        min_steps=60,
        little_work=LITTLE_WORK,
        row_learning_rate=chosen["learning_rate"],
        row_rule=chosen["rule"],
        seed=seed,
        **{name: chosen[name] for name in same},
    )


def gentle_settings(chosen: dict[str, Any], seed: int) -> DeepSettings:
    """Return how networks learn on: gently, since stored rows do not move with them."""
    rate = 0.1 * chosen["learning_rate"]
    return replace(
        training_settings(chosen, seed),
        n_epochs=2,
        min_steps=10,
        learning_rate=rate,
        row_learning_rate=rate,
    )
