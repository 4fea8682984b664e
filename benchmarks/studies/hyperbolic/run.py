"""What the ball is worth: ``study hyperbolic``.

``grid``     the same model in the ball, on the sphere and in euclidean space, by dimension and
             learners, on a sample of the rows. A model of 15 learners is also 15 models of one,
             five of three and two of six: means and deviations are over those groups, which share
             nothing but the rows. The weights of votes are chosen for every cell of the table on
             rows that are neither learned from nor tested on, and so is the step size on wordnet.
``full``     the same on all rows, with three learners.
``order``    is WordNet's hierarchy in the places of its labels?
``learners`` how many are needed, on all of wordnet in 50 dimensions.
``search``, ``together``  approximate search against exact search on tibkat, and who should vote.
``lists``    what looking into few lists costs ``preset="paper"``, one learner of all of wordnet.
``sizes``    ``preset="paper"`` by dimension and learners, on the rows of ``grid``.
``alone``    the default on the files as given, where only rows or only labels vote.
``paper``    one learner of ``preset="paper"`` and what it becomes with a setting changed, on
             rows held out of train: what the publication does not say is chosen by these.
``back``     one learner of the default on the same rows, with a setting as the publication has it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from benchmarks.measure import Stopwatch
from benchmarks.studies.hyperbolic import order, page, search
from benchmarks.studies.hyperbolic.passes import counted
from benchmarks.studies.hyperbolic.search import precisions, trained
from benchmarks.studies.source import Source, Split
from benchmarks.studies.study import Figures, Part, Study, Trial
from labelspace.models import make
from labelspace.models.hyperbolic.metric_index import SPACES
from labelspace.search.result import SearchResult
from labelspace.voting import Votes

N_CHOOSE, N_TEST = 500, 2000
"""Rows to choose the weights of votes by, and to test on."""
TRAINED = {5: 15, 10: 6, 25: 3, 50: 3}
"""Learners by dimension: the claim is about few dimensions."""
STEPS = {"wordnet": (0.4, 1.0), "delicious": (0.4,)}
"""Step sizes, of which each space gets the better one: long ones fit rare words, not dense rows."""
WEIGHTS = [(factor, votes) for factor in (0.25, 0.5, 1.0, 2.0, 4.0) for votes in (0.0, 0.5)]
"""What is tried for every cell: α of the rows' votes by that of the loss, and what all labels count
against all rows."""

Near = list[tuple[SearchResult, SearchResult]]


def grid() -> list[Trial]:
    """Return every space and dimension, on samples of both corpora."""
    return [
        Trial("grid", corpus, parameters={"space": space, "dim": dim, "learning_rate": pace})
        for dim in page.DIMS
        for corpus in page.CORPORA
        for space in SPACES
        for pace in STEPS[corpus]
    ]


def full() -> list[Trial]:
    """Return every space on all rows but those to choose by."""
    return [
        Trial(
            "full",
            corpus,
            parameters={"space": space, "dim": dim, "learning_rate": STEPS[corpus][0]},
        )
        for dim in (5, 10)
        for corpus in page.CORPORA
        for space in SPACES
    ]


def changes(part: str, settings: Mapping[str, Mapping[str, Any]]) -> list[Trial]:
    """Return a preset with each of these settings, all seeds."""
    return [
        Trial(part, corpus, parameters=told, seed=seed)
        for seed in page.CHANGED_SEEDS
        for told in settings.values()
        for corpus in page.CHANGED_ON
    ]


def compare(trial: Trial, source: Source) -> Iterator[tuple[Trial, Figures]]:
    """Train one space, and ask groups of its learners with the weights that suit them."""
    on_all = trial.part == "full"
    choose, test = _sampled(source.split(trial.corpus), None if on_all else page.N_ROWS)
    n_learners = 3 if on_all else TRAINED[trial.parameters["dim"]]
    model: Any = make(
        "hyperbolic",
        **trial.parameters,
        n_learners=n_learners,
        vote_alpha=1.0,  # given, so that nothing is chosen while training
        label_votes=0.5,
        random_state=0,
        n_threads=1,
    )
    with Stopwatch() as watch:
        model.fit(test.X, test.Y)
    near = _near(model, choose.X_test), _near(model, test.X_test)
    in_ball = trial.parameters["space"] == "poincare"
    found = {
        answer: {
            str(n): _cell(model, n, answer, near, (choose, test))
            for n in (page.LEARNERS if answer == "both" else (3,))
            if n <= n_learners
        }
        for answer in (page.ANSWERS if in_ball else ["both"])
    }
    figures = {"n_learners": n_learners, "n_rows": test.X.shape[0], "cpu_s": watch.cpu_s}
    figures |= {"alpha": model.settings_.alpha, "rho": order.norms_and_frequency(model)}
    yield trial, figures | {"found": found}


def learners(trial: Trial, source: Source) -> Iterator[tuple[Trial, Figures]]:
    """Ask the first few of fifteen learners of all of wordnet."""
    split = source.split(trial.corpus).drawn(None, 4000)
    model = trained(source, split, "hyperbolic-wordnet", n_learners=max(page.LEARNERS))
    found = {}
    for n in page.LEARNERS:
        model.set_params(use_learners=n)
        found[str(n)] = precisions(split, model.predict_topk(split.X_test, 5))
    yield trial, {"n_test": split.X_test.shape[0], "found": found}


def sizes(trial: Trial, source: Source) -> Iterator[tuple[Trial, Figures]]:
    """Train fifteen learners as the publication has them, and ask groups of them."""
    _, split = _sampled(source.split(trial.corpus), page.N_ROWS)
    model: Any = make("hyperbolic", **trial.parameters, random_state=trial.seed, n_threads=1)
    with Stopwatch() as watch, counted() as learners:
        model.fit(split.X, split.Y)
    every = model.learners_
    found: dict[str, list[dict[str, float]]] = {}
    for n in page.LEARNERS:
        found[str(n)] = []
        for start in range(0, len(every) - n + 1, n):
            model.learners_ = every[start : start + n]
            found[str(n)].append(precisions(split, model.predict_topk(split.X_test, 5)))
    figures = {"n_rows": split.X.shape[0], "cpu_s": watch.cpu_s, "n_learners": len(every)}
    yield trial, figures | {"passes": [one.made for one in learners], "found": found}


def alone(trial: Trial, source: Source) -> Iterator[tuple[Trial, Figures]]:
    """Train on the file as given and ask about its test rows."""
    split = source.split(trial.corpus)
    model: Any = make("hyperbolic", **trial.parameters, random_state=trial.seed, n_threads=1)
    with Stopwatch() as watch:
        model.fit(split.X, split.Y)
    figures = {"n_rows": split.X.shape[0], "cpu_s": watch.cpu_s}
    yield trial, figures | precisions(split, model.predict_topk(split.X_test, 5))


def changed(trial: Trial, source: Source) -> Iterator[tuple[Trial, Figures]]:
    """Train one learner on 3,000 training rows and ask it about 1,500 others."""
    split = source.split(trial.corpus).held_out(3, source.at_most(4500))
    model: Any = make(
        "hyperbolic",
        preset="paper" if trial.part == "paper" else "best",
        n_learners=1,
        random_state=trial.seed,
        n_threads=1,
        settings=dict(trial.parameters),
    )
    with Stopwatch() as watch, counted() as learners:
        model.fit(split.X, split.Y)
    figures: Figures = {"n_rows": split.X.shape[0], "cpu_s": watch.cpu_s}
    if model.settings_.constant_steps:
        figures |= {"passes": learners[0].made, "best_pass": learners[0].best_at}
    if model.settings_.space == "poincare":
        points = model.learners_[0].rows.points.astype(np.float64)
        figures["at_edge"] = float(np.mean(np.linalg.norm(points, axis=1) > page.EDGE))
    yield trial, figures | precisions(split, model.predict_topk(split.X_test, 5))


def _cell(
    model: Any, n: int, answer: str, near: tuple[Near, Near], asked: tuple[Split, Split]
) -> Figures:
    """Choose weights with the first ``n`` learners; return what each group of ``n`` answers."""
    n_neighbors = 80 if n <= 3 else 30
    alpha = model.settings_.alpha

    def answered(found: Near, weights: tuple[float, float], split: Split) -> dict[str, float]:
        factor, label_votes = weights
        share = {"rows": 0.0, "labels": 1.0}.get(answer, label_votes / (1.0 + label_votes))
        rows = [
            SearchResult(one.ids[:, :n_neighbors], one.products[:, :n_neighbors])
            for one, _ in found
        ]
        votes = Votes.by_distance(rows, [one for _, one in found], factor * alpha, alpha, share)
        return precisions(split, votes.top(model.Y_, 5))

    tried = [one for one in WEIGHTS if answer == "both" or one[1] == 0.0]
    if answer == "labels":
        tried = tried[:1]
    sums = [sum(answered(near[0][:n], weights, asked[0]).values()) for weights in tried]
    weights = tried[int(np.argmax(sums))]
    starts = range(0, len(near[1]) - n + 1, n)
    groups = [answered(near[1][start : start + n], weights, asked[1]) for start in starts]
    return {"weights": weights, "chosen_by": max(sums), "groups": groups}


def _near(model: Any, X: csr_matrix) -> Near:
    X = model.rows_.encode(X)
    return [learner.search(X, 80, 50) for learner in model.learners_]


def _sampled(split: Split, n_rows: int | None) -> tuple[Split, Split]:
    """Return rows to learn from, with those to choose by, and with those to test on."""
    mixed = np.random.default_rng(0).permutation(split.X.shape[0])
    n_learned = mixed.size - N_CHOOSE if n_rows is None else n_rows
    if n_learned + N_CHOOSE > mixed.size:
        n_learned = mixed.size // 2  # of a quick trial's few
    learned, chosen = (
        np.sort(rows) for rows in np.split(mixed[: n_learned + N_CHOOSE], [n_learned])
    )
    test = split.drawn(None, N_TEST)._replace(X=split.X[learned], Y=split.Y[learned])
    return test._replace(X_test=split.X[chosen], Y_test=split.Y[chosen]), test


STUDY = Study(
    "hyperbolic",
    {
        "grid": Part(grid(), compare),
        "full": Part(full(), compare),
        "order": Part(order.TRIALS, order.measure),
        "learners": Part([Trial("learners", "wordnet")], learners),
        "search": Part([Trial("search", "tibkat")], search.search),
        "together": Part([Trial("together", "tibkat")], search.together),
        "lists": Part(
            [Trial("lists", "wordnet", parameters={"preset": "paper", "n_learners": 1})],
            search.lists,
        ),
        "sizes": Part(
            [
                Trial("sizes", corpus, parameters={"preset": "paper", "dim": dim})
                for dim in page.DIMS
                for corpus in page.CORPORA
            ],
            sizes,
        ),
        "alone": Part(
            [
                Trial("alone", corpus, parameters=told)
                for corpus in page.CHANGED_ON
                for told in page.ALONE.values()
            ],
            alone,
        ),
        "paper": Part(changes("paper", page.CHANGED), changed),
        "back": Part(changes("back", page.BACK), changed),
    },
    page.PAGE,
    page.tables,
    page.draw,
)
