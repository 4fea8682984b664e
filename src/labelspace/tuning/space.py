"""What can be tried: methods, their parameters that matter, and text features.

A method says beside its parameters which of them a search may turn (``tunable``), text features do
the same; what it takes unless told is never far: each parameter is left alone half of the time.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from labelspace import models
from labelspace.data.text.features import TextFeatures
from labelspace.errors import UsageError
from labelspace.parameters import Span

CANDIDATES = ("labelspace", "one-vs-all", "annexml", "label-tree", "knn", "dxml")


@dataclass(frozen=True)
class Configuration:
    """A method with its parameters, and text features, where they differ from the usual.

    Examples
    --------
    >>> configuration = Configuration("knn", {"n_neighbors": 20}, {"char_ngrams": (3, 5)})
    >>> print(configuration)
    knn n_neighbors=20 char_ngrams=3-5
    """

    method: str
    parameters: dict[str, Any] = field(default_factory=dict)
    features: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        told = {**self.parameters, **self.features}
        return " ".join([self.method, *(f"{name}={_shown(told[name])}" for name in told)])

    @property
    def key(self) -> str:
        """The same text for the same configuration."""
        return json.dumps([self.method, self.parameters, self.features], sort_keys=True)

    @property
    def features_key(self) -> str:
        """The same text for the same features."""
        return json.dumps(self.features, sort_keys=True)


DEFAULT = Configuration(models.DEFAULT_METHOD)


def checked_methods(names: Sequence[str] | None) -> list[str]:
    """Return the methods to choose among; those that lack a package are an error if asked for."""
    if names is None:
        return [name for name in CANDIDATES if _can_learn(name)]
    if not names:
        raise UsageError("--methods names no method: give some, separated by commas.")
    for name in names:
        models.make(name)._validate_params()
    return list(dict.fromkeys(names))


def own_settings(methods: Sequence[str], metric: str) -> Iterator[Configuration]:
    """Yield each method as it is by itself, beside the default; rare labels may count more."""
    for name in (DEFAULT.method, *methods):
        if metric.startswith("PS") and "propensity" in models.parameter_names(models.find(name)):
            yield Configuration(name, {"propensity": True})
    yield from (Configuration(name) for name in methods if name != DEFAULT.method)


def feature_variants() -> list[dict[str, Any]]:
    """Return the text features to try beside the usual ones.

    >>> feature_variants()[0]
    {'char_ngrams': (3, 5)}
    """
    tunable = TextFeatures.tunable
    usual = TextFeatures().get_params()
    combined = (
        dict(zip(tunable, values, strict=True)) for values in itertools.product(*tunable.values())
    )
    told = ({name: one[name] for name in one if one[name] != usual[name]} for one in combined)
    return [one for one in told if one]


def draw(method: str, random: np.random.Generator) -> dict[str, Any]:
    """Return parameters of a method, each the usual one half of the time."""
    kind = models.find(method)
    tunable = getattr(kind.settings_type or kind, "tunable", {})
    return {
        name: _one_of(values, random) for name, values in tunable.items() if random.random() < 0.5
    }


def _one_of(values: Span | tuple[Any, ...], random: np.random.Generator) -> Any:
    if not isinstance(values, Span):
        return values[random.integers(len(values))]
    drawn = float(np.exp(random.uniform(np.log(values.low), np.log(values.high))))
    return round(drawn) if isinstance(values.low, int) else float(f"{drawn:.2g}")


def _can_learn(method: str) -> bool:
    try:
        models.make(method)._validate_params()
    except ValueError:  # such as a package that learning needs
        return False
    return True


def _shown(value: Any) -> str:
    return "-".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
