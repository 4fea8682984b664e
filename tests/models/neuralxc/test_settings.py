from __future__ import annotations

from dataclasses import replace

import pytest

from labelspace.errors import UsageError
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


# Of the report's program (github.com/vishwakftw/extreme-classification, named in section 5.3 of the
# report): widths from setups/*/*_cfg.yml; Adam with lr 0.0003, on mediamill 0.001, and weight_decay
# 0.0001 from setups/*/opt.yml; batch_size 64, inp_ae_wgt and otp_ae_wgt 0.01 from
# train_neuralxc_with_args.sh. That leaves the epochs open, which are 10 if train_neuralxc.py is
# told of none; errors are means there (mse_loss and binary_cross_entropy), where formula (1) of the
# report has sums. What stands between layers is no setting of these networks: test_report_task.py
# has it.
PROGRAM = {
    "alpha": 0.01,
    "beta": 0.01,
    "errors": "mean",
    "networks": "dense",
    "label_priors": False,
    "normalize": False,
    "n_epochs": 10,
    "batch_size": 64,
    "weight_decay": 0.0001,
    "n_learners": 1,
    "linear_dim": 0,
    "storage": "float32",
}
WIDTHS = {
    "bibtex": ((4880, 1836, 159), (1152, 600), 256, (96,), 32, (112,)),
    "delicious": ((12920, 500, 983), (250,), 125, (326, 163), 82, (104,)),
    "mediamill": ((30993, 120, 101), (100,), 50, (75, 50), 32, (41,)),
    "eurlex": ((15539, 5000, 3993), (2500, 1250), 500, (1331, 443), 141, (325,)),
}


@pytest.mark.parametrize("corpus", WIDTHS)
def test_the_paper_is_the_reports_program_value_by_value(corpus):
    shape, hidden, dim, label_hidden, label_dim, between = WIDTHS[corpus]
    chosen = NeuralXCSettings.for_corpus("paper", CorpusShape(*shape))
    widths = {
        "hidden": hidden,
        "dim": dim,
        "label_hidden": label_hidden,
        "label_dim": label_dim,
        "regressor_hidden": between,
    }
    rate = 0.001 if corpus == "mediamill" else 0.0003
    assert (PROGRAM | widths | {"learning_rate": rate}).items() <= vars(chosen).items()


def test_the_program_has_adam_with_l2_and_steps_that_stay():
    pytest.importorskip("torch")
    chosen = NeuralXCSettings.for_corpus("paper", CorpusShape(4880, 1836, 159))
    training = chosen.training(seed=0)
    assert (training.rule, training.decay) == ("adam-l2", False)
    assert (training.learning_rate, training.weight_decay) == (0.0003, 0.0001)


def test_repaired_is_the_paper_but_for_two_values():
    shape = CorpusShape(4880, 1836, 159)
    paper, repaired = (
        vars(NeuralXCSettings.for_corpus(one, shape)) for one in ("paper", "repaired")
    )
    assert {name for name in paper if paper[name] != repaired[name]} == {
        "weight_decay",
        "label_priors",
    }
    assert (repaired["weight_decay"], repaired["label_priors"]) == (0.0, True)


@pytest.mark.parametrize("preset", ["paper", "repaired"])
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("activation", "tanh"),
        ("code", "linear"),
        ("cosine", 20.0),
        ("dropout", 0.3),
        ("keep_features", 0.6),
        ("keep_labels", 0.5),
    ],
)
def test_what_the_programs_networks_do_not_read_is_refused(preset, name, value):
    chosen = NeuralXCSettings.for_corpus(preset, CorpusShape(4880, 1836, 159))
    chosen.refuse_unread()
    with pytest.raises(UsageError, match=f"^{name}={value!r} is for sparse networks"):
        replace(chosen, **{name: value}).refuse_unread()
    replace(chosen, **{name: value}, networks="sparse").refuse_unread()


def test_widths_of_other_corpora_grow_with_the_data():
    chosen = NeuralXCSettings.for_corpus("paper", CorpusShape(300, 78, 12))
    assert (chosen.dim, chosen.label_dim) == (round(6 * 78**0.5), round(2.5 * 12**0.5))
    assert chosen.hidden == (round((78 * chosen.dim) ** 0.5),)
    assert chosen.regressor_hidden == ((chosen.dim + chosen.label_dim) // 2,)


def test_no_layer_of_the_paper_is_wider_than_can_be_afforded():
    chosen = NeuralXCSettings.for_corpus("paper", CorpusShape(10**6, 10**6, 10**6))
    assert chosen.dim == chosen.hidden[0] == chosen.label_hidden[0] == 2048


def test_every_setting_has_a_rule():
    assert NeuralXCSettings.rules.keys() == vars(NeuralXCSettings()).keys()
