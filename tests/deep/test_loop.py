from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from labelspace.deep.label_sample import LabelSampler
from labelspace.deep.loop import DeepSettings, device_of, train
from labelspace.deep.row_optimizer import RowOptimizer
from labelspace.deep.row_table import RowTable
from labelspace.errors import UsageError
from labelspace.graph.cooccurrence import cooccurrence, similarity
from labelspace.models.glas.task import LOSSES, REGULARIZERS, GLaSTask, GLaSTaskSettings
from tests.planted import planted_corpus

SMALL = GLaSTaskSettings(widths=(16, 16), scale=10.0)
QUICK = DeepSettings(n_epochs=4, batch_size=64, learning_rate=0.01, row_learning_rate=0.01)


def a_task(settings: GLaSTaskSettings = SMALL, held_out: bool = True) -> GLaSTask:
    X, Y = planted_corpus()
    likeness = similarity(cooccurrence(Y), 300)
    kept = planted_corpus(50, seed=1) if held_out else None
    return GLaSTask(X, Y, settings, likeness=likeness, held_out=kept)


def parameters(task: GLaSTask):
    tables = [table.values for table in task.tables.values()]
    return [*tables, *(one.detach() for one in task.module.parameters())]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("regularizer", REGULARIZERS)
def test_every_loss_learns_with_every_regulariser(loss, regularizer):
    settings = replace(SMALL, loss=loss, regularizer=regularizer, biases=loss == "binary")
    weight = 0.1 if regularizer in ("laplacian", "gravity") else 1.0
    history = train(a_task(replace(settings, weight=weight)), 300, replace(QUICK, n_epochs=8))
    assert history["P@1"][-1] > 60.0
    assert history["loss"][-1] < history["loss"][0]


def test_killed_training_goes_on_to_the_same_model(tmp_path):
    whole = a_task()
    history = train(whole, 300, QUICK)
    killed = a_task()
    folder = tmp_path / "checkpoint"
    evaluate, calls = killed.evaluate, []

    def dies_in_the_third_epoch():
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return evaluate()

    killed.evaluate = dies_in_the_third_epoch
    with pytest.raises(KeyboardInterrupt):
        train(killed, 300, replace(QUICK, checkpoint=str(folder)))
    assert (folder / "last" / "manifest.json").exists()
    resumed = a_task()
    again = train(resumed, 300, replace(QUICK, checkpoint=str(folder)))
    assert again["loss"] == history["loss"]
    for one, other in zip(parameters(whole), parameters(resumed), strict=True):
        assert torch.equal(one, other)
    assert not folder.exists(), "a finished training leaves no checkpoint"


def test_checkpoint_of_another_training_is_refused(tmp_path):
    folder = str(tmp_path / "checkpoint")
    task = a_task()
    task.evaluate = lambda: (_ for _ in ()).throw(KeyboardInterrupt) if len(calls) else calls
    calls: dict = {}

    def after_one():
        if calls:
            raise KeyboardInterrupt
        calls["once"] = 1.0
        return {}

    task.evaluate = after_one
    with pytest.raises(KeyboardInterrupt):
        train(task, 300, replace(QUICK, checkpoint=folder))
    with pytest.raises(UsageError, match="another training"):
        train(a_task(), 300, replace(QUICK, checkpoint=folder, seed=5))


def test_training_ends_when_held_out_rows_get_no_better_and_takes_the_best_epoch():
    task = a_task()
    numbers = iter([10.0, 30.0, 20.0, 25.0, 90.0])
    seen = []

    def evaluate():
        seen.append(task.labels.values.clone())
        return {"P@1": next(numbers)}

    task.evaluate = evaluate
    history = train(task, 300, replace(QUICK, n_epochs=5, patience=2))
    assert len(history) == 4
    assert history.best("P@1")["epoch"] == 2
    assert torch.equal(task.labels.values, seen[1])


