"""What a method says when it cannot learn as it was told to, before anything is read or changed."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from numbers import Integral
from typing import Any

from labelspace.errors import UsageError

# Parameters that are widths of layers.
_WIDTHS = ("hidden", "label_hidden", "regressor_hidden")


def require_torch(method: str) -> None:
    """Raise a sentence that says what to install if there is no torch, or a broken one."""
    try:
        importlib.import_module("torch")
    except (ImportError, OSError) as error:
        why = "" if isinstance(error, ModuleNotFoundError) else f", which fails ({error})"
        raise UsageError(
            f"{method} needs PyTorch to learn{why}: install it with pip install 'labelspace[deep]'."
        ) from None


def check_network(estimator: Any) -> None:
    """Raise if there is no torch, not the device, or no network of the estimator's widths."""
    require_torch(type(estimator).__name__)
    from labelspace.deep.loop import device_of

    device_of(estimator.device)
    told = getattr(estimator, "settings", None) or {}
    settings = told if isinstance(told, Mapping) else vars(told)
    for name in _WIDTHS:
        for width in getattr(estimator, name, None) or settings.get(name) or ():
            if not isinstance(width, Integral) or isinstance(width, bool) or width < 1:
                raise UsageError(
                    f"{name} has a layer of width {width!r}: give whole numbers from 1, such as "
                    "[512]."
                )
