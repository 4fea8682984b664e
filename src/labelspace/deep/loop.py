"""The training loop of all methods that need torch.

A method gives a ``DeepTask``: what is to be learned (modules and tables), the loss of a batch of
rows and, if rows are held out, how good it is on them. The loop does the rest: batches in random
order, steps of falling size, a record per epoch, an end when held-out rows stop getting better,
and checkpoints.

Every epoch draws its random numbers from a stream of its own, seeded by the number of the epoch. So
a checkpoint at the end of an epoch needs none of them, and a training that was killed and goes on
from there gives the same model as one that was not.
"""

from __future__ import annotations

import tempfile
import time
from abc import ABC, abstractmethod
from collections import defaultdict
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from torch import Tensor, nn

from labelspace import progress, store, threads
from labelspace.deep import checkpoints
from labelspace.deep.history import History
from labelspace.deep.row_optimizer import MOMENTUM, RowOptimizer
from labelspace.deep.row_table import RowTable
from labelspace.errors import UsageError
from labelspace.store.leftovers import temporary_folder


class DeepTask(ABC):
    """What a method has to say about its training.

    Attributes
    ----------
    X : csr_matrix
        The rows that are learned from.
    module : nn.Module
        Holds all dense parameters.
    tables : dict of RowTable
        The tables, by name.
    """

    X: csr_matrix
    module: nn.Module
    tables: dict[str, RowTable]

    @abstractmethod
    def loss(self, rows: NDArray[np.int64], rng: np.random.Generator) -> dict[str, Tensor]:
        """Return ``"loss"``, which is made small, and any other numbers for the record."""

    def evaluate(self) -> dict[str, float]:
        """Return how good the held-out rows are answered; nothing if there are none."""
        return {}

    def identity(self) -> str:
        """Return what tells this task from others, lest it take up another's checkpoint."""
        return ""


@dataclass(frozen=True)
class DeepSettings:
    """How a task is trained.

    Attributes
    ----------
    n_epochs : int
        Passes over the rows at most.
    min_steps : int
        More passes are made until there have been so many steps: for small corpora.
    batch_size : int
    learning_rate, row_learning_rate : float
        First step sizes of dense parameters and of tables.
    rule : {"adam", "adam-l2", "momentum"}
        How dense parameters move; with ``adam-l2`` weight decay is part of the gradient, as where
        Adam is told of an L2 term, else it is apart from it.
    row_rule : {"adam", "adagrad", "momentum"}
        How tables move; see ``RowOptimizer``.
    decay : bool
        Whether steps get smaller, down to zero at the last one.
    weight_decay : float
        Of dense parameters, and of tables with ``momentum``.
    monitor : str
        Which number of ``evaluate`` is to be large.
    patience : int, optional
        Epochs without a better number after which to end; the best epoch's parameters are taken.
    checkpoint : str, optional
        A folder to save to after every epoch and to go on from if it is there.
    keep_checkpoint : bool
        Whether it stays when training has come to its end, so that one which is asked for again,
        as one of several, is there at once.
    little_work : int
        With fewer non-zeros than this, steps are too small to be shared among threads, which would
        wait for each other: one thread learns.
    seed : int
    """

    n_epochs: int = 10
    min_steps: int = 0
    batch_size: int = 512
    learning_rate: float = 1e-3
    row_learning_rate: float = 1e-3
    rule: str = "adam"
    row_rule: str = "adam"
    decay: bool = True
    weight_decay: float = 0.0
    monitor: str = "P@1"
    patience: int | None = None
    checkpoint: str | None = None
    keep_checkpoint: bool = False
    little_work: int = 100_000
    seed: int = 0

    def of_part(self, number: int) -> DeepSettings:
        """Return the settings of one of several networks.

        Each has its own seed and its own checkpoint, which stays until all are done: whoever asks
        for several removes them.
        """
        folder = checkpoints.of_network(self.checkpoint, number)
        return replace(self, seed=self.seed + number, checkpoint=folder, keep_checkpoint=True)