def test_small_corpora_get_more_epochs():
    history = train(a_task(held_out=False), 300, replace(QUICK, n_epochs=1, min_steps=12))
    assert len(history) == 3


@pytest.mark.parametrize("rule", ["adam", "adagrad"])
def test_rows_without_a_gradient_stay_and_others_go_downhill(rule):
    table = RowTable(torch.ones(3, 4))
    optimizer = RowOptimizer(table, rule)
    for _ in range(50):
        table.rows(torch.tensor([0, 2])).square().sum().backward()
        optimizer.step(0.1)
    assert torch.equal(table.values[1], torch.ones(4))
    assert table.values[[0, 2]].abs().max() < 0.2


def test_adam_of_rows_is_torchs_adam_where_every_row_is_touched():
    start = torch.randn(4, 3, generator=torch.Generator().manual_seed(0))
    table, dense = RowTable(start.clone()), start.clone().requires_grad_()
    ours, theirs = RowOptimizer(table, "adam"), torch.optim.Adam([dense], lr=0.05)
    for _ in range(5):
        table.rows(torch.arange(4)).pow(3).sum().backward()
        ours.step(0.05)
        theirs.zero_grad()
        dense.pow(3).sum().backward()
        theirs.step()
    assert torch.allclose(table.values, dense.detach(), atol=1e-5)


def test_sample_has_all_labels_of_the_batch_and_marks_them():
    _, Y = planted_corpus(200, n_labels=60)
    sampler = LabelSampler(Y, 40)
    rows = np.array([3, 5, 8, 190])
    sample = sampler.draw(rows, np.random.default_rng(0))
    dense = Y[rows].toarray().astype(bool)
    assert np.array_equal(sample.relevant, dense[:, sample.labels])
    assert sample.relevant.sum() == dense.sum()
    assert sample.relevant[np.arange(4), sample.chosen].all()
    assert np.all(np.diff(sample.labels) > 0)


def test_weights_are_one_over_the_chance_to_be_sampled():
    _, Y = planted_corpus(200, n_labels=60)
    sampler, rng = LabelSampler(Y, 30), np.random.default_rng(0)
    counted = np.zeros(60)
    weighted = np.zeros(60)
    for _ in range(600):
        sample = sampler.draw(rng.choice(200, size=8, replace=False), rng)
        counted[sample.labels] += 1
        weighted[sample.labels] += sample.weights
    assert counted.min() > 100
    assert np.allclose(weighted / 600, 1.0, atol=0.25)


def test_a_device_that_is_not_there_is_refused():
    if torch.cuda.is_available():
        pytest.skip("there is a GPU here")
    with pytest.raises(UsageError, match="no GPU"):
        device_of("cuda")


def test_momentum_moves_rows_as_torch_does():
    values = torch.arange(6.0).reshape(3, 2)
    table, dense = RowTable(values.clone()), torch.nn.Parameter(values.clone())
    ours = RowOptimizer(table, "momentum", weight_decay=0.1)
    theirs = torch.optim.SGD([dense], lr=0.5, momentum=0.9, weight_decay=0.1)
    for step in range(3):
        gradient = torch.full((3, 2), 1.0 + step)
        table.leave(torch.arange(3), gradient)
        ours.step(0.5)
        dense.grad = gradient.clone()
        theirs.step()
    assert torch.allclose(table.values, dense.detach())


def test_training_with_momentum_learns():
    settings = replace(QUICK, rule="momentum", row_rule="momentum", decay=False, n_epochs=8)
    task = a_task(replace(SMALL, regularizer="none"))
    history = train(task, 300, replace(settings, learning_rate=0.2, row_learning_rate=0.2))
    assert history["loss"][-1] < 0.9 * history["loss"][0]


def test_a_training_that_diverges_says_so():
    task = a_task()
    with torch.no_grad():
        next(iter(task.module.parameters())).fill_(float("nan"))
    with pytest.raises(UsageError, match="diverged"):
        train(task, 300, replace(QUICK, n_epochs=1))
