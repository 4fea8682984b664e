"""What each part of HierarchicalXC is worth: ``python -m benchmarks.ablations.hierarchical_xc``.

Four things are measured, on the files as given, and appended to a file of JSON lines; what is
there is not repeated, and ``--render`` writes the tables and plots of the method's page.

- ``report``: the authors' program on bibtex, its mistakes mended one after the other.
- ``variants``: the default with one thing changed.
- ``figures``: P@1…5 and nDCG@1…5 on train and test, beside random labels.
- ``clusters``: complete link on the corpora's labels, plain and balanced.

Name some of them to run those only.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, load_npz

from benchmarks import corpora
from benchmarks.ablations.hierarchical_xc_report import as_published
from benchmarks.results import RESULTS
from labelspace import metrics, models
from labelspace.base import LabelRanker
from labelspace.graph.cooccurrence import cooccurrence, similarity
from labelspace.graph.tree import Tree, flat
from labelspace.linear.node_classifiers import train_node_classifiers
from labelspace.linear.squared_hinge import LinearClassifiers
from labelspace.models import HierarchicalXC
from labelspace.models.hierarchical_xc.best_first import BestFirstIndex
from labelspace.models.hierarchical_xc.complete_link import complete_link, complete_link_tree
from labelspace.topk import TopK, topk_dense

FILE = RESULTS / "ablations" / "hierarchical_xc.jsonl"
KS = (1, 2, 3, 4, 5)
FIGURES = ("bibtex", "delicious", "wordnet", "eurlex57k")
SMALL = ("bibtex", "delicious")
FEW_ROWS = 1200  # of train and of test for the authors' program: a kernel of all rows is large
MOST_TRAIN = 10_000  # rows of train that are asked about
Line = dict[str, Any]

REPORT: dict[str, dict[str, Any]] = {
    "as published": {},
    "… rows in order": {"rows_in_order": True},
    "… and right targets": {"rows_in_order": True, "right_targets": True},
    "… and the features themselves": {
        "rows_in_order": True,
        "right_targets": True,
        "encoded": False,
    },
    "… and linear machines": {
        "rows_in_order": True,
        "right_targets": True,
        "encoded": False,
        "kernel": "linear",
    },
}
"""The authors' program, its mistakes mended one after the other."""

MENDED: dict[str, dict[str, Any]] = {
    "… and probabilities": {"likeness": "cooccurrence", "balanced": False},
    "… and a balanced tree": {"likeness": "cooccurrence"},
    "… and IoU: the default": {},
}
"""And on from there with our own classifiers and search."""

VARIANTS: dict[str, dict[str, Any]] = {
    "default": {},
    "co-occurrence": {"likeness": "cooccurrence"},
    "plain complete link": {"balanced": False},
    "plain, co-occurrence": {"balanced": False, "likeness": "cooccurrence"},
    "`leaf_size=32`": {"leaf_size": 32},
    '`encoder="svd"`, 100': {"encoder": "svd", "dim": 100},
    '`encoder="svd"`, 300': {"encoder": "svd", "dim": 300},
    '`encoder="random"`, 300': {"encoder": "random", "dim": 300},
    '`encoder="autoencoder"`, 300': {"encoder": "autoencoder", "dim": 300},
}
ELSEWHERE = {
    "delicious": ("default", "co-occurrence", "plain complete link", "`leaf_size=32`"),
    "wordnet": ("co-occurrence",),
}
"""What is measured on other corpora than bibtex. A plain tree of wordnet has paths of thousands of
nodes, and classifiers of codes cost what their dimensions cost."""

OUTSIDE = ("yes or no at each node", "yes or no, found labels ranked", "nodes learn from all rows")
"""Variants that no parameter makes."""


def read(corpus: str) -> tuple[csr_matrix, csr_matrix, csr_matrix, csr_matrix]:
    """Return features and labels of train, then of test."""
    folder = corpora.prepare(corpus).folder
    X, Y, X_test, Y_test = (
        csr_matrix(load_npz(folder / f"{name}.npz"))
        for name in ("train_X", "train_Y", "test_X", "test_Y")
    )
    return X, Y, X_test, Y_test


