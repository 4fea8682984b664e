"""Accuracy against cost of label trees: ``python -m benchmarks.ablations.label_trees``.

Systems of Bengio, Weston and Grangier (2010) and Deng et al. (2011) on data with one label to a
row (scikit-learn's digits; WordNet's glosses with the rarest of their hypernyms, which is the
nearest, for all classes of five rows and for those of fifty) and with several. Each model is asked
twice, walking along the best child alone and with a beam of ten. Lines are appended to
``label_trees.jsonl`` beside this file, and runs that are there are not repeated;
``--render`` writes the tables and the plot of the page. Name corpora to run those only.

A cost of 1 is the multiplications of one inner product with a row's own features. A tree's cost is
the children that it looks at; a map into ``dim`` dimensions costs ``dim``, and a product there
``dim`` divided by the row's number of features.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix, load_npz
from sklearn.datasets import load_digits

from benchmarks import corpora, results
from labelspace import metrics, models
from labelspace.base import LabelRanker

RESULTS = Path(__file__).with_suffix(".jsonl")
FEWEST_ROWS = {"wordnet-parent": 5, "wordnet-parent-50": 50}
"""Rows that a class has to have."""
SINGLE = ("digits", *FEWEST_ROWS)
CORPORA = (
    "digits",
    "wordnet-parent-50",
    "bibtex",
    "delicious",
    "wordnet-parent",
    "wordnet",
    "eurlex57k",
)
N_LABELS = {"bibtex": 159, "delicious": 983}
"""Corpora whose one-vs-all is that of the common benchmarks."""
N_ROWS = {"wordnet": (8000, 2000), "eurlex57k": (8000, 2000)}
"""Training and test rows that are drawn, where all would take too long."""
BEAMS = (1, 10)

SYSTEMS: dict[str, tuple[str, dict[str, Any]]] = {
    "one-vs-all": ("one-vs-all", {}),
    "random tree": ("label-tree", {"affinity": "random"}),
    "relaxation 1": ("label-tree", {"affinity": "centroid", "relaxation": 1}),
    "relaxation 2, a slack per row": ("label-tree", {"affinity": "centroid", "slack": "row"}),
    "relaxation 2, a slack per child": ("label-tree", {"affinity": "centroid", "slack": "node"}),
    "tree from confusions": ("label-tree", {"affinity": "confusion"}),
    "tree as clusters come": ("label-tree", {"affinity": "centroid", "balance": 0.0}),
    "embedding": ("label-embedding", {}),
    "embedding, in sequence": ("label-embedding", {"learning": "sequence"}),
    "embedding tree": ("label-embedding-tree", {"affinity": "centroid"}),
    "embedding tree, 300 dimensions": (
        "label-embedding-tree",
        {"affinity": "centroid", "dim": 300},
    ),
    "balanced tree, ambiguity 1": ("balanced-label-tree", {"ambiguity": 1.0}),
    "balanced tree, ambiguity 1.5": ("balanced-label-tree", {"ambiguity": 1.5}),
    "balanced tree, ambiguity 2": ("balanced-label-tree", {"ambiguity": 2.0}),
    "balanced tree, ambiguity 3": ("balanced-label-tree", {"ambiguity": 3.0}),
}
FIRST = ("random tree", "relaxation 2, a slack per child", "embedding tree", "relaxation 1")
"""Systems that every corpus gets before any gets the others."""
OVERLAPPING = ("balanced tree, ambiguity 2", "balanced tree, ambiguity 3")
WIDE = "embedding tree, 300 dimensions"
FEW = (*FIRST, "one-vs-all", "embedding", "balanced tree, ambiguity 1.5")
SYSTEMS_OF = {
    "digits": tuple(system for system in SYSTEMS if system not in {WIDE, *OVERLAPPING}),
    "wordnet-parent": tuple(system for system in SYSTEMS if system not in OVERLAPPING),
    "wordnet": FEW,
    "eurlex57k": FEW,
}
"""Where not all systems are trained: ten digits make no more of them, others take too long."""
SEEDS = {"digits": (0, 1, 2)}
"""Where there is more than seed 0."""

# Ten digits need a tree of pairs, and few dimensions.
FOR_DIGITS = {
    "label-tree": {"branching": 2, "leaf_size": 1, "idf": False},
    "balanced-label-tree": {"branching": 2, "leaf_size": 2, "idf": False},
    "label-embedding": {"dim": 9, "n_epochs": 30, "idf": False},
    "label-embedding-tree": {
        "dim": 9,
        "n_epochs": 30,
        "branching": 2,
        "leaf_size": 1,
        "idf": False,
    },
    "one-vs-all": {},
}


class Data(NamedTuple):
    """Features and labels to learn from and to be asked about."""

    X: csr_matrix
    Y: csr_matrix
    X_test: csr_matrix
    Y_test: csr_matrix


def read(corpus: str) -> Data:
    """Return a corpus, or one of the two with one label to a row."""
    if corpus == "digits":
        X, y = load_digits(return_X_y=True)
        rows = np.random.default_rng(0).permutation(len(y))
        train, test = rows[:1000], rows[1000:]
        Y = csr_matrix(np.eye(10, dtype=np.float32)[y])
        X = csr_matrix(X, dtype=np.float32)
        return Data(X[train], Y[train], X[test], Y[test])
    folder = corpora.prepare("wordnet" if corpus in FEWEST_ROWS else corpus).folder
    names = ("train_X", "train_Y", "test_X", "test_Y")
    data = Data(*(csr_matrix(load_npz(folder / f"{name}.npz")) for name in names))
    if corpus in FEWEST_ROWS:
        return nearest_hypernyms(data, FEWEST_ROWS[corpus])
    return sample(data, *N_ROWS[corpus]) if corpus in N_ROWS else data


def sample(data: Data, n_train: int, n_test: int) -> Data:
    """Draw rows, the same for every system."""
    rng = np.random.default_rng(0)
    train = np.sort(rng.permutation(data.X.shape[0])[:n_train])
    test = np.sort(rng.permutation(data.X_test.shape[0])[:n_test])
    return Data(data.X[train], data.Y[train], data.X_test[test], data.Y_test[test])


def nearest_hypernyms(data: Data, fewest_rows: int) -> Data:
    """Keep of each row its rarest label, and of these the ones with ``fewest_rows``."""
    counts = np.bincount(data.Y.indices, minlength=data.Y.shape[1])
    train, test = (_rarest(Y, counts) for Y in (data.Y, data.Y_test))
    n_rows = np.bincount(train.indices, minlength=train.shape[1])
    kept = np.flatnonzero(n_rows >= fewest_rows)
    parts = []
    for X, Y in ((data.X, train), (data.X_test, test)):
        Y = csr_matrix(Y[:, kept])
        rows = np.diff(Y.indptr) > 0
        parts += [X[rows], Y[rows]]
    return Data(*parts)


def _rarest(Y: csr_matrix, counts: np.ndarray) -> csr_matrix:
    known = csr_matrix((1.0 / np.maximum(counts[Y.indices], 0.5), Y.indices, Y.indptr), Y.shape)
    best = np.asarray(known.argmax(axis=1)).ravel()
    rows = np.diff(Y.indptr) > 0
    ones = np.ones(np.count_nonzero(rows), dtype=np.float32)
    return csr_matrix((ones, (np.flatnonzero(rows), best[rows])), shape=Y.shape)


def measure(system: str, corpus: str, data: Data, seed: int) -> list[dict[str, Any]]:
    """Train a system once and ask it with each beam."""
    method, parameters = SYSTEMS[system]
    parameters = parameters | (FOR_DIGITS[method] if corpus == "digits" else {})
    model = models.make(method, random_state=seed, n_threads=1, **parameters)
    model.fit(data.X[:600], data.Y[:600])  # kernels are compiled before the clock starts
    start = time.process_time()
    model.fit(data.X, data.Y)
    train_seconds = time.process_time() - start
    lines = []
    for beam in BEAMS if hasattr(model, "beam") else BEAMS[:1]:
        if hasattr(model, "beam"):
            model.beam = beam
        model.predict_topk(data.X_test[:10])
        start = time.process_time()
        top = model.predict_topk(data.X_test, 5)
        seconds = time.process_time() - start
        found = metrics.evaluate(data.Y_test, top, ks=(1, 3, 5))
        line = {
            "corpus": corpus,
            "system": system,
            "beam": beam if hasattr(model, "beam") else None,
            "seed": seed,
            "parameters": parameters,
            "n_labels": int(np.count_nonzero(model.label_counts_)),
            **{name: round(found[name], 3) for name in ("P@1", "P@3", "P@5")},
            "cost": round(cost(model, data.X_test, 1 if corpus in SINGLE else 5), 2),
            "train_cpu_s": round(train_seconds, 2),
            "cpu_ms": round(1000 * seconds / len(top), 5),
        }
        if hasattr(model, "tree_"):
            line["depth"] = model.tree_.depth
            line["copies"] = round(float(np.mean(_copies(model.tree_))), 3)
            line["largest_child"] = _largest_child(model.tree_)
        lines.append(line)
    return lines


def cost(model: LabelRanker, X: csr_matrix, k: int) -> float:
    """Return the mean cost of an answer, in inner products with the row's own features."""
    n_features = X.nnz / X.shape[0]
    if hasattr(model, "count_products"):
        products = float(model.count_products(X, k).mean())
    else:
        products = float(np.count_nonzero(model.label_counts_))
    if hasattr(model, "encoder_"):
        return model.encoder_.dim * (1.0 + products / n_features)
    return products


