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
# validation (4.1).
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
}
# What the paper does not say: the share of dropout, the batch, DeepWalk's settings, how numbers are
# kept, and whether rows are scaled, of which section 4.1 is silent; T and m are further below.
OURS = {
    "dropout": 0.5,
    "batch_size": 128,
    "n_walks": 10,
    "walk_length": 40,
    "window": 5,
    "storage": "int8",
    "normalize": False,
}
# Settings of other losses and votes, which are of no effect in the paper.
IDLE = {"gamma", "margin", "vote_gamma", "label_votes"}


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
    assert (PUBLISHED | OURS).items() <= vars(chosen).items()
    small = corpus in ("bibtex", "delicious", "mediamill")
    assert chosen.widths == ((256, 100) if small else (512, 300))
    elsewhere = {"hidden", "dim", "n_epochs", "n_clusters"}
    assert vars(chosen).keys() == PUBLISHED.keys() | OURS | IDLE | elsewhere


def test_the_paper_has_the_clusters_that_its_times_of_asking_suggest():
    """Table 6: seconds a row grow as all rows do up to 14,146, as half of them on mediamill."""
    found = {name: resolved(CorpusShape(*shape), "paper") for name, shape in TABLE_1.items()}
    assert {name: told.n_clusters for name, told in found.items()} == {
        "bibtex": 1,
        "delicious": 1,
        "mediamill": 2,
        "wiki10-31k": 1,
        "delicious-200k": 13,
        "amazon-670k": 32,
    }


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
