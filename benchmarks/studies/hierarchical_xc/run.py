"""What each part of HierarchicalXC is worth: ``study hierarchical_xc``.

``report``: the authors' program on bibtex, its mistakes mended one after the other.
``faults``: how much these mistakes do to what the nodes are taught and to what they see.
``figures``: P@1…5 and nDCG@1…5 on train and test, beside random labels.
``variants``: the default with one thing changed, and with what no parameter makes.
``clusters``: complete link on the corpora's labels, plain and balanced.
"""

from __future__ import annotations

import resource
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from benchmarks.measure import Stopwatch
from benchmarks.studies.hierarchical_xc import page
from benchmarks.studies.hierarchical_xc.as_published import (
    as_published,
    decisions,
    least_likeness,
    taught_as_both,
)
from benchmarks.studies.hierarchical_xc.outside import OUTSIDE, outside
from benchmarks.studies.source import Source
from benchmarks.studies.study import Figures, Part, Study, Trial
from labelspace import metrics
from labelspace.base import LabelRanker
from labelspace.graph.cooccurrence import cooccurrence, similarity
from labelspace.graph.tree import Tree
from labelspace.models import make
from labelspace.models.hierarchical_xc.complete_link import complete_link, complete_link_tree
from labelspace.topk import TopK

FIGURES = ("bibtex", "delicious", "wordnet", "eurlex57k")
SMALL = ("bibtex", "delicious")
FEW_ROWS = 1200  # of train and of test for the authors' program: a kernel of all rows is large
MOST_TRAIN = 10_000  # rows of train that are asked about

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

FLOORS: dict[str, dict[str, Any]] = {"most-common": {}, "random": {}}

VARIANTS: dict[str, dict[str, Any]] = {
    "default": {},
    "co-occurrence": {"likeness": "cooccurrence"},
    "plain complete link": {"balanced": False},
    "plain, co-occurrence": {"balanced": False, "likeness": "cooccurrence"},
    "`leaf_size=32`": {"leaf_size": 32},
    '`projection="svd"`, 100': {"projection": "svd", "dim": 100},
    '`projection="svd"`, 300': {"projection": "svd", "dim": 300},
    '`projection="random"`, 300': {"projection": "random", "dim": 300},
    '`projection="autoencoder"`, 300': {"projection": "autoencoder", "dim": 300},
    '`preset="paper"`': {"preset": "paper"},
    '`preset="repaired"`': {"preset": "repaired"},
    page.REPAIRED_WITH_FEATURES: {"preset": "repaired", "projection": "none"},
    page.REPAIRED_AND_WEIGHED: {"preset": "repaired", "settings": {"decide": False}},
    page.NO_TREE: {"leaf_size": 1000},
}
ELSEWHERE = {
    "delicious": (
        "default",
        "co-occurrence",
        "plain complete link",
        "`leaf_size=32`",
        *page.ADDED_PARTS,
    ),
    "wordnet": ("co-occurrence",),
}
"""What is measured on other corpora than bibtex. A plain tree of wordnet has paths of thousands of
nodes, and classifiers of codes cost what their dimensions cost."""


def variants() -> list[Trial]:
    """Return the variants of each corpus; the default stands in the figures elsewhere."""
    trials = []
    for corpus in (*SMALL, "wordnet"):
        for name in ELSEWHERE.get(corpus, tuple(VARIANTS)):
            trials.append(Trial("variants", corpus, name, VARIANTS[name]))
        trials += [Trial("variants", corpus, name) for name in OUTSIDE if corpus in SMALL]
    return trials


def report(trial: Trial, source: Source) -> Iterator[tuple[Trial, Figures]]:
    """Train on a few rows: the authors' program, ours, or a floor."""
    X, Y, X_test, Y_test = (part[:FEW_ROWS] for part in source.split(trial.corpus))
    if trial.variant in REPORT:
        top, top_test = as_published(X, Y, X_test, **trial.parameters)
    else:
        method = "hierarchicalxc" if trial.variant in MENDED else trial.variant
        model = make(method, random_state=0, n_threads=1, **trial.parameters).fit(X, Y)
        top, top_test = model.predict_topk(X, 5), model.predict_topk(X_test, 5)
    yield trial, {"train": _quality(Y, top), "test": _quality(Y_test, top_test)}


def faults(trial: Trial, source: Source) -> Iterator[tuple[Trial, Figures]]:
    """Count what the program's mistakes do, on some rows of train and of test."""
    X, Y, X_test, _ = (part[: trial.parameters["n_rows"]] for part in source.split(trial.corpus))
    tree = complete_link_tree(Y, "cooccurrence", balanced=False)
    found: Figures = {
        "n_rows": X.shape[0],
        "mean_depth": _mean_depth(tree),
        "features_of_a_row": X.nnz / X.shape[0],
        "least_likeness": least_likeness(X),
    }
    for name, right in (("published", False), ("right", True)):
        found[f"both_{name}"] = 100.0 * taught_as_both(Y, right_targets=right)
        if X.shape[0] <= FEW_ROWS:
            _, test = decisions(X, Y, X_test, rows_in_order=True, right_targets=right)
            found[f"labels_{name}"] = float(test.sum(axis=1).mean())
    yield trial, found


