"""Change what a trained model was told, to ask it in another way without training it again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any


@contextmanager
def changed(model: Any, **settings: Any) -> Iterator[None]:
    """Let a trained model answer with other settings for the length of the block."""
    before = model.settings_
    model.settings_ = replace(before, **settings)
    try:
        yield
    finally:
        model.settings_ = before
