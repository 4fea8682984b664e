"""Tuner: method, text features and parameters for a corpus, chosen within a budget of time.

The default's own settings learn first, from all rows but those held out; then other methods and
settings climb from few rows to all (``halving``). What is best on the rows held out, alone or
blended (``choose``), learns from everything. So the choice is never worse than the default there.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sklearn.base import BaseEstimator

from labelspace import metrics, progress
from labelspace.errors import LabelspaceError
from labelspace.frames import given_labels, rows_of
from labelspace.label_holder import model_vocabulary
from labelspace.label_names import LabelNames
from labelspace.labels import LabelEncoder
from labelspace.store.folders import MANIFEST
from labelspace.tagger import Tagger
from labelspace.tuning import space
from labelspace.tuning.budget import Clock, estimate, parse_budget
from labelspace.tuning.choose import Choice, Chosen, Finalist
from labelspace.tuning.halving import Search, rung_sizes
from labelspace.tuning.journal import Journal, Outcome, check_folder
from labelspace.tuning.space import DEFAULT, Configuration
from labelspace.tuning.trials import Trials

MODEL = "model"
Watch = Callable[["Tuner"], None] | None
_HURRIED = (
    "The budget was too short to measure the default on all rows: it is what was trained; give "
    "more time."
)


class Tuner(BaseEstimator):
    """Choose what suits a corpus within a budget of time, and train it on all rows.

    Trials are the same for the same rows, options and seed; the budget alone decides how many of
    them there are.

    Parameters
    ----------
    budget : str or float, default="10m"
        Wall-clock time of trials and of the last training together, as "10m", "90s", "1h30m" or in
        seconds. The time that the last training will take is estimated and kept back.
    methods : sequence of str, optional
        Methods to choose among; labelspace, one-vs-all, annexml, dxml (with torch), knn and
        label-tree unless given. The default's own settings are always the first trial.
    metric : str, default="P@5"
        What is to be largest on the rows held out; see ``labelspace.metrics.scorer``.
    features : TextFeatures, transformer or str, optional
        How texts become features; chosen unless given.
    encoder : str or encoder, optional
        Whose vectors stand beside them in all trials; see :class:`labelspace.Tagger`.
    folder : path, optional
        Where trials are written down as they end, and the model is saved in the end. A search that
        was stopped goes on from there.
    n_trials : int, optional
        Trials at most, within the budget.
    random_state : int, default=0
        Seed of everything random.
    n_threads : int, optional
        Threads to use; all cores unless given.

    Attributes
    ----------
    tagger_ : Tagger
        The choice, trained on all rows.
    chosen_ : Chosen
        The configuration, or those that are blended.
    ranking_ : list of Chosen
        All that learned from all rows but those held out, and blends of them; the best first.
    outcomes_ : list of Outcome
        All trials.
    remark_ : str or None
        A sentence, where the budget was too short to choose.
    seconds_, budget_seconds_ : float
        Time that was spent, in all sittings together, and that was there.
    n_learned_, n_held_out_ : int
        Rows that trials learned from at most, and rows that they were measured on.

    Examples
    --------
    >>> texts = ["a red ball", "a green ball", "a red cube", "a green cube"] * 10
    >>> labels = [["red", "round"], ["green", "round"], ["red"], ["green"]] * 10
    >>> tuner = Tuner("1m", methods=["knn"], n_trials=2).fit(texts, labels)
    >>> [str(outcome.configuration) for outcome in tuner.outcomes_]
    ['labelspace', 'knn']
    >>> tuner.tagger_.tag("a red thing", k=1)[0].name
    'red'
    """

    def __init__(
        self,
        budget: str | float = "10m",
        *,
        methods: Sequence[str] | None = None,
        metric: str = "P@5",
        features: Any = None,
        encoder: Any = None,
        folder: str | os.PathLike[str] | None = None,
        n_trials: int | None = None,
        random_state: int = 0,
        n_threads: int | None = None,
    ) -> None:
        self.budget = budget
        self.methods = methods
        self.metric = metric
        self.features = features
        self.encoder = encoder
        self.folder = folder
        self.n_trials = n_trials
        self.random_state = random_state
        self.n_threads = n_threads

    def fit(
        self,
        rows: Any,
        labels: Any,
        label_names: Iterable[str] | None = None,
        *,
        held_out: Any = None,
        vocabulary: Any = None,
        label_keys: Sequence[str] | None = None,
        watch: Watch = None,
        keep: Callable[[Tagger, float], None] | None = None,
    ) -> Tuner:
        """Choose on some of the rows held out, then train the choice on all.

        Parameters
        ----------
        rows, labels, label_names, vocabulary, label_keys
            As for :meth:`labelspace.Tagger.fit`.
        held_out : array of int, optional
            Rows to measure trials on; a fifth of those with labels, 4,000 at most, unless given.
        watch : callable, optional
            Is called with the tuner after each trial.
        keep : callable, optional
            Is called with the trained tagger, and the seconds that it took, before it is saved.
        """
        self.check()
        rows, label_names = rows_of(rows), None if label_names is None else list(label_names)
        encoder = LabelEncoder()
        Y = encoder.learn(given_labels(labels, label_names))
        if vocabulary is not None:
            encoder.vocabulary = model_vocabulary(vocabulary, encoder, label_keys)
        self._trials = Trials(
            rows,
            Y,
            metric=self.metric,
            held_out=held_out,
            features=self.features,
            encoder=self.encoder,
            names=LabelNames.of(encoder),
            seed=self.random_state,
            n_threads=self.n_threads,
        )
        folder = None if self.folder is None else Path(self.folder)
        self._journal = Journal(folder, self._tuned())
        try:
            end = self._journal.end
            is_over = (
                end is not None and end["budget"] >= self.budget_seconds_ and self._has_model()
            )
            self._search(watch, is_over)
            if end is not None and is_over:
                self._load(end)
            else:
                self.remark_ = None if self.ranking_ else _HURRIED
                rows = self._trials.rows if self._trials.has_texts else rows
                options = {"vocabulary": vocabulary, "label_keys": label_keys}
                self._finish(rows, labels, label_names, keep, **options)
        finally:
            self._journal.close()
        return self

    def check(self) -> None:
        """Raise if an option is wrong, before anything is read or learned."""
        self.budget_seconds_ = parse_budget(self.budget)
        self._methods = space.checked_methods(self.methods)
        metrics.scorer(self.metric)
        if self.folder is not None:
            check_folder(Path(self.folder))

    @property
    def default_(self) -> Outcome | None:
        """The trial of the default's own settings on all rows but those held out."""
        return self._journal.find(DEFAULT, self._top)

    @property
    def seconds_(self) -> float:
        return self._clock.spent

    @property
    def n_learned_(self) -> int:
        return int(self._trials.learned.size)

    @property
    def n_held_out_(self) -> int:
        return int(self._trials.held_out.size)

    def _tuned(self) -> dict[str, Any]:
        given = {"features": self.features, "encoder": self.encoder}
        return {
            "corpus": self._trials.fingerprint(),
            "methods": self._methods,
            "metric": self.metric,
            **{name: None if one is None else repr(one) for name, one in given.items()},
            "seed": self.random_state,
        }

    def _search(self, watch: Watch, is_over: bool) -> None:
        """Go through the plan, as far as the time goes; what is written down is not done again."""
        self._sizes = rung_sizes(self._trials.learned.size)
        self._top = len(self._sizes) - 1
        self.outcomes_ = self._journal.outcomes
        self._clock = Clock(self.budget_seconds_, self._journal.spent)
        self._kept_back = 0.0
        self.ranking_: list[Chosen] = []
        self.chosen_ = Chosen((Finalist(DEFAULT, {}, None, 0.0),), {})
        self._rank()
        if is_over:
            return
        plan = Search(
            self._methods,
            len(self._sizes),
            metric=self.metric,
            seed=self.random_state,
            has_texts=self._trials.has_texts and self.features is None,
        ).plan()
        try:
            step = next(plan)
            while True:
                step = plan.send(self._figure(*step, watch))
        except StopIteration:
            pass

    def _has_model(self) -> bool:
        return self.folder is not None and (Path(self.folder) / MODEL / MANIFEST).exists()

    def _figure(self, configuration: Configuration, rung: int, watch: Watch) -> float | None:
        """Return the figure of a trial, which is over or is done now; None without time for it."""
        outcome = self._journal.find(configuration, rung)
        if outcome is None:
            if not self._fits(configuration, rung):
                return None
            outcome = self._try(configuration, rung)
            if rung == self._top:
                self._rank()
            if watch is not None:
                watch(self)
        return outcome.figures.get(self.metric)

    def _fits(self, configuration: Configuration, rung: int) -> bool:
        """Tell whether there is time for a trial and, after it, for the last training."""
        if not self.outcomes_:
            return True
        if self.n_trials is not None and len(self.outcomes_) >= self.n_trials:
            return False
        reserve = self.chosen_.seconds if self.ranking_ else self._estimate(DEFAULT)
        if self._estimate(configuration, self._sizes[rung]) + reserve > self._clock.left:
            return False
        self._kept_back = reserve
        return True

    def _estimate(self, configuration: Configuration, n_rows: int | None = None) -> float:
        """Return the seconds that a training will take: on so many rows, or on everything."""
        n_rows = self._trials.Y.shape[0] if n_rows is None else n_rows
        return estimate(self.outcomes_, configuration, n_rows)

    def _try(self, configuration: Configuration, rung: int) -> Outcome:
        n_rows = self._sizes[rung]
        number = len(self.outcomes_)
        figures, seconds, answer, error = {}, 0.0, None, None
        with progress.task(f"Trial {number}: {configuration}, {n_rows:,} rows"):
            try:
                trained = self._trials.run(configuration, n_rows)
                figures, seconds = trained.figures, trained.seconds
                answer = trained.answer if rung == self._top else None
            except (LabelspaceError, MemoryError, ArithmeticError) as problem:
                if configuration == DEFAULT:
                    raise
                error = str(problem) or type(problem).__name__
        spent = round(self._clock.spent, 3)
        outcome = Outcome(
            number, configuration, rung, n_rows, figures, round(seconds, 3), spent, error
        )
        self._journal.add(outcome, answer)
        return outcome

    def _rank(self) -> None:
        """Put what learned from all rows in order, with blends; take the best there is time for."""
        finalists = [
            Finalist(
                one.configuration,
                one.figures,
                self._journal.answer(one),
                self._estimate(one.configuration),
            )
            for one in self.outcomes_
            if one.rung == self._top and one.figures
        ]
        if not finalists:
            return
        trials, k = self._trials, max(self._trials.metric.k, 5)
        choice = Choice(trials.truth, trials.figures, self.metric, k)
        self.ranking_ = choice.ranking(finalists)
        # What was kept back is there to be spent, even if the last trial took longer than thought.
        left = max(self._clock.left, self._kept_back)
        best = self.ranking_[0]
        self.chosen_ = best if best.seconds <= left else choice.best(finalists, left)

    def _finish(self, rows: Any, labels: Any, label_names: Any, keep: Any, **options: Any) -> None:
        """Train the choice on everything and save it."""
        began = self._clock.spent
        with progress.task(f"Training {self.chosen_} on all {self._trials.Y.shape[0]:,} rows"):
            self.tagger_ = self._trials.tagger(self.chosen_)
            self.tagger_.fit(rows, labels, label_names, **options)
        if keep is not None:
            keep(self.tagger_, self._clock.spent - began)
        if self.folder is not None:
            self.tagger_.save(Path(self.folder) / MODEL)
        self._journal.add_end(
            {
                "budget": self.budget_seconds_,
                "chosen": [asdict(one.configuration) for one in self.chosen_.members],
                "figures": self.chosen_.figures,
                "remark": self.remark_,
            }
        )

    def _load(self, end: dict[str, Any]) -> None:
        """Take the model that was made when the same was asked before."""
        members = [Configuration(**one) for one in end["chosen"]]
        finalists = tuple(Finalist(one, {}, None, 0.0) for one in members)
        self.chosen_, self.remark_ = Chosen(finalists, end["figures"]), end["remark"]
        self.tagger_ = Tagger.load(Path(str(self.folder)) / MODEL)
