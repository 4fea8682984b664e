"""The names of methods and of what model folders may hold, against the code that they stand for."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

import labelspace
from labelspace import registry
from labelspace.base import LabelRanker
from labelspace.parameters import Settings
from labelspace.store import Storable

pytest.importorskip("torch")

# Bases of what is stored, never stored themselves.
ABSTRACT = {
    "FeaturesHolder",
    "AutoencoderSettings",
    "CompressedLabels",
    "LabelRanker",
    "LearnsOn",
    "LinearlyDecoded",
    "PredictorSettings",
    "PredictorTree",
    "Settings",
    "SparseClassifiers",
    "TreeRanker",
    "TreeSettings",
    "VotingRanker",
    "_BeamSearch",
}


def _everything_storable() -> set[type]:
    for module in pkgutil.walk_packages(labelspace.__path__, "labelspace."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    found: set[type] = set()
    bases: list[type] = [Storable]
    while bases:
        children = bases.pop().__subclasses__()
        found.update(children)
        bases.extend(children)
    return {one for one in found if one.__module__.startswith("labelspace.")}


def test_every_storable_class_has_a_name_and_every_name_its_class() -> None:
    storable = {one for one in _everything_storable() if one.__name__ not in ABSTRACT}
    named = {registry.storable_class(name) for name in registry._PLACES}
    assert named == storable


def test_names_of_classes_are_unique() -> None:
    names = [place.partition(":")[2] for place in registry._PLACES.values()]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("name", registry.METHODS)
def test_a_method_is_an_estimator_that_is_stored_by_its_name(name: str) -> None:
    kind = registry.storable_class(name)
    assert issubclass(kind, LabelRanker)
    assert registry.method_name(kind) == name
    if kind.settings_type is not None:
        assert issubclass(kind.settings_type, Settings)


@pytest.mark.parametrize("name", sorted(registry._PLACES))
def test_what_can_be_stored_says_what_its_attributes_are(name: str) -> None:
    kind = registry.storable_class(name)
    told = any(vars(base).get("_schema") for base in kind.__mro__)
    assert told or issubclass(kind, Settings), "an object of a stranger's would be taken as it is"