def train(task: DeepTask, n_rows: int, settings: DeepSettings) -> History:
    """Train ``task`` on rows 0 … n_rows − 1; leave the best parameters in it.

    A checkpoint is removed when the training has come to its end, unless it is to be kept.
    """
    if not n_rows:
        return History()
    with temporary_folder(Path(tempfile.gettempdir()), "labelspace-training-", 0o700) as scratch:
        folder = Path(settings.checkpoint or scratch / "state")
        with threads.limit(1 if task.X.nnz < settings.little_work else None):
            return _Training(task, n_rows, settings, folder).run()


def device_of(choice: str) -> torch.device:
    """Return the device that ``"auto"``, ``"cpu"`` or ``"cuda"`` means."""
    if choice == "auto":
        choice = "cuda" if torch.cuda.is_available() else "cpu"
    if choice.startswith("cuda") and not torch.cuda.is_available():
        raise UsageError("device is 'cuda', but torch sees no GPU: give 'cpu' or 'auto'.")
    return torch.device(choice)


def _seed_torch(seed: int) -> None:
    # torch.manual_seed would also note down, for every kind of GPU that is not there, what to do
    # and who asked for it; that takes as long as a small epoch, and the notes are kept.
    torch.default_generator.manual_seed(seed)
    if torch.cuda.is_initialized():
        torch.cuda.manual_seed_all(seed)


def _dense_optimizer(module: nn.Module, settings: DeepSettings) -> torch.optim.Optimizer:
    learned = [one for one in module.parameters() if one.requires_grad]
    rate, weight_decay = settings.learning_rate, settings.weight_decay
    if settings.rule == "momentum":
        return torch.optim.SGD(learned, lr=rate, momentum=MOMENTUM, weight_decay=weight_decay)
    if settings.rule == "adam-l2":
        return torch.optim.Adam(learned, lr=rate, weight_decay=weight_decay)
    return torch.optim.AdamW(learned, lr=rate, weight_decay=weight_decay)


