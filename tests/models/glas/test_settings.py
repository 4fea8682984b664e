from __future__ import annotations

import re
from pathlib import Path

import pytest

from labelspace import models
from labelspace.models.glas.settings import GLaSSettings
from labelspace.parameters import CorpusShape

FEW, SOME, MANY = (CorpusShape(n, 5000, 100) for n in (9_999, 10_000, 20_000))
PAGE = Path(__file__).resolve().parents[3] / "docs" / "methods" / "glas.md"


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


# Guo et al. (2019): d = 1024, B = 4096, λ = 10, ρ = 0.8 and a ReLU network are the base setting
# of section 4, "Ablation Study"; weight normalisation is section 3.1, equation (1) the margin
# loss, x ⊙ Bernoulli(ρ) section 3.3, one label drawn for each row and those that were drawn twice
# kept twice Algorithm 2, "up to 10 epochs" with early stopping and "without any adjustment" for
# tail labels section 4. Nothing there rounds what was learned. What is not here the paper does not
# say, and the page names it.
BASE_SETTING = {
    "dim": 1024,
    "batch_size": 4096,
    "regularizer": "glas",
    "regularizer_weight": 10.0,
    "similarity": "arithmetic",
    "keep_features": 0.8,
    "rescale_kept": False,
    "activation": "relu",
    "weight_norm": True,
    "loss": "margin",
    "all_positives": False,
    "biases": False,
    "keep_duplicates": True,
    "n_epochs": 10,
    "tail": 0.0,
    "n_learners": 1,
    "linear_dim": 0,
    "normalize": False,
    "storage": "float32",
}


def test_the_paper_is_its_base_setting_value_by_value():
    paper = GLaSSettings.for_corpus("paper", FEW)
    assert paper == GLaSSettings.for_corpus("paper", MANY)
    assert BASE_SETTING.items() <= vars(paper).items()
    assert len(paper.hidden) == 1
    assert paper.validation > 0


def test_the_page_names_every_setting_that_the_paper_leaves_open():
    text = PAGE.read_text(encoding="utf-8")
    [listed] = re.findall(r"what the paper\s+does not say:\n\n((?:[-*] .*\n|  .*\n)+)", text)
    unsaid = vars(GLaSSettings.for_corpus("paper", FEW)).keys() - BASE_SETTING.keys()
    assert set(re.findall(r"`(\w+)`", listed)) == unsaid


@pytest.mark.parametrize(("n_rows", "ends_early"), [(2, True), (12_934, True), (12_935, False)])
def test_the_paper_can_only_end_early_where_passes_are_stretched(n_rows, ends_early):
    # After ten passes without a better P@1, that is the eleventh at the soonest; of ten passes all
    # are made, and the best is taken. Small corpora get more passes, for 40 steps.
    pytest.importorskip("torch")
    paper = GLaSSettings.for_corpus("paper", FEW)
    told = paper.training(0)
    learned = n_rows - int(paper.validation * n_rows)
    steps = -(-learned // told.batch_size)
    n_passes = max(told.n_epochs, -(-told.min_steps // steps))
    assert told.patience == told.n_epochs == 10
    assert (n_passes > told.patience + 1) == ends_early


def test_training_is_told_when_to_stop_only_if_rows_are_held_out():
    pytest.importorskip("torch")
    settings = GLaSSettings(patience=3, learning_rate=0.5)
    assert settings.training(7).patience is None
    stopping = GLaSSettings(patience=3, validation=0.1)
    assert stopping.training(7).patience == 3
    assert stopping.gentle_training(7).patience is None
    gentle = settings.gentle_training(7)
    assert (gentle.n_epochs, gentle.learning_rate, gentle.seed) == (2, pytest.approx(0.05), 7)


def test_the_constructor_takes_few_parameters():
    assert len(models.GLaS().get_params()) <= 16