def figures(trial: Trial, source: Source) -> Iterator[tuple[Trial, Figures]]:
    """Train a method as it comes, and ask it about train and test."""
    X, Y, X_test, Y_test = source.split(trial.corpus)
    if trial.variant == "hierarchicalxc":
        model, found = _trained(trial, source)
    else:
        model = make(trial.variant, random_state=0).fit(X, Y)
        found = {"test": _quality(Y_test, model.predict_topk(X_test, 5))}
    yield trial, {"train": _on_train(model, X, Y), **found}


def variant(trial: Trial, source: Source) -> Iterator[tuple[Trial, Figures]]:
    """Train one variant."""
    if trial.variant in VARIANTS:
        yield trial, _trained(trial, source)[1]
        return
    split = source.split(trial.corpus)
    model = make("hierarchicalxc", random_state=0, n_threads=1).fit(split.X, split.Y)
    top, found = outside(model, split, trial.variant)
    yield trial, {"test": _quality(split.Y_test, top), **found}


def _trained(trial: Trial, source: Source) -> tuple[LabelRanker, Figures]:
    X, Y, X_test, Y_test = source.split(trial.corpus)
    model: Any = make("hierarchicalxc", random_state=0, n_threads=1, **trial.parameters)
    model.fit(X[:600], Y[:600])  # kernels are compiled before the clock starts
    with Stopwatch() as training:
        model.fit(X, Y)
    with Stopwatch() as asking:
        top = model.predict_topk(X_test, 5)
    return model, {
        "test": _quality(Y_test, top),
        "visited": float(model.count_visited(X_test, 5).mean()),
        "n_nodes": model.tree_.n_nodes,
        "depth": model.tree_.depth,
        "C": model.C_,
        "ECE": metrics.calibration_error(Y_test, top),
        "train_cpu_s": training.cpu_s,
        "cpu_ms": 1000 * asking.cpu_s / len(top),
    }


def clusters(trial: Trial, source: Source) -> Iterator[tuple[Trial, Figures]]:
    """Make the trees of a corpus's labels."""
    Y, kind = source.split(trial.corpus).Y, trial.variant
    complete_link_tree(csr_matrix(Y[:10, :20]))  # compiled before the clock starts
    with Stopwatch() as plainly:
        counts = cooccurrence(Y)
        alike = counts if kind == "cooccurrence" else similarity(counts, Y.shape[0], "jaccard")
        linkage = complete_link(alike)
    with Stopwatch() as balancing:
        balanced = complete_link_tree(Y, kind)
    plain = complete_link_tree(Y, kind, balanced=False)
    found = {
        "n_labels": Y.shape[1],
        "n_links": int(alike.nnz - np.count_nonzero(alike.diagonal())) // 2,
        "n_unlinked": int(np.count_nonzero(linkage[:, 2] == 0)),
        "plain_depth": plain.depth,
        "balanced_depth": balanced.depth,
        "plain_mean_depth": _mean_depth(plain),
        "balanced_mean_depth": _mean_depth(balanced),
        "plain_cpu_s": plainly.cpu_s,
        "balanced_cpu_s": balancing.cpu_s,
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }
    yield trial, found


def _on_train(model: LabelRanker, X: csr_matrix, Y: csr_matrix) -> dict[str, float]:
    return _quality(csr_matrix(Y[:MOST_TRAIN]), model.predict_topk(X[:MOST_TRAIN], 5))


def _quality(Y: csr_matrix, top: TopK) -> dict[str, float]:
    found: Mapping[str, float] = metrics.evaluate(Y, top, ks=page.KS)
    return {f"{name}@{k}": found[f"{name}@{k}"] for name in ("P", "nDCG") for k in page.KS}


def _mean_depth(tree: Tree) -> float:
    return round(float(tree.levels[tree.leaf_labels >= 0].mean()), 1)


STUDY = Study(
    "hierarchical_xc",
    {
        "report": Part(
            [
                Trial("report", "bibtex", name, parameters)
                for name, parameters in {
                    **REPORT,
                    **MENDED,
                    "most-common": {},
                    "random": {},
                }.items()
            ],
            report,
        ),
        "faults": Part(
            [
                Trial("faults", "bibtex", "the first 1,200 rows", {"n_rows": FEW_ROWS}),
                Trial("faults", "bibtex", "all rows", {"n_rows": None}),
            ],
            faults,
        ),
        "figures": Part(
            [
                Trial("figures", corpus, name)
                for corpus in FIGURES
                for name in ("hierarchicalxc", "random")
            ],
            figures,
        ),
        "variants": Part(variants(), variant),
        "clusters": Part(
            [
                Trial("clusters", corpus, kind)
                for corpus in (*FIGURES, "tibkat")
                for kind in ("iou", "cooccurrence")
            ],
            clusters,
        ),
    },
    page.PAGE,
    page.tables,
    page.draw,
)
