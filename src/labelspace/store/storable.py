"""What can be kept in a model folder, and how it can be gone back to."""

from __future__ import annotations

import copy
from typing import Any, ClassVar

from labelspace.store.schema import Schema, Sizes, check_attributes


class Storable:
    """A class whose objects can be kept in a model folder: its attributes are its state."""

    # What each attribute has to be; those of base classes come first. See ``store.schema``.
    _schema: ClassVar[Schema] = {}

    def _to_state(self) -> dict[str, Any]:
        """Return what is to be saved; override where an attribute is not plain data or array."""
        return dict(vars(self))

    @classmethod
    def _from_state(cls, state: dict[str, Any]) -> Any:
        """Make the object again from what ``_to_state`` gave."""
        made = cls.__new__(cls)
        vars(made).update(state)
        return made

    @classmethod
    def _check_state(cls, state: dict[str, Any], sizes: Sizes) -> None:
        """Raise Mismatch if a stored state is not what the class can work with.

        Override to tell how attributes have to go together, where sizes do not say it.
        """
        schema: dict[str, Any] = {}
        for kind in reversed(cls.__mro__):
            schema |= vars(kind).get("_schema", {})
        check_attributes(schema, state, sizes)


def snapshot(value: Any) -> Any:
    """Return a copy to go back to: objects and lists are copied, arrays are the same.

    So it costs next to nothing, and holds as long as arrays are replaced, not written to.

    >>> part = Storable()
    >>> part.numbers = [1]
    >>> before = snapshot(part)
    >>> part.numbers.append(2)
    >>> before.numbers
    [1]
    """
    if isinstance(value, Storable):
        made = copy.copy(value)
        vars(made).update({name: snapshot(part) for name, part in vars(value).items()})
        return made
    if isinstance(value, list):
        return [snapshot(item) for item in value]
    if isinstance(value, dict):
        return {key: snapshot(item) for key, item in value.items()}
    return value
