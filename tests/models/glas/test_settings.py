from __future__ import annotations

import pytest

from labelspace import models
from labelspace.models.glas.settings import GLaSSettings
from labelspace.parameters import CorpusShape

FEW, SOME, MANY = (CorpusShape(n, 5000, 100) for n in (9_999, 10_000, 20_000))


def test_every_setting_has_a_rule():
    assert GLaSSettings.rules.keys() == vars(GLaSSettings()).keys()


def test_best_depends_on_the_number_of_rows():
    few, some, many = (GLaSSettings.for_corpus("best", shape) for shape in (FEW, SOME, MANY))
    assert (few.widths, some.widths, many.widths) == ((512,), (512, 512), (512, 512))
    assert (few.row_rule, some.row_rule, many.row_rule) == ("adagrad", "adam", "adam")
    assert (few.n_learners, some.n_learners, many.n_learners) == (1, 1, 2)
    assert (few.linear_dim, some.linear_dim, many.linear_dim) == (512, 512, 1024)


def test_few_features_need_no_linear_map():
    assert GLaSSettings.for_corpus("best", CorpusShape(20_000, 999, 100)).linear_dim == 0


def test_the_paper_is_the_same_for_every_corpus():
    paper = GLaSSettings.for_corpus("paper", FEW)
    assert paper == GLaSSettings.for_corpus("paper", MANY)
    assert (paper.loss, paper.weight_norm, paper.biases, paper.tail) == ("margin", True, False, 0.0)
    assert (paper.widths, paper.regularizer_weight, paper.batch_size) == ((1024, 1024), 10.0, 4096)


def test_training_is_told_when_to_stop_only_if_rows_are_held_out():
    pytest.importorskip("torch")
    settings = GLaSSettings(patience=3, learning_rate=0.5)
    assert settings.training(7).patience is None
    assert settings.training(7, stops_early=True).patience == 3
    gentle = settings.gentle_training(7)
    assert (gentle.n_epochs, gentle.learning_rate, gentle.seed) == (2, pytest.approx(0.05), 7)


def test_the_constructor_takes_few_parameters():
    assert len(models.GLaS().get_params()) <= 16
