from __future__ import annotations

import pytest

from labelspace.models.neuralxc.settings import NeuralXCSettings
from labelspace.parameters import CorpusShape


@pytest.mark.parametrize(
    ("n_rows", "n_features", "expected"),
    [
        (12_920, 500, {"hidden": (512,), "linear_dim": 0, "n_learners": 2}),
        (4_880, 1_836, {"hidden": (), "linear_dim": 512, "n_learners": 2, "row_rule": "adagrad"}),
        (45_000, 80_000, {"hidden": (), "linear_dim": 512, "n_learners": 1, "row_rule": "adam"}),
        (45_000, 500, {"hidden": (512,), "linear_dim": 0, "n_learners": 1}),
        (300, 78, {"hidden": (), "linear_dim": 0, "n_learners": 1, "dim": 128}),
    ],
)
def test_the_best_settings_depend_on_the_corpus(n_rows, n_features, expected):
    chosen = NeuralXCSettings.for_corpus("best", CorpusShape(n_rows, n_features, 100))
    assert expected.items() <= vars(chosen).items()


def test_the_paper_has_one_network_and_no_linear_map():
    chosen = NeuralXCSettings.for_corpus("paper", CorpusShape(4_880, 1_836, 159))
    assert (chosen.n_learners, chosen.linear_dim, chosen.code) == (1, 0, "tanh")


def test_every_setting_has_a_rule():
    assert NeuralXCSettings.rules.keys() == vars(NeuralXCSettings()).keys()
