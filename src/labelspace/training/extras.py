"""What a method says when it cannot learn as it was told to, before anything is read or changed."""

from __future__ import annotations

import importlib.util
from numbers import Integral
from typing import Any

from labelspace.errors import UsageError

# Parameters that are widths of layers.
_WIDTHS = ("hidden", "label_hidden", "regressor_hidden")


def require_torch(method: str) -> None:
    """Raise a sentence that says what to install if there is no torch."""
    if importlib.util.find_spec("torch") is None:
        raise UsageError(
            f"{method} needs PyTorch to learn: install it with pip install 'labelspace[deep]'."
        )


def check_network(estimator: Any) -> None:
    """Raise if there is no torch, not the device, or no network of the estimator's widths."""
    require_torch(type(estimator).__name__)
    from labelspace.training.deep import device_of

    device_of(estimator.device)
    for name in _WIDTHS:
        for width in getattr(estimator, name, None) or ():
            if not isinstance(width, Integral) or isinstance(width, bool) or width < 1:
                raise UsageError(
                    f"{name} has a layer of width {width!r}: give whole numbers from 1, such as "
                    "[512]."
                )
