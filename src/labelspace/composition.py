"""Parameters of an object and of its parts, by scikit-learn's names: ``features__ngrams``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

from sklearn.base import BaseEstimator

Composed = TypeVar("Composed", bound="Composition")


class Composition:
    """What has parameters of its own, some of which are estimators, and free ones beside them.

    ``_parts`` names its own parameters, with what makes one that is None when a parameter of it is
    set; ``parameters`` are the free ones.
    """

    _parts: ClassVar[dict[str, Callable[[], Any] | None]]
    parameters: dict[str, Any]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return all parameters, and with ``deep`` those of the parts."""
        shown = {name: getattr(self, name) for name in self._parts}
        for name, part in list(shown.items()):
            if deep and isinstance(part, BaseEstimator):
                shown |= {f"{name}__{key}": value for key, value in part.get_params().items()}
        return shown | self.parameters

    def set_params(self: Composed, **parameters: Any) -> Composed:
        """Set parameters of the object itself, free ones, or those of a part by its name."""
        for name, value in parameters.items():
            owner, nested, key = name.partition("__")
            make = self._parts.get(owner)
            if nested and make is not None and getattr(self, owner) is None:
                setattr(self, owner, make())
            if nested and hasattr(getattr(self, owner, None), "set_params"):
                getattr(self, owner).set_params(**{key: value})
            elif name in self._parts:
                setattr(self, name, value)
            else:
                self.parameters = {**self.parameters, name: value}
        return self
