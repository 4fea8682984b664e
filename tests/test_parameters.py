"""Settings: what a preset says, what was given, and what follows from other settings."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

from labelspace.errors import ModelFileError, UsageError
from labelspace.models import AnnexML
from labelspace.models.annexml.settings import AnnexMLSettings
from labelspace.parameters import CorpusShape, InvalidParameterError, Rules, Settings, whole
from labelspace.store import load
from labelspace.store.schema import Mismatch, Sizes
from tests.planted import planted_corpus


@dataclass(frozen=True)
class Boxes(Settings):
    width: int
    area: int
    rules: ClassVar[Rules] = {"width": [whole()], "area": [whole()]}

    @classmethod
    def for_corpus(cls, preset: str, shape: CorpusShape) -> Boxes:
        return cls(width=2, area=7 if preset == "paper" else 4)

    def derived(self) -> dict[str, Any]:
        return {"area": self.width**2}


@pytest.mark.parametrize(
    ("preset", "given", "area"),
    [
        ("best", {}, 4),
        ("best", {"width": 3}, 9),
        ("best", {"width": 3, "area": 4}, 4),
        ("paper", {"width": 3}, 7),
    ],
)
def test_what_is_derived_follows_unless_given_or_the_presets_own(
    preset: str, given: dict[str, int], area: int
) -> None:
    chosen = Boxes.for_corpus(preset, CorpusShape(1, 1, 1))
    assert Boxes.completed(chosen, given).area == area


def test_settings_are_taken_as_a_dict_and_as_a_whole() -> None:
    X, Y = planted_corpus(40)
    one = AnnexML(n_learners=1, settings={"batch_size": 20}, random_state=0).fit(X, Y)
    again = AnnexML(settings=one.settings_, random_state=0).fit(X, Y)
    assert one.settings_.batch_size == again.settings_.batch_size == 20
    assert (one.predict_topk(X).scores == again.predict_topk(X).scores).all()


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"settings": {"batch_sise": 20}}, "no setting 'batch_sise': did you mean 'batch_size'"),
        ({"settings": {"dim": 8}, "dim": 8}, "'dim' as a parameter and in settings"),
        ({"settings": 3}, "settings of AnnexML is a int"),
    ],
)
def test_settings_that_make_no_sense_are_named(parameters: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        AnnexML(**parameters).fit(*planted_corpus(20))


def test_settings_are_checked_as_parameters_are() -> None:
    for parameters in ({"dim": 0}, {"settings": {"dim": 0}}, {"settings": AnnexMLSettings(dim=0)}):
        with pytest.raises(InvalidParameterError, match="'dim' parameter of AnnexML"):
            AnnexML(**parameters).fit(*planted_corpus(20))


@pytest.mark.parametrize("given", [{"n_learners": True}, {"settings": {"graph_neighbors": True}}])
def test_true_counts_nothing(given: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameterError, match=r"must be an int in the range \[1, inf\)"):
        AnnexML(**given).fit(*planted_corpus(40))


def test_true_is_no_number_in_stored_settings(tmp_path: Path) -> None:
    for state in ({"width": 1, "area": True}, {"width": [1, True], "area": 1}):
        with pytest.raises(Mismatch, match="is no number"):
            Boxes._check_state(state, Sizes())
    X, Y = planted_corpus(40)
    model = AnnexML(n_learners=1, random_state=0).fit(X, Y)
    model.settings = {"gamma": True}
    model.save(tmp_path / "model")
    with pytest.raises(ModelFileError, match="gamma is no number"):
        load(tmp_path / "model")
