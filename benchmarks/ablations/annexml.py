"""What each part of AnnexML is worth: ``python -m benchmarks.ablations.annexml``.

Each row of the table is the default with one thing changed, on rows held out of the training files:
a fifth of bibtex and of delicious, and of 12,000 rows of wordnet. What only concerns the answer
(votes, search, how many learners are asked) is changed in a trained model. The weights of votes are
not chosen anew for each run, which would blur what is compared. Runs that are there are not
repeated; at the end the table is written into the method's page.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from benchmarks import corpora
from benchmarks.corpora import ROOT
from benchmarks.jobs import Job
from benchmarks.measure import Stopwatch
from benchmarks.results import RESULTS
from labelspace.ensemble import Index, Learner
from labelspace.metrics import evaluate
from labelspace.models import AnnexML
from labelspace.search.exact import ExactIndex
from labelspace.search.graph import GraphIndex
from labelspace.search.ivf import IVFIndex

FILE = RESULTS / "ablations" / "annexml.jsonl"
PAGE = ROOT / "docs" / "methods" / "annexml.md"
BLOCK = re.compile(r"(<!-- ablation -->\n).*?(<!-- ablation: end -->)", re.DOTALL)
CORPORA = ("bibtex", "delicious", "wordnet")
MOST_ROWS = 12_000
VOTES: dict[str, Any] = {"vote_gamma": 20.0, "label_votes": 0.5}

TRAINED: dict[str, list[dict[str, Any]]] = {
    "the original program's settings": [{"preset": "paper"}],
    "partition": [
        {"partition": "learned", "part_size": 1500},
        {"partition": "learned", "part_size": 1500, "balanced": True},
        {"partition": "kmeans", "part_size": 1500},
    ],
    "dimension": [{"dim": dim} for dim in (32, 64, 192)],
    "γ of the contrast": [{"gamma": gamma} for gamma in (5.0, 20.0)],
    "negatives": [{"batch_size": size} for size in (64, 256)],
    "label vectors": [{"label_weight": 0.0}],
    "label graph": [{"similarity": "overlap"}, {"graph_neighbors": 25}],
}
"""Parameters of models that are trained for this table."""

ANSWERED: dict[str, list[dict[str, Any]]] = {
    "votes": [
        {"voting": "counts"},
        {"label_votes": 0.0},
        {"label_votes": 2.0},
        {"vote_gamma": 5.0},
        {"vote_gamma": 40.0},
        {"n_neighbors": 10},
    ],
}
"""Settings that are changed in the default model once it is trained."""

SEARCHES: dict[str, Callable[..., Index]] = {
    "exact": ExactIndex,
    "clustered, 2 lists": lambda keys, ids: IVFIndex(keys, ids, n_probes=2),
    "clustered, 8 lists": lambda keys, ids: IVFIndex(keys, ids, n_probes=8),
    "clustered, 32 lists": lambda keys, ids: IVFIndex(keys, ids, n_probes=32),
    "graph": GraphIndex,
}
LEARNERS = (1, 2, 4, 8, 15)

Split = tuple[csr_matrix, csr_matrix, csr_matrix, csr_matrix]
Line = dict[str, Any]


def run() -> None:
    """Do what is not there yet, small corpora first."""
    for corpus in CORPORA:
        there = {(line["corpus"], line["what"]) for line in _lines()}
        split = _split(corpus)
        AnnexML(random_state=0).fit(split[0][:300], split[1][:300])
        if (corpus, "as it is") not in there:
            _default(corpus, split)
        if (corpus, f"learners: {LEARNERS[-1]}") not in there:
            _learners(corpus, split)
        for what, variants in TRAINED.items():
            for parameters in variants:
                title = _title(what, parameters)
                if (corpus, title) not in there:
                    _train(corpus, title, split, **parameters)


def _default(corpus: str, split: Split) -> None:
    """Train the default, and ask it in several ways."""
    model = _train(corpus, "as it is", split)
    for what, variants in ANSWERED.items():
        for parameters in variants:
            with _changed(model, parameters):
                _ask(corpus, _title(what, parameters), model, split)
    exact = None
    for kind, index in SEARCHES.items():
        for learner in model.learners_:
            assert isinstance(learner, Learner)
            ids = np.sort(learner.rows.ids.astype(np.int64))
            learner.rows = index(learner.rows.vectors(ids), ids)
        found, _ = model._found(model.rows_.encode(split[2]))
        exact = found.ids if exact is None else exact
        _ask(corpus, f"search: {kind}", model, split, recall=_recall(found.ids, exact, model))


def _learners(corpus: str, split: Split) -> None:
    """Train fifteen learners and ask some of them."""
    parameters = {"n_learners": LEARNERS[-1], "n_neighbors": 40, "n_probes": 8}
    model = _train(corpus, "", split, **parameters)
    for n_learners in LEARNERS:
        model.use_learners = n_learners
        _ask(corpus, f"learners: {n_learners}", model, split)


def _train(corpus: str, title: str, split: Split, **parameters: Any) -> AnnexML:
    with Stopwatch() as watch:
        model = AnnexML(random_state=0, **VOTES, **parameters).fit(*split[:2])
    if title:
        _ask(corpus, title, model, split, train_cpu_s=watch.cpu_s)
    return model


def _ask(corpus: str, title: str, model: AnnexML, split: Split, **more: float) -> None:
    model.n_threads = 1
    with Stopwatch() as watch:
        top = model.predict_topk(split[2], k=5)
    counts = np.bincount(split[1].indices, minlength=split[1].shape[1])
    figures = evaluate(split[3], top, label_counts=counts, n_examples=split[1].shape[0])
    kept = {name: figures[name] for name in ("P@1", "P@3", "P@5", "PSP@1", "PSP@3", "PSP@5")}
    kept |= more | {"batch_cpu_ms": 1000.0 * watch.cpu_s / len(top)}
    line: Line = {"corpus": corpus, "what": title}
    line |= {name: float(f"{value:.5g}") for name, value in kept.items()}
    FILE.parent.mkdir(parents=True, exist_ok=True)
    with FILE.open("a") as file:
        file.write(json.dumps(line, ensure_ascii=False) + "\n")
    print(line, flush=True)


def _recall(found: np.ndarray, exact: np.ndarray, model: AnnexML) -> float:
    """Return the share of each learner's true neighbours that were found, in percent."""
    width = model.settings_["n_neighbors"]
    shares = [
        np.isin(right, got).mean()
        for start in range(0, exact.shape[1], width)
        for got, right in zip(
            found[:500, start : start + width], exact[:500, start : start + width], strict=True
        )
    ]
    return 100.0 * float(np.mean(shares))


