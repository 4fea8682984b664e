"""Parameters: the rules that values are checked by, and the settings of a method beyond them.

A constructor takes what a user turns. Everything else that a method can be told is a field of its
``Settings``, a frozen dataclass that a preset fills in for a corpus of some shape. A parameter
whose name is that of a field takes the field's place when it is given; ``settings=`` reaches all.

This is the only file that knows scikit-learn's private ``_param_validation``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, NamedTuple, TypeVar

from scipy.sparse import csr_matrix
from sklearn.utils._param_validation import (
    Interval,
    InvalidParameterError,
    StrOptions,
    validate_parameter_constraints,
)

from labelspace.errors import DataError, UsageError, nearest
from labelspace.store import Storable, schema
from labelspace.store.sizes import LARGEST

__all__ = [
    "ESTIMATOR_SCHEMA",
    "FLAG",
    "CorpusShape",
    "InvalidParameterError",
    "Rules",
    "Settings",
    "Span",
    "Tunable",
    "check",
    "check_settings",
    "limited",
    "one_of",
    "real",
    "resolve_settings",
    "setting_names",
    "split_state",
    "whole",
]

# For each name the kinds of value that are allowed, as in scikit-learn's constraints.
Rules = Mapping[str, list[Any]]
Chosen = TypeVar("Chosen", bound="Settings")

FLAG = "boolean"


class Span(NamedTuple):
    """Numbers that a search may try, as likely at each order of magnitude; whole from whole ends.

    >>> Span(1, 100)
    Span(low=1, high=100)
    """

    low: float
    high: float


# What ``labelspace tune`` may try of a method's parameters and settings, beside what the method
# takes by itself: a span, or some values. It stands in the method's ``Settings``, or where there
# are none, in the estimator as ``tunable``.
Tunable = Mapping[str, Span | tuple[Any, ...]]

# What every estimator that has learned holds.
ESTIMATOR_SCHEMA: schema.Schema = {
    "_labels": schema.part("LabelEncoder", n_labels="n_labels"),
    "n_features_in_": schema.size("n_features"),
    "n_examples_": schema.size("n_examples", least=1),
    "label_counts_": schema.array("int64", "n_labels", low=0),
    "feature_names_": schema.optional(schema.names("n_features")),
    "feature_names_in_": schema.maybe(schema.anything),
    "provenance_": schema.maybe(schema.anything),
    "learned_from_": schema.maybe(schema.anything),  # the server's, which looks at it itself
}


def whole(least: int = 1, most: int | None = None) -> Interval:
    """Return the rule for whole numbers from ``least`` on."""
    return _Whole(Integral, least, most, closed="left" if most is None else "both")


def real(
    low: float | None = None,
    high: float | None = None,
    closed: Literal["left", "right", "both", "neither"] = "neither",
) -> Interval:
    """Return the rule for numbers between ``low`` and ``high``, with the ends that are closed."""
    return Interval(Real, low, high, closed=closed)


def one_of(*names: str) -> StrOptions:
    """Return the rule for a choice between names."""
    return StrOptions(set(names))


def check(rules: Rules, values: Mapping[str, Any], owner: str) -> None:
    """Raise the sentence that scikit-learn's estimators raise if a value breaks its rule."""
    validate_parameter_constraints(dict(rules), dict(values), caller_name=owner)


def limited(X: csr_matrix) -> csr_matrix:
    """Return features as they are; values too large to be squared and summed are an error.

    >>> limited(csr_matrix([[1e30]]))
    Traceback (most recent call last):
    labelspace.errors.DataError: Features are as large as 1e+30: scale them down, to 1e+15 at most.
    """
    largest = max(abs(X.data.max()), abs(X.data.min())) if X.nnz else 0.0
    if largest > LARGEST:
        raise DataError(
            f"Features are as large as {largest:g}: scale them down, to {LARGEST:g} at most."
        )
    return X


class _Whole(Interval):
    """Whole numbers without True and False, which are some to Python, but count nothing."""

    def is_satisfied_by(self, val: Any) -> bool:
        return not isinstance(val, bool) and bool(super().is_satisfied_by(val))


class CorpusShape(NamedTuple):
    """How large a corpus is: all that a preset may know of it."""

    n_examples: int
    n_features: int
    n_labels: int
    n_entries: int = 0  # features of all rows together


