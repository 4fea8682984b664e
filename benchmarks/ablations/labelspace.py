"""What each part of LabelSpace is worth: ``python -m benchmarks.ablations.labelspace``.

Each row of the table is the default with one thing changed. Figures are those of validation rows,
a fifth of the training rows (8,000 at most) that the model is not given, so that the test rows stay
untouched. Lines go to ``benchmarks/results/ablations-labelspace.json``; runs that are there are
skipped, and ``--table`` prints the table of the method's page from them.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, load_npz

from benchmarks import corpora
from labelspace import metrics
from labelspace.models import LabelSpace
from labelspace.models.labelspace import learn_stacking as join
from labelspace.models.labelspace import model as labelspace
from labelspace.models.labelspace import stacking as joined
from labelspace.models.labelspace.candidates import Candidates
from labelspace.models.labelspace.stacking import Stacker
from labelspace.topk import TopK

RESULTS = corpora.ROOT / "benchmarks" / "results" / "ablations-labelspace.json"
CORPORA = {"bibtex": (0, 1, 2), "delicious": (0,), "wordnet": (0,)}
"""Corpora and the splits that each can afford."""

VARIANTS: dict[str, dict[str, Any]] = {
    "as it is": {},
    "votes only": {"rank by": "shares"},
    "classifiers only": {"rank by": "margins"},
    "fixed weights": {"join": "usual"},
    "join without frequency": {"join": "one band"},
    "no hard negatives": {"hard negatives": 0},
    "C=0.2": {"C": 0.2},
    "C=0.5": {"C": 0.5},
    "C=1": {"C": 1.0},
    "dim=32": {"dim": 32},
    "dim=256": {"dim": 256},
    "n_neighbors=20": {"n_neighbors": 20},
    "n_neighbors=200": {"n_neighbors": 200},
    "n_learners=1": {"n_learners": 1},
    "n_learners=4": {"n_learners": 4},
    "propensity": {"propensity": True},
}
PARTS = ("rank by", "join", "hard negatives")
MEASURES = ("P@1", "P@3", "P@5", "PSP@5")


def measure(corpus: str, seed: int, variant: dict[str, Any]) -> dict[str, float]:
    """Train on four fifths of the training rows, return the figures of the others."""
    X, Y = _training_rows(corpus)
    order = np.random.default_rng(seed).permutation(X.shape[0])
    held, kept = np.split(order, [min(8000, X.shape[0] // 5)])
    parameters = {name: value for name, value in variant.items() if name not in PARTS}
    with _changed(variant):
        model = LabelSpace(random_state=seed, **parameters)
        started = time.process_time()
        model.fit(X[kept], Y[kept])
        seconds = time.process_time() - started
        top = _ranked(model, X[held], variant)
    found = metrics.evaluate(
        Y[held], top, label_counts=model.label_counts_, n_examples=model.n_examples_
    )
    return {**{name: found[name] for name in MEASURES}, "cpu_s": seconds}


def _training_rows(corpus: str) -> tuple[csr_matrix, csr_matrix]:
    folder = corpora.prepare(corpus).folder
    X, Y = (csr_matrix(load_npz(folder / f"train_{name}.npz")) for name in "XY")
    return X, Y


def _ranked(model: LabelSpace, X: csr_matrix, variant: dict[str, Any]) -> TopK:
    by = variant.get("rank by")
    if by is None:
        return model.predict_topk(X, k=5)
    rows = model.rows_.encode(csr_matrix(X, dtype=np.float32))
    evidence = model._evidence(rows, model.classifiers_, model.places_)
    scores = np.exp(getattr(evidence, by))
    return joined.best_candidates(evidence.labels, scores, 5)


@contextmanager
def _changed(variant: dict[str, Any]) -> Iterator[None]:
    """Take out a part for the length of the block."""
    before = labelspace.learn_stacker, labelspace._CONFUSED, labelspace._CONFUSED_LONG
    if variant.get("join") == "usual":
        labelspace.learn_stacker = lambda *given: Stacker()
    elif variant.get("join") == "one band":
        labelspace.learn_stacker = _one_band
    if "hard negatives" in variant:
        labelspace._CONFUSED = labelspace._CONFUSED_LONG = 1
    try:
        yield
    finally:
        labelspace.learn_stacker, labelspace._CONFUSED, labelspace._CONFUSED_LONG = before


def _one_band(evidence: Candidates, Y: csr_matrix, label_counts: NDArray[np.int64]) -> Stacker:
    """Learn a join that takes all labels to be equally frequent."""
    middle = np.full(label_counts.shape, np.exp(4.0) - 1.0)  # where the terms of frequency are 0
    return join.learn_stacker(evidence, Y, middle)  # type: ignore[arg-type]


def table(lines: dict[str, dict[str, float]]) -> str:
    """Return the table as Markdown: means over splits, a dash where nothing was measured."""
    rows = ["| what | " + " | ".join(f"{name}: P@1/3/5, PSP@5, CPU s" for name in CORPORA) + " |"]
    rows.append("|---" * (len(CORPORA) + 1) + "|")
    for what in VARIANTS:
        cells = []
        for corpus in CORPORA:
            done = [line for key, line in lines.items() if key.startswith(f"{corpus}/{what}/")]
            if not done:
                cells.append("–")
                continue
            mean = {name: np.mean([line[name] for line in done]) for name in done[0]}
            precision = "/".join(f"{mean[name]:.2f}" for name in MEASURES[:3])
            cells.append(f"{precision}, {mean['PSP@5']:.2f}, {mean['cpu_s']:.1f}")
        rows.append(f"| {what} | " + " | ".join(cells) + " |")
    return "\n".join(rows)


def main() -> None:
    """Run what is not there yet, small corpora first, and print the table."""
    lines = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for corpus, seeds in CORPORA.items() if "--table" not in sys.argv else ():
        for seed in seeds:
            for what, variant in VARIANTS.items():
                key = f"{corpus}/{what}/{seed}"
                if key not in lines:
                    lines[key] = measure(corpus, seed, variant)
                    RESULTS.write_text(json.dumps(lines, indent=1) + "\n")
    print(table(lines))


if __name__ == "__main__":
    main()
