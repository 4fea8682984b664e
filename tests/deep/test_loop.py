from __future__ import annotations

from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")

from labelspace import metrics
from labelspace.deep import label_losses
from labelspace.deep.loop import DeepSettings, DeepTask, device_of, train
from labelspace.deep.sparse_network import SparseBatch, SparseNetwork
from labelspace.errors import UsageError
from labelspace.topk import topk_dense
from tests.planted import planted_corpus

QUICK = DeepSettings(n_epochs=4, batch_size=64, learning_rate=0.01, row_learning_rate=0.01)


class LogisticTask(DeepTask):
    """The smallest task: one layer from features to labels."""

    def __init__(self) -> None:
        self.X, self.Y = planted_corpus()
        self.module = self.network = SparseNetwork(self.X.shape[1], (8, 12), unit=False)
        self.tables = {"features": self.network.table}

    def loss(self, rows, rng):
        scores = self.network(SparseBatch.of(self.X[rows], keep=0.9, rng=rng))
        relevant = torch.from_numpy(self.Y[rows].toarray() > 0)
        return {"loss": label_losses.binary(scores, relevant)}

    @torch.no_grad()
    def evaluate(self):
        X, Y = planted_corpus(50, seed=1)
        scores = self.network(SparseBatch.of(X)).numpy()
        return {"P@1": metrics.evaluate(Y, topk_dense(scores, 1), ks=(1,))["P@1"]}


def parameters(task: DeepTask):
    tables = [table.values for table in task.tables.values()]
    return [*tables, *(one.detach() for one in task.module.parameters())]


@pytest.mark.parametrize("rule", ["adam", "momentum"])
def test_training_learns(rule):
    rate = {"adam": 0.03, "momentum": 0.1}[rule]
    settings = replace(QUICK, n_epochs=20, learning_rate=rate, row_learning_rate=rate)
    history = train(LogisticTask(), 300, replace(settings, rule=rule, row_rule=rule))
    assert history["loss"][-1] < 0.7 * history["loss"][0]
    assert history["P@1"][-1] > 60.0 > history["P@1"][0]


class RowsTask(DeepTask):
    """Half the squared error of one linear map, of all rows at once."""

    def __init__(self) -> None:
        self.X, self.Y = planted_corpus(40)
        generator = torch.Generator().manual_seed(0)
        self.module = torch.nn.Linear(self.X.shape[1], self.Y.shape[1])
        torch.nn.init.normal_(self.module.weight, generator=generator)
        torch.nn.init.zeros_(self.module.bias)
        self.tables = {}

    def loss(self, rows, rng):
        x, y = (torch.from_numpy(one[rows].toarray()).float() for one in (self.X, self.Y))
        return {"loss": 0.5 * (self.module(x) - y).square().mean()}


def test_adam_with_l2_is_that_of_torch():
    """g ← g + λw before the moments, where AdamW takes λw off by itself."""
    settings = DeepSettings(
        n_epochs=5, batch_size=40, learning_rate=0.01, weight_decay=0.1, decay=False
    )
    ours, apart = RowsTask(), RowsTask()
    train(ours, 40, replace(settings, rule="adam-l2"))
    train(apart, 40, replace(settings, rule="adam"))
    theirs = RowsTask()
    optimizer = torch.optim.Adam(theirs.module.parameters(), lr=0.01, weight_decay=0.1)
    for _ in range(5):
        optimizer.zero_grad()
        theirs.loss(range(40), None)["loss"].backward()
        optimizer.step()
    torch.testing.assert_close(ours.module.weight, theirs.module.weight, rtol=1e-4, atol=1e-5)
    assert (apart.module.weight - theirs.module.weight).abs().max() > 1e-3


def test_killed_training_goes_on_to_the_same_model(tmp_path):
    whole = LogisticTask()
    history = train(whole, 300, QUICK)
    killed = LogisticTask()
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
    resumed = LogisticTask()
    again = train(resumed, 300, replace(QUICK, checkpoint=str(folder)))
    assert again["loss"] == history["loss"]
    for one, other in zip(parameters(whole), parameters(resumed), strict=True):
        assert torch.equal(one, other)
    assert not folder.exists(), "a finished training leaves no checkpoint"


def test_a_training_that_goes_on_from_its_end_is_over(tmp_path):
    kept = replace(QUICK, checkpoint=str(tmp_path / "checkpoint"), keep_checkpoint=True)
    train(LogisticTask(), 300, kept)
    again = LogisticTask()
    again.module.train()
    train(again, 300, kept)
    assert not again.module.training, "what is random in training stays out of what follows"


def test_checkpoint_of_another_training_is_refused(tmp_path):
    task, folder = LogisticTask(), str(tmp_path / "checkpoint")
    epochs: list[int] = []

    def dies_in_the_second_epoch():
        epochs.append(1)
        if len(epochs) == 2:
            raise KeyboardInterrupt
        return {}

    task.evaluate = dies_in_the_second_epoch
    with pytest.raises(KeyboardInterrupt):
        train(task, 300, replace(QUICK, checkpoint=folder))
    with pytest.raises(UsageError, match="another training"):
        train(LogisticTask(), 300, replace(QUICK, checkpoint=folder, seed=5))


def test_training_ends_when_held_out_rows_get_no_better_and_takes_the_best_epoch():
    task = LogisticTask()
    numbers = iter([10.0, 30.0, 20.0, 25.0, 90.0])
    seen = []

    def evaluate():
        seen.append([one.clone() for one in parameters(task)])
        return {"P@1": next(numbers)}

    task.evaluate = evaluate
    history = train(task, 300, replace(QUICK, n_epochs=5, patience=2))
    assert len(history) == 4
    assert history.best("P@1")["epoch"] == 2
    assert all(map(torch.equal, parameters(task), seen[1]))
    assert not all(map(torch.equal, seen[1], seen[3]))


def test_small_corpora_get_more_epochs():
    history = train(LogisticTask(), 300, replace(QUICK, n_epochs=1, min_steps=12))
    assert len(history) == 3


def test_nothing_to_learn_from_is_no_training():
    assert len(train(LogisticTask(), 0, QUICK)) == 0


def test_each_of_several_networks_has_its_own_seed_and_checkpoint():
    parts = [replace(QUICK, seed=7, checkpoint="folder").of_part(number) for number in (0, 1)]
    assert [one.seed for one in parts] == [7, 8]
    assert parts[0].checkpoint != parts[1].checkpoint
    assert QUICK.of_part(1).checkpoint is None


def test_a_device_that_is_not_there_is_refused():
    if torch.cuda.is_available():
        pytest.skip("there is a GPU here")
    with pytest.raises(UsageError, match="no GPU"):
        device_of("cuda")


def test_a_training_that_diverges_says_so():
    task = LogisticTask()
    with torch.no_grad():
        next(iter(task.module.parameters())).fill_(float("nan"))
    with pytest.raises(UsageError, match="diverged"):
        train(task, 300, replace(QUICK, n_epochs=1))
