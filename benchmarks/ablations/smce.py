"""Whether SMCE helps AnnexML: ``python -m benchmarks.ablations.smce [corpus …]``.

AnnexML with its own label graph and partitions, and with those of SMCE, on the given split of the
small corpora and on a sub-sample of wordnet. Two learners each, everything else as it is. Lines are
kept in ``benchmarks/results/annexml-smce.json``, what is there is not measured again, and the table
of ``docs/methods/smce.md`` is written from them.
"""

from __future__ import annotations

import json
import sys
import warnings
from typing import Any

import numpy as np

from benchmarks import corpora
from benchmarks.manifolds.__main__ import PAGE, put_tables
from benchmarks.measure import Stopwatch
from benchmarks.results import RESULTS
from labelspace.data import Corpus, read_corpus
from labelspace.metrics import evaluate
from labelspace.models import AnnexML

FILE = RESULTS / "annexml-smce.json"
CORPORA = {"bibtex": (0, 1, 2), "delicious": (0,), "wordnet": (0,)}
"""Corpora and the seeds that each can afford."""
MOST_ROWS = {"wordnet": (12_000, 3_000)}
"""Rows to learn from and to test on, where not all are."""
N_PARTS = 4

VARIANTS: dict[str, dict[str, Any]] = {
    "as it is: k-NN graph, no partition": {},
    "SMCE's graph": {"similarity": "smce"},
    "4 parts, learned": {"partition": "learned"},
    "4 parts, k-means": {"partition": "kmeans"},
    "4 parts, SMCE": {"partition": "smce"},
    "4 parts, SMCE, and SMCE's graph": {"partition": "smce", "similarity": "smce"},
}


def measure(names: list[str]) -> None:
    """Run what has not been measured yet."""
    lines = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else []
    done = {(line["corpus"], line["variant"], line["seed"]) for line in lines}
    for name in names:
        train, test = _read(name)
        for seed in CORPORA[name]:
            for variant, parameters in VARIANTS.items():
                if (name, variant, seed) in done:
                    continue
                lines.append(_run(name, train, test, variant, parameters, seed))
                print(lines[-1], flush=True)
                FILE.write_text(json.dumps(lines, indent=1) + "\n", encoding="utf-8")


def table() -> str:
    """Return the table as Markdown: means over seeds, a dash where nothing was measured."""
    lines = json.loads(FILE.read_text(encoding="utf-8"))
    rows = ["| | " + " | ".join(f"{name}: P@1/3/5, CPU s" for name in CORPORA) + " |"]
    rows.append("|---" * (len(CORPORA) + 1) + "|")
    for variant in VARIANTS:
        cells = [_cell(lines, name, variant) for name in CORPORA]
        rows.append(f"| {variant} | " + " | ".join(cells) + " |")
    return "\n".join(rows)


def _run(
    name: str, train: Corpus, test: Corpus, variant: str, parameters: dict[str, Any], seed: int
) -> dict[str, Any]:
    if "partition" in parameters:
        parameters = {**parameters, "part_size": len(train) // N_PARTS}
    model = AnnexML(n_learners=2, random_state=seed, n_threads=1, **parameters)
    with Stopwatch() as watch:
        model.fit(train.X, train.Y)
    found = evaluate(test.Y, model.predict_topk(test.X, k=5))
    line = {"corpus": name, "variant": variant, "seed": seed, "n_train": len(train)}
    precision = {f"P@{k}": found[f"P@{k}"] for k in (1, 3, 5)}
    parts = [
        [0 if part is None else len(part.rows.ids) for part in getattr(learner, "parts", [])]
        for learner in model.learners_
    ]
    return line | precision | {"train_cpu_s": watch.cpu_s, "part_sizes": parts}


def _read(name: str) -> tuple[Corpus, Corpus]:
    """Return the rows to learn from and to test on."""
    folder = corpora.data_home() / name
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        train = read_corpus(next(iter(sorted(folder.glob("train.txt*")))))
        test = read_corpus(next(iter(sorted(folder.glob("test.txt*")))))
    if name in MOST_ROWS:
        rng = np.random.default_rng(0)
        train, test = (
            _rows(corpus, np.sort(rng.choice(len(corpus), n, replace=False)))
            for corpus, n in zip((train, test), MOST_ROWS[name], strict=True)
        )
    return train, test


def _rows(corpus: Corpus, rows: np.ndarray) -> Corpus:
    return Corpus(X=corpus.X[rows], Y=corpus.Y[rows])


def _cell(lines: list[dict[str, Any]], corpus: str, variant: str) -> str:
    found = [line for line in lines if line["corpus"] == corpus and line["variant"] == variant]
    if not found:
        return "–"
    precision = "/".join(f"{np.mean([line[f'P@{k}'] for line in found]):.2f}" for k in (1, 3, 5))
    return f"{precision}, {np.mean([line['train_cpu_s'] for line in found]):.0f}"


if __name__ == "__main__":
    measure(sys.argv[1:] or list(CORPORA))
    put_tables(PAGE, {"annexml": table()})