@contextmanager
def _changed(model: AnnexML, settings: dict[str, Any]) -> Iterator[None]:
    before = dict(model.settings_)
    model.settings_.update(settings)
    yield
    model.settings_ = before


def _split(corpus: str) -> Split:
    """Return training and held-out rows, all from the training file."""
    job = Job(subject="", method="", data=str(corpora.prepare(corpus).folder), folder="")
    X, Y = job.matrix("train_X"), job.matrix("train_Y")
    rows = np.random.default_rng(0).permutation(X.shape[0])[:MOST_ROWS]
    valid, train = np.split(rows, [rows.size // 5])
    return X[train], Y[train], X[valid], Y[valid]


def _title(what: str, parameters: dict[str, Any]) -> str:
    setting = ", ".join(f"{name}={value}" for name, value in parameters.items())
    return f"{what}: `{setting}`"


def _lines() -> list[Line]:
    if not FILE.exists():
        return []
    return [json.loads(text) for text in FILE.read_text().splitlines()]


def table() -> str:
    """Return the table as Markdown; a dash where nothing was measured."""
    cells = {(line["corpus"], line["what"]): _cell(line) for line in _lines()}
    titles = dict.fromkeys(what for _, what in cells)
    rows = ["| what | " + " | ".join(CORPORA) + " |", "|---" * (len(CORPORA) + 1) + "|"]
    groups = ["as it is", "learners", *TRAINED, *ANSWERED, "search"]
    for title in sorted(titles, key=lambda title: groups.index(title.split(":")[0])):
        there = " | ".join(cells.get((corpus, title), "–") for corpus in CORPORA)
        rows.append(f"| {title} | {there} |")
    return "\n".join(rows)


def _cell(line: Line) -> str:
    precision = "/".join(f"{line[f'P@{k}']:.1f}" for k in (1, 3, 5))
    notes = [f"PSP@1 {line['PSP@1']:.1f}"]
    if "train_cpu_s" in line:
        notes.append(f"{line['train_cpu_s']:.0f} s")
    if "recall" in line:
        notes.append(f"recall {line['recall']:.0f} %")
    notes.append(f"{line['batch_cpu_ms']:.2f} ms")
    return f"{precision}; {', '.join(notes)}"


if __name__ == "__main__":
    run()
    PAGE.write_text(BLOCK.sub(rf"\g<1>\n{table()}\n\n\g<2>", PAGE.read_text()))
