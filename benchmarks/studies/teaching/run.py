"""Lessons of a person who marks some of the tags: ``study teaching``.

A model has seen too little of 20 labels: of the training rows that have one, it learns three for
each label. Then somebody goes through 100 of the others, looks at the five best tags of each, says
that these labels are right (and adds those that are missing), says of one other tag whether it is,
and leaves the rest unmarked.

``marks only`` learns the marks, ``unmarked is wrong`` the row as if all its labels were given. What
it changes is measured on the test rows: on the taught labels (rows that have one, ranked among
these labels alone), on all other labels in the same way, and on all labels and rows.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from benchmarks.measure import Stopwatch
from benchmarks.studies.source import Source, Split
from benchmarks.studies.study import Figures, Part, Study, Trial
from benchmarks.studies.teaching import page
from labelspace.metrics import evaluate
from labelspace.models import LabelSpace
from labelspace.store import snapshot
from labelspace.topk import TopK

N_LESSONS = 100
N_TAUGHT = 20
"""Labels that the lessons are about."""
N_KEPT = 3
"""Rows of each that the model learns before."""
LEAST_ROWS = 15
"""That each has altogether."""
N_LOOKED_AT = 5
N_RANKED = 100


def lessons(trial: Trial, source: Source) -> Iterator[tuple[Trial, Figures]]:
    """Return figures before and after the lessons."""
    split = source.split(trial.corpus)
    taught, rest = _with_little_of_some(split, np.random.default_rng(trial.seed))
    model = LabelSpace(random_state=trial.seed, n_threads=1, n_learners=1).fit(rest.X, rest.Y)
    rows = np.arange(min(N_LESSONS, rest.X_test.shape[0]))
    before = _figures(model, split, taught)
    for variant in page.VARIANTS:
        pupil = snapshot(model)
        rng = np.random.default_rng(trial.seed)
        fallen: list[float] = []
        with Stopwatch() as watch:
            for row in rows.tolist():
                is_partial = variant == "marks only"
                fallen += _teach(pupil, rest, row, taught, rng, is_partial=is_partial)
        figures = {"before": before, "after": _figures(pupil, split, taught)}
        figures["unmarked, right"] = {
            "n": len(fallen), "change": 100 * float(np.mean(fallen)),
            "fell by 10": 100 * float(np.mean(np.array(fallen) < -0.1)),
        }  # fmt: skip
        asked = Trial(trial.part, trial.corpus, variant, seed=trial.seed)
        yield asked, {"n_lessons": len(rows), "cpu_s": watch.cpu_s, **figures}


def _with_little_of_some(split: Split, rng: np.random.Generator) -> tuple[NDArray[np.int64], Split]:
    """Return labels to teach, and training rows without most of those that have them."""
    counts = np.bincount(split.Y.indices, minlength=split.Y.shape[1])
    taught = np.sort(rng.permutation(np.flatnonzero(counts >= LEAST_ROWS))[:N_TAUGHT])
    has_one = np.asarray(split.Y[:, taught].sum(axis=1)).ravel() > 0
    kept = np.zeros(split.Y.shape[0], dtype=bool)
    for label in taught:
        kept[rng.permutation(split.Y[:, label].nonzero()[0])[:N_KEPT]] = True
    seen = np.flatnonzero(~has_one | kept)
    left = rng.permutation(np.flatnonzero(has_one & ~kept))[:N_LESSONS]
    return taught, Split(split.X[seen], split.Y[seen], split.X[left], split.Y[left])


def _teach(
    pupil: LabelSpace,
    rest: Split,
    row: int,
    taught: NDArray[np.int64],
    rng: np.random.Generator,
    *,
    is_partial: bool,
) -> list[float]:
    """Teach a row; return what it changed in the probabilities of tags unmarked, but right."""
    X, truth = csr_matrix(rest.X_test[row]), rest.Y_test[row].indices
    top = pupil.predict_topk(X, N_LOOKED_AT)
    tags = top.labels[0]
    right = set(np.intersect1d(truth, taught).tolist())
    other = int(rng.choice(np.setdiff1d(tags, taught))) if np.setdiff1d(tags, taught).size else -1
    wrong: set[int] = set()
    if other >= 0:
        (right if other in truth else wrong).add(other)
    Y, rejected = (_row(labels, pupil.n_labels_) for labels in (right, wrong))
    pupil.partial_fit(X, Y, rejected=rejected if is_partial else None)
    unmarked = set(tags.tolist()) & set(truth.tolist()) - right
    now = dict(pupil.predict_topk(X, N_RANKED).given(0))
    return [now.get(label, 0.0) - score for label, score in top.given(0) if label in unmarked]


def _row(labels: set[int], n_labels: int) -> csr_matrix:
    columns = sorted(labels)
    ones = np.ones(len(columns), dtype=np.float32)
    return csr_matrix((ones, columns, [0, len(columns)]), shape=(1, n_labels))


def _figures(model: LabelSpace, split: Split, taught: NDArray[np.int64]) -> Figures:
    top = model.predict_topk(split.X_test, N_RANKED)
    others = np.setdiff1d(np.arange(split.Y_test.shape[1]), taught)
    found: Figures = {}
    for name, labels in (("taught", taught), ("other", others), ("all", None)):
        Y, ranked = split.Y_test, top
        if labels is not None:
            Y, ranked = _among(Y, top, labels)
        told = evaluate(Y, ranked, ks=(1, 5))
        found |= {f"{name} P@{k}": told[f"P@{k}"] for k in (1, 5)}
    return found


def _among(Y: csr_matrix, top: TopK, labels: NDArray[np.int64]) -> tuple[csr_matrix, TopK]:
    """Return rows that have some labels, and their rankings among these alone."""
    is_one = np.zeros(Y.shape[1], dtype=np.float32)
    is_one[labels] = 1
    left = csr_matrix(Y.multiply(is_one))
    left.eliminate_zeros()
    rows = np.flatnonzero(np.diff(left.indptr))
    known = (top.labels >= 0) & (is_one[np.maximum(top.labels, 0)] > 0)
    order = np.argsort(~known, axis=1, kind="stable")
    kept = np.take_along_axis(known, order, axis=1)
    ranked = TopK(
        np.where(kept, np.take_along_axis(top.labels, order, axis=1), -1),
        np.where(kept, np.take_along_axis(top.scores, order, axis=1), -np.inf),
    )
    return left[rows], TopK(ranked.labels[rows], ranked.scores[rows])


STUDY = Study(
    "teaching",
    {
        "lessons": Part(
            [
                Trial("lessons", corpus, page.VARIANTS[-1], seed=seed)
                for corpus, seeds in page.CORPORA.items()
                for seed in seeds
            ],
            lessons,
        )
    },
    page.PAGE,
    page.tables,
)
