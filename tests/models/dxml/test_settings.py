from __future__ import annotations

import pytest

from labelspace import models
from labelspace.models.dxml.settings import DXMLSettings
from labelspace.parameters import CorpusShape

TINY, FEW, SMALL, LARGE = (CorpusShape(n, 100, 50) for n in (499, 500, 10_000, 20_000))


def resolved(shape: CorpusShape = SMALL, preset: str = "best", **given) -> DXMLSettings:
    return DXMLSettings.completed(DXMLSettings.for_corpus(preset, shape), given)


def test_every_setting_has_a_rule():
    assert DXMLSettings.rules.keys() == vars(DXMLSettings()).keys()


def test_best_depends_on_the_number_of_rows():
    chosen = [resolved(shape) for shape in (TINY, FEW, SMALL, LARGE)]
    assert [one.n_learners for one in chosen] == [1, 8, 4, 2]
    assert [one.widths for one in chosen] == [(256, 100), (256, 600), (256, 100), (512, 256)]
    assert [one.learning_rate for one in chosen] == [5e-3, 2e-3, 5e-3, 3e-3]


def test_the_paper_has_a_smaller_network_for_few_rows():
    small, large = (resolved(shape, "paper") for shape in (SMALL, LARGE))
    assert (small.widths, small.n_epochs) == ((256, 100), 40)
    assert (large.widths, large.n_epochs) == ((512, 300), 30)
    assert (large.rule, large.decay, large.weight_decay) == ("momentum", False, 5e-4)


def test_labels_vote_only_if_they_learn_and_votes_are_weighted():
    assert resolved().label_votes is None
    assert resolved(label_weight=0.0).label_votes == 0.0
    assert resolved(voting="counts").label_votes == 0.0
    assert resolved(label_weight=0.0, label_votes=0.3).label_votes == 0.3
    assert resolved(preset="paper").label_votes == 0.0
    assert resolved(preset="paper", label_weight=1.0, voting="weighted").label_votes is None


def test_it_is_known_whether_something_about_votes_is_left_to_choose():
    assert not resolved(n_neighbors=3).is_told_of_votes
    assert resolved(n_neighbors=3, voting="counts").is_told_of_votes
    assert resolved(n_neighbors=3, vote_gamma=5.0, label_weight=0.0).is_told_of_votes
    usual = resolved(vote_gamma=5.0).with_usual_votes()
    assert (usual.n_neighbors, usual.vote_gamma, usual.label_votes) == (20, 5.0, 0.5)


def test_networks_learn_on_with_smaller_steps():
    pytest.importorskip("torch")
    settings = DXMLSettings(learning_rate=0.5, rule="momentum")
    whole, gentle = settings.training(7), settings.gentle_training(7)
    assert (whole.row_learning_rate, whole.row_rule, whole.seed) == (0.5, "momentum", 7)
    assert (gentle.learning_rate, gentle.row_learning_rate) == (0.05, 0.05)
    assert gentle.n_epochs < whole.n_epochs


def test_the_constructor_takes_few_parameters():
    assert len(models.DXML().get_params()) <= 16
