"""Checks of stored values that are no arrays: numbers, texts, choices."""

from __future__ import annotations

from typing import Any

from labelspace.store.sizes import LARGEST, Check, Mismatch, Sizes


def integer(least: int = 0, most: int = 1 << 40) -> Check:
    """Return the check of a whole number."""

    def check(value: Any, sizes: Sizes) -> None:
        if type(value) is not int or not least <= value <= most:
            raise Mismatch(f"is no whole number from {least} to {most}")

    return check


def number(least: float = -LARGEST, most: float = LARGEST) -> Check:
    """Return the check of a number."""

    def check(value: Any, sizes: Sizes) -> None:
        if type(value) not in (int, float) or not least <= value <= most:
            raise Mismatch(f"is no number from {least:g} to {most:g}")

    return check


def option(*values: Any) -> Check:
    """Return the check of one of some values."""

    def check(value: Any, sizes: Sizes) -> None:
        if not any(type(value) is type(one) and value == one for one in values):
            raise Mismatch(f"is none of {', '.join(map(repr, values))}")

    return check


def text(value: Any, sizes: Sizes) -> None:
    """Check a text."""
    if type(value) is not str:
        raise Mismatch("is no text")


def texts(value: Any, sizes: Sizes) -> None:
    """Check a list or a tuple of texts."""
    if not isinstance(value, (list, tuple)) or set(map(type, value)) - {str}:
        raise Mismatch("holds something that is no text")


def numbers_by_name(value: Any, sizes: Sizes) -> None:
    """Check a dict of numbers by name."""
    if not isinstance(value, dict) or set(map(type, value)) - {str}:
        raise Mismatch("is no dict of numbers by name")
    for one in value.values():
        if type(one) not in (int, float):
            raise Mismatch("is no dict of numbers by name")


FLAG = option(True, False)
STORAGE = option("int8", "float32")