def _copies(tree: Any) -> np.ndarray:
    """Return how many leaves each label has."""
    labels = tree.leaf_labels[tree.leaf_labels >= 0]
    return np.bincount(labels)[np.unique(labels)]


def _largest_child(tree: Any) -> float:
    """Return the labels of the root's largest child, as a multiple of an even split's."""
    sizes = [tree.labels_of(node).size for node in tree.children(0)]
    return round(float(max(sizes) / tree.labels_of(0).size * len(sizes)), 2)


def read_lines() -> list[dict[str, Any]]:
    """Return what was measured here, the latest of each, and one-vs-all as measured for all."""
    lines = [_one_vs_all(line) for line in results.latest(results.read_lines()) if _is_it(line)]
    if RESULTS.exists():
        lines += [json.loads(line) for line in RESULTS.read_text().splitlines()]
    latest = {(one["corpus"], one["system"], one["beam"], one["seed"]): one for one in lines}
    return list(latest.values())


def _is_it(line: dict[str, Any]) -> bool:
    """Tell whether a line of the common benchmarks is one-vs-all on a corpus of this page."""
    asked = {"method": "one-vs-all", "split": "given", "status": results.DONE, "parameters": {}}
    return line["corpus"] in N_LABELS and asked.items() <= line.items()


def _one_vs_all(line: dict[str, Any]) -> dict[str, Any]:
    n_labels = N_LABELS[line["corpus"]]
    return {
        "corpus": line["corpus"],
        "system": "one-vs-all",
        "beam": None,
        "seed": line["seed"],
        "n_labels": n_labels,
        **{name: line["metrics"][name] for name in ("P@1", "P@3", "P@5")},
        "cost": n_labels,
        "train_cpu_s": line["train_cpu_s"],
        "cpu_ms": line["batch_cpu_ms"],
    }


def run(wanted: list[str]) -> None:
    """Measure what is missing, on the corpora ``wanted``."""
    for systems in (FIRST, tuple(SYSTEMS)):
        for corpus in wanted:
            done = {(one["corpus"], one["system"], one["seed"]) for one in read_lines()}
            missing = [
                (system, seed)
                for system in systems
                if system in SYSTEMS_OF.get(corpus, SYSTEMS)
                for seed in SEEDS.get(corpus, (0,))
                if (corpus, system, seed) not in done
            ]
            data = read(corpus) if missing else None
            for system, seed in missing:
                assert data is not None
                lines = measure(system, corpus, data, seed)
                with RESULTS.open("a") as file:
                    file.writelines(json.dumps(line) + "\n" for line in lines)
                print(corpus, system, seed, lines[-1]["P@1"], lines[-1]["cost"], flush=True)


if __name__ == "__main__":
    if "--render" in sys.argv:
        from benchmarks.ablations.label_trees_page import render

        render(read_lines())
    else:
        run([name for name in CORPORA if name in sys.argv[1:]] or list(CORPORA))
