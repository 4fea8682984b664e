"""Change what a trained model was told, to ask it in another way without training it again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any


def setting(model: Any, name: str) -> Any:
    """Return one of a trained model's settings."""
    settings = model.settings_
    return settings[name] if isinstance(settings, dict) else getattr(settings, name)


@contextmanager
def changed(model: Any, **settings: Any) -> Iterator[None]:
    """Let a trained model answer with other settings for the length of the block."""
    before = model.settings_
    is_dict = isinstance(before, dict)
    model.settings_ = {**before, **settings} if is_dict else replace(before, **settings)
    try:
        yield
    finally:
        model.settings_ = before