@dataclass(frozen=True)
class Settings(Storable):
    """All that a method can be told; subclasses add the fields, and a rule for each."""

    presets: ClassVar[tuple[str, ...]] = ("best", "paper")
    rules: ClassVar[Rules] = {}
    tunable: ClassVar[Tunable] = {}

    @classmethod
    def _check_state(cls, state: schema.State, sizes: schema.Sizes) -> None:
        """Ask of stored settings what is asked of those that are given."""
        if state.keys() != set(setting_names(cls)):
            raise schema.Mismatch("settings are not those of this version")
        _refuse_flags(cls.rules, state)
        check(cls.rules, state, cls.__name__)

    @classmethod
    def for_corpus(cls: type[Chosen], preset: str, shape: CorpusShape) -> Chosen:
        """Return the settings of a preset for a corpus of some shape."""
        raise NotImplementedError

    @classmethod
    def completed(cls: type[Chosen], chosen: Chosen, given: Mapping[str, Any]) -> Chosen:
        """Return settings with those that were ``given`` in their place.

        What is derived from other fields follows them, unless the preset has a value of its own
        or it was given. Override where what was given decides otherwise about what was not.
        """
        told, before = replace(chosen, **given), chosen.derived()
        followed = {
            name: value
            for name, value in told.derived().items()
            if name not in given and getattr(chosen, name) == before[name]
        }
        return replace(told, **followed)

    def derived(self) -> dict[str, Any]:
        """Return what some fields are, unless told, by the others: none here."""
        return {}


def split_state(kind: Any, state: schema.State) -> tuple[Any, schema.State]:
    """Return an estimator that has nothing but its stored parameters, and the rest of the state."""
    names = kind._get_param_names()
    made = kind.__new__(kind)
    for name in names:
        if name not in state:
            raise schema.Mismatch(f"{name} is missing")
        setattr(made, name, state[name])
    _refuse_flags(
        getattr(kind, "_parameter_constraints", {}), {name: state[name] for name in names}
    )
    settings, kept = getattr(kind, "settings_type", None), state.get("settings")
    if settings is not None and isinstance(kept, Mapping):
        _refuse_flags(settings.rules, kept)
    return made, {name: value for name, value in state.items() if name not in names}


def _refuse_flags(rules: Rules, stored: Mapping[str, Any]) -> None:
    """Raise if True or False is stored for a number: it is one to Python, but counts nothing."""
    for name, value in stored.items():
        values = value if isinstance(value, (list, tuple)) else [value]
        if FLAG not in rules.get(name, [FLAG]) and any(type(one) is bool for one in values):
            raise schema.Mismatch(f"{name} is no number")


def setting_names(kind: type[Settings] | None) -> list[str]:
    """Return the names of a method's settings."""
    return [] if kind is None else [field.name for field in fields(kind)]


def check_settings(kind: type[Settings], given: Any, owner: str) -> None:
    """Raise if ``given`` are no settings of this kind: an object, a dict of some, or None."""
    if given is None or isinstance(given, kind):
        values: Mapping[str, Any] = {} if given is None else vars(given)
    elif isinstance(given, Mapping):
        values = given
    else:
        raise UsageError(
            f"settings of {owner} is a {type(given).__name__}: give a dict such as "
            f"{{'{setting_names(kind)[0]}': …}}, or {kind.__name__}."
        )
    known = setting_names(kind)
    for name in values:
        if name not in known:
            raise UsageError(f"{owner} has no setting '{name}'{nearest(name, known)}")
    check(kind.rules, values, owner)


def resolve_settings(kind: type[Chosen], estimator: Any, shape: CorpusShape) -> Chosen:
    """Return the settings of an estimator: its preset's, then ``settings``, then parameters.

    A parameter that is None was not given. One that stands in ``settings`` too is an error.
    """
    owner = type(estimator).__name__
    told, preset = estimator.settings, getattr(estimator, "preset", "best")
    parameters = estimator.get_params(deep=False)
    given = {
        name: parameters[name]
        for name in setting_names(kind)
        if parameters.get(name) is not None and name in parameters
    }
    if isinstance(told, kind):
        return replace(told, **given)
    twice = given.keys() & (told or {}).keys()
    if twice:
        raise UsageError(
            f"{owner} has '{min(twice)}' as a parameter and in settings: give it once."
        )
    return kind.completed(kind.for_corpus(preset, shape), {**given, **(told or {})})
