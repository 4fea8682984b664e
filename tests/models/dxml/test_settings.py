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


# Zhang et al. (2018): an edge for labels that ever come together (3.2), smooth L1 (eq. 2), f_y =
# V y / nnz(y) with V as DeepWalk gives it (Algorithm 1), one partition looked into (Algorithm 2),
# 256 or 512 hidden units, ReLU, dropout after the last linear layer, an l2 layer at the end, 100
# or 300 dimensions, momentum 0.9, weight decay 0.0005, a fixed rate of 0.015, k by cross-
# validation (4.1). The paper does not say the share of dropout, T, the batch, DeepWalk's settings
# and m.
PUBLISHED = {
    "edges": "binary",
    "targets": "deepwalk",
    "loss": "smooth-l1",
    "unit_labels": False,
    "unit_targets": False,
    "activation": "relu",
    "keep_features": 1.0,
    "label_weight": 0.0,
    "rule": "momentum",
    "learning_rate": 0.015,
    "weight_decay": 0.0005,
    "decay": False,
    "n_learners": 1,
    "n_probes": 1,
    "n_neighbors": None,
    "voting": "counts",
    "normalize": False,
}


# Rows, features and labels of the paper's Table 1, which calls the first three small.
TABLE_1 = {
    "bibtex": (4_880, 1_836, 159),
    "delicious": (12_920, 500, 983),
    "mediamill": (30_993, 120, 101),
    "wiki10-31k": (14_146, 101_938, 30_938),
    "delicious-200k": (196_606, 782_585, 205_443),
    "amazon-670k": (490_449, 135_909, 670_091),
}


@pytest.mark.parametrize("corpus", TABLE_1)
def test_the_paper_is_the_publication_value_by_value(corpus):
    chosen = resolved(CorpusShape(*TABLE_1[corpus]), "paper")
    assert PUBLISHED.items() <= vars(chosen).items()
    small = corpus in ("bibtex", "delicious", "mediamill")
    assert chosen.widths == ((256, 100) if small else (512, 300))
    assert chosen.dropout > 0


def test_the_paper_has_as_many_clusters_as_ensembles_of_its_time():
    shapes = [CorpusShape(n, 500, 983) for n in (4_880, 12_920, 60_000)]
    assert [resolved(shape, "paper").n_clusters for shape in shapes] == [1, 2, 10]


def test_the_paper_learns_longer_where_there_are_few_labels():
    small, large = (resolved(CorpusShape(*TABLE_1[name]), "paper") for name in list(TABLE_1)[2:4])
    assert (small.n_epochs, large.n_epochs) == (40, 30)


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