def report() -> Iterator[tuple[str, str, Callable[[], Line]]]:
    X, Y, X_test, Y_test = (csr_matrix(part[:FEW_ROWS]) for part in read("bibtex"))

    def measured(top: TopK, top_test: TopK) -> Line:
        return {"train": _quality(Y, top), "test": _quality(Y_test, top_test)}

    def ours(parameters: dict[str, Any]) -> Line:
        model = HierarchicalXC(random_state=0, n_threads=1, **parameters).fit(X, Y)
        return measured(model.predict_topk(X, 5), model.predict_topk(X_test, 5))

    def theirs(parameters: dict[str, Any]) -> Line:
        return measured(*as_published(X, Y, X_test, **parameters))

    for name, parameters in REPORT.items():
        yield "bibtex", name, lambda parameters=parameters: theirs(parameters)
    for name, parameters in MENDED.items():
        yield "bibtex", name, lambda parameters=parameters: ours(parameters)
    for method in ("most-common", "random"):
        yield (
            "bibtex",
            method,
            lambda method=method: measured(
                *(
                    models.make(method, random_state=0).fit(X, Y).predict_topk(rows, 5)
                    for rows in (X, X_test)
                )
            ),
        )


def variants() -> Iterator[tuple[str, str, Callable[[], Line]]]:
    for corpus in (*SMALL, "wordnet"):
        data = read(corpus)
        for name in ELSEWHERE.get(corpus, VARIANTS):
            yield corpus, name, lambda data=data, name=name: _variant(*data, VARIANTS[name])
        for name in OUTSIDE if corpus in SMALL else ():
            yield corpus, name, lambda data=data, name=name: _outside(*data, name)


def figures() -> Iterator[tuple[str, str, Callable[[], Line]]]:
    for corpus in FIGURES:
        data = read(corpus)
        yield corpus, "hierarchicalxc", lambda data=data: _variant(*data, {}, with_train=True)
        yield corpus, "random", lambda data=data: _random(*data)


