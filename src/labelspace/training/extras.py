"""What a method says when the package that it learns with is not installed."""

from __future__ import annotations

import importlib.util

from labelspace.errors import UsageError


def require_torch(method: str) -> None:
    """Raise a sentence that says what to install if there is no torch."""
    if importlib.util.find_spec("torch") is None:
        raise UsageError(
            f"{method} needs PyTorch to learn: install it with pip install 'labelspace[deep]'."
        )