class _Training:
    def __init__(self, task: DeepTask, n_rows: int, settings: DeepSettings, folder: Path) -> None:
        self.task = task
        self.n_rows = n_rows
        self.settings = settings
        self.folder = folder
        self.per_epoch = max(1, -(-n_rows // settings.batch_size))
        self.n_epochs = max(settings.n_epochs, -(-settings.min_steps // self.per_epoch))
        self.dense = _dense_optimizer(task.module, settings)
        self.rows = {
            name: RowOptimizer(table, settings.row_rule, settings.weight_decay)
            for name, table in task.tables.items()
        }
        self.history = History()
        self.best: float | None = None

    def run(self) -> History:
        self._resume()
        with (
            progress.task("Training", total=self.n_epochs) as advance,
            torch.random.fork_rng(),
        ):
            advance(len(self.history))
            while len(self.history) < self.n_epochs and not self._is_over():
                self._epoch(len(self.history))
                advance(1)
        self.task.module.eval()  # also where a training went on from its end
        self._check_finite()
        if self.best is not None:
            self._restore(store.load(self.folder / checkpoints.BEST))
        if self.settings.checkpoint and not self.settings.keep_checkpoint:
            checkpoints.remove(self.folder)
        return self.history

    def _epoch(self, epoch: int) -> None:
        seed = self.settings.seed
        rng = np.random.default_rng([seed, epoch])
        _seed_torch((seed * 100_003 + epoch) % (1 << 62))
        started, cpu_started = time.perf_counter(), time.process_time()
        sums: dict[str, float] = defaultdict(float)
        self.task.module.train()
        order = rng.permutation(self.n_rows)
        for number, rows in enumerate(np.array_split(order, self.per_epoch)):
            step = epoch * self.per_epoch + number
            for name, value in self._step(rows, rng, step).items():
                sums[name] += float(value.detach()) / self.per_epoch
        self.task.module.eval()
        taken = {
            "seconds": time.perf_counter() - started,
            "cpu_seconds": time.process_time() - cpu_started,
        }
        quality = self.task.evaluate()
        self.history.add({"epoch": epoch + 1, **sums, **taken, **quality})
        if self.settings.patience is not None and self.settings.monitor in quality:
            self._keep_best(quality[self.settings.monitor])
        if self.settings.checkpoint:
            store.save(self._state(), self.folder / checkpoints.LAST)

    def _check_finite(self) -> None:
        """Raise if the training has led nowhere, lest a model of NaNs be taken for one."""
        learned = [*self._dense_tensors(), *(one.values for one in self.task.tables.values())]
        if not all(bool(torch.isfinite(one).all()) for one in learned):
            raise UsageError(
                "The training has diverged: its parameters are no longer numbers; give a smaller "
                "learning_rate."
            )

    def _step(
        self, rows: NDArray[np.int64], rng: np.random.Generator, step: int
    ) -> dict[str, Tensor]:
        self.dense.zero_grad(set_to_none=True)
        losses = self.task.loss(rows, rng)
        losses["loss"].backward()
        share = 1.0 - step / (self.n_epochs * self.per_epoch) if self.settings.decay else 1.0
        for group in self.dense.param_groups:
            group["lr"] = share * self.settings.learning_rate
        self.dense.step()
        for optimizer in self.rows.values():
            optimizer.step(share * self.settings.row_learning_rate)
        return losses

    def _is_over(self) -> bool:
        patience = self.settings.patience
        numbers = self.history[self.settings.monitor]
        if patience is None or not numbers:
            return False
        return len(numbers) - 1 - int(np.argmax(numbers)) >= patience

    def _keep_best(self, quality: float) -> None:
        if self.best is None or quality > self.best:
            self.best = quality
            store.save(self._state(), self.folder / checkpoints.BEST)

    def _resume(self) -> None:
        last = self.folder / checkpoints.LAST
        if self.settings.checkpoint:
            checkpoints.check(self.folder)
        if not (self.settings.checkpoint and last.is_dir()):
            return
        state = store.load(last)
        if not isinstance(state, TrainingState) or state.of != self._identity():
            raise UsageError(
                f"{last.parent} holds the checkpoint of another training: give another folder or "
                "remove it."
            )
        self._restore(state)
        self.history = History(list(state.records))
        numbers = self.history[self.settings.monitor]
        self.best = max(numbers) if numbers and self.settings.patience is not None else None

    def _state(self) -> TrainingState:
        state = TrainingState()
        state.of = self._identity()
        state.records = list(self.history)
        state.dense = [one.detach().cpu().numpy() for one in self._dense_tensors()]
        state.moments = [
            {name: float(part) if part.ndim == 0 else part.cpu().numpy() for name, part in one}
            for one in (list(self.dense.state[p].items()) for p in self._learned())
        ]
        state.tables = {name: one.values.cpu().numpy() for name, one in self.task.tables.items()}
        state.rows = {name: one.to_state() for name, one in self.rows.items()}
        return state

    @torch.no_grad()
    def _restore(self, state: TrainingState) -> None:
        for one, saved in zip(self._dense_tensors(), state.dense, strict=True):
            one.copy_(torch.from_numpy(np.asarray(saved)).reshape(one.shape))
        for one, moments in zip(self._learned(), state.moments, strict=True):
            self.dense.state[one] = {
                name: torch.tensor(part)
                if isinstance(part, float)
                else torch.from_numpy(np.array(part)).to(one.device)
                for name, part in moments.items()
            }
        for name, table in self.task.tables.items():
            table.values.copy_(torch.from_numpy(state.tables[name]))
            self.rows[name].from_state(state.rows[name])

    def _learned(self) -> list[Any]:
        return [one for group in self.dense.param_groups for one in group["params"]]

    def _dense_tensors(self) -> list[Tensor]:
        return [*self.task.module.parameters(), *self.task.module.buffers()]

    def _identity(self) -> dict[str, Any]:
        chosen = asdict(self.settings)
        del chosen["checkpoint"]
        shapes = [list(one.shape) for one in self._dense_tensors()]
        tables = {name: list(one.values.shape) for name, one in self.task.tables.items()}
        rows = {"n_rows": self.n_rows, "rows": self.task.identity()}
        return chosen | rows | {"shapes": shapes, "tables": tables}


class TrainingState(store.Storable):
    """What a training needs to go on: parameters, moments of the optimisers, records."""

    # Whether a training can go on from these it tells by ``of`` and by their shapes.
    _schema: ClassVar[store.schema.Schema] = dict.fromkeys(
        ("of", "records", "dense", "moments", "tables", "rows"), store.schema.anything
    )

    of: dict[str, Any]
    records: list[dict[str, float]]
    dense: list[Any]
    moments: list[dict[str, Any]]
    tables: dict[str, Any]
    rows: dict[str, dict[str, Any]]