def clusters() -> Iterator[tuple[str, str, Callable[[], Line]]]:
    def measured(Y: csr_matrix, kind: str) -> Line:
        complete_link_tree(csr_matrix(Y[:10, :20]))  # compiled before the clock starts
        start = time.process_time()
        counts = cooccurrence(Y)
        alike = counts if kind == "cooccurrence" else similarity(counts, Y.shape[0], "jaccard")
        linkage = complete_link(alike)
        plain_seconds = time.process_time() - start
        start = time.process_time()
        balanced = complete_link_tree(Y, kind)
        balanced_seconds = time.process_time() - start
        plain = complete_link_tree(Y, kind, balanced=False)
        return {
            "n_labels": Y.shape[1],
            "n_links": (alike.nnz - np.count_nonzero(alike.diagonal())) // 2,
            "n_unlinked": int(np.count_nonzero(linkage[:, 2] == 0)),
            "plain_depth": plain.depth,
            "balanced_depth": balanced.depth,
            "plain_mean_depth": _mean_depth(plain),
            "balanced_mean_depth": _mean_depth(balanced),
            "plain_cpu_s": round(plain_seconds, 3),
            "balanced_cpu_s": round(balanced_seconds, 3),
            "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        }

    for corpus in (*FIGURES, "tibkat"):
        Y = csr_matrix(load_npz(corpora.prepare(corpus).folder / "train_Y.npz"))
        for kind in ("iou", "cooccurrence"):
            yield corpus, kind, lambda Y=Y, kind=kind: measured(Y, kind)


def _random(X: csr_matrix, Y: csr_matrix, X_test: csr_matrix, Y_test: csr_matrix) -> Line:
    model = models.RandomLabels(random_state=0).fit(X, Y)
    return {
        "train": _on_train(model, X, Y),
        "test": _quality(Y_test, model.predict_topk(X_test, 5)),
    }


def _on_train(model: LabelRanker, X: csr_matrix, Y: csr_matrix) -> dict[str, float]:
    return _quality(csr_matrix(Y[:MOST_TRAIN]), model.predict_topk(X[:MOST_TRAIN], 5))


def _variant(
    X: csr_matrix,
    Y: csr_matrix,
    X_test: csr_matrix,
    Y_test: csr_matrix,
    parameters: dict[str, Any],
    *,
    with_train: bool = False,
) -> Line:
    model = HierarchicalXC(random_state=0, n_threads=1, **parameters)
    model.fit(X[:600], Y[:600])  # kernels are compiled before the clock starts
    start = time.process_time()
    model.fit(X, Y)
    train_seconds = time.process_time() - start
    start = time.process_time()
    top, n_visited = model._walk(X_test, 5)
    seconds = time.process_time() - start
    return {
        **({"train": _on_train(model, X, Y)} if with_train else {}),
        "test": _quality(Y_test, top),
        "visited": round(float(n_visited.mean()), 1),
        "n_nodes": model.tree_.n_nodes,
        "depth": model.tree_.depth,
        "C": model.C_,
        "ECE": round(metrics.calibration_error(Y_test, top), 4),
        "train_cpu_s": round(train_seconds, 2),
        "cpu_ms": round(1000 * seconds / len(top), 4),
    }


def _outside(
    X: csr_matrix, Y: csr_matrix, X_test: csr_matrix, Y_test: csr_matrix, name: str
) -> Line:
    model = HierarchicalXC(random_state=0, n_threads=1).fit(X, Y)
    tree = model.tree_
    right = tree.positive_nodes(Y)
    settings = {"loss": "logistic", "C": model.C_, "tol": model.tol, "n_threads": 1}
    Z, Z_test = model._encode(X), model._encode(X_test)
    if name == "nodes learn from all rows":
        # All nodes as children of one root that every row with a label is at.
        every_node = flat(np.arange(tree.n_nodes), tree.n_nodes)
        at_root = csr_matrix(right.sum(axis=1) > 0, dtype=np.float32)
        everywhere = csr_matrix(np.hstack([at_root.toarray(), right.toarray()]))
        trained = train_node_classifiers(Z, every_node, everywhere, **settings)
        index = BestFirstIndex(tree, csr_matrix(trained.weights[1:]), trained.biases[1:])
        found = index.walk(Z_test, 5)
        return {
            "test": _quality(Y_test, found.top),
            "visited": round(float(found.n_products.mean()), 1),
            "n_nodes": tree.n_nodes,
            "depth": tree.depth,
            "C": model.C_,
        }
    trained = train_node_classifiers(Z, tree, right, **settings)
    reached, likely, n_asked = _decide(tree, trained, Z_test)
    scores = np.where(reached, likely if name.endswith("ranked") else 1.0, -np.inf)
    top = topk_dense(scores, 5)
    top.labels[np.isneginf(top.scores)] = -1
    return {
        "test": _quality(Y_test, top),
        "visited": round(float(n_asked.mean()), 1),
        "n_nodes": tree.n_nodes,
        "depth": tree.depth,
        "C": model.C_,
        "labels_given": round(float(reached.sum(axis=1).mean()), 2),
    }


def _decide(
    tree: Tree, trained: LinearClassifiers, Z: csr_matrix
) -> tuple[NDArray[np.bool_], NDArray[np.float32], NDArray[np.int64]]:
    """Go on to each child that is likelier than not.

    Returns which labels rows arrive at, how likely each label is, and how many nodes were asked.
    """
    scores = np.asarray((Z @ trained.weights.T).todense()) + trained.biases
    likely = 1.0 / (1.0 + np.exp(-scores))
    reached = scores > 0
    reached[:, 0], likely[:, 0] = True, 1.0
    n_asked = np.zeros(Z.shape[0], dtype=np.int64)
    for node in range(1, tree.n_nodes):
        parent = tree.parents[node]
        n_asked += reached[:, parent]
        reached[:, node] &= reached[:, parent]
        likely[:, node] *= likely[:, parent]
    leaves = np.flatnonzero(tree.leaf_labels >= 0)
    there = np.zeros((Z.shape[0], tree.n_labels), dtype=bool)
    chances = np.zeros((Z.shape[0], tree.n_labels), dtype=np.float32)
    there[:, tree.leaf_labels[leaves]] = reached[:, leaves]
    chances[:, tree.leaf_labels[leaves]] = likely[:, leaves]
    return there, chances, n_asked


def _quality(Y: csr_matrix, top: TopK) -> dict[str, float]:
    found = metrics.evaluate(Y, top, ks=KS)
    return {f"{name}@{k}": round(found[f"{name}@{k}"], 3) for name in ("P", "nDCG") for k in KS}


def _mean_depth(tree: Tree) -> float:
    return round(float(tree.levels[tree.leaf_labels >= 0].mean()), 1)


PARTS = {"report": report, "variants": variants, "figures": figures, "clusters": clusters}


def read_lines() -> list[Line]:
    """Return what was measured, the latest of each."""
    if not FILE.exists():
        return []
    lines = [json.loads(line) for line in FILE.read_text().splitlines()]
    return list({(one["part"], one["corpus"], one["name"]): one for one in lines}.values())


def run(wanted: list[str]) -> None:
    """Measure what is missing."""
    done = {(one["part"], one["corpus"], one["name"]) for one in read_lines()}
    for part in wanted:
        for corpus, name, measure in PARTS[part]():
            if (part, corpus, name) in done:
                continue
            line = {"part": part, "corpus": corpus, "name": name, **measure()}
            with FILE.open("a") as file:
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
            print(part, corpus, name, line.get("test", ""), flush=True)


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if "--render" in arguments:
        from benchmarks.ablations.hierarchical_xc_page import render

        render(read_lines())
    else:
        run(arguments or list(PARTS))
