"""Sizes of stored parts by name: where two have the same name, they have to be the same number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

# Larger weights overflow float32 when they are squared and summed up.
LARGEST = 1e15


class Mismatch(Exception):
    """An attribute is not what the schema says."""


class Relation(NamedTuple):
    """A size in terms of another: ``more`` than it is, or at most what it is."""

    size: str
    more: int = 0
    at_most: bool = False


Size = str | int | Relation | None


def plus(size: str, more: int) -> Relation:
    """Return the size that is so much more than another."""
    return Relation(size, more)


def up_to(size: str) -> Relation:
    """Return any size that is not larger than another."""
    return Relation(size, at_most=True)


class Sizes:
    """The sizes of a part by name, as its attributes settle them, and those of parts in it."""

    def __init__(self, trusted: bool = False, parts: dict[int, Sizes] | None = None) -> None:
        self.trusted = trusted
        self.parts: dict[int, Sizes] = {} if parts is None else parts
        self.known: dict[str, int] = {}

    def settle(self, size: Size, found: int) -> None:
        """Take ``found`` for a size that is not known yet; raise if it is, and is another."""
        if size is None:
            return
        if isinstance(size, str):
            wanted, at_most = self.known.setdefault(size, found), False
        elif isinstance(size, int):
            wanted, at_most = size, False
        else:
            wanted, at_most = self.known[size.size] + size.more, size.at_most
        if found > wanted or (found < wanted and not at_most):
            raise Mismatch(f"has {found} where {wanted} {'at most ' if at_most else ''}belong")

    def of(self, part: Any) -> dict[str, int]:
        """Return the sizes of a part that was checked before."""
        return self.parts[id(part)].known


Check = Callable[[Any, Sizes], None]
