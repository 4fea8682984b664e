"""Accuracy against cost of label trees, and what presets are made of: ``study label_trees``.

Systems of Bengio, Weston and Grangier (2010) and Deng et al. (2011) on data with one label to a
row and with several. Each model is asked twice, walking along the best child alone and with a beam
of ten.

A cost of 1 is the multiplications of one inner product with a row's own features. A tree's cost is
the children that it looks at; a map into ``dim`` dimensions costs ``dim``, and a product there
``dim`` divided by the row's number of features.

``changes``: from the paper's method to the default, change by change, on the files as given.
``readings``: what one label to a row may mean for rows of several. ``sequence``: see there.
``objective``: that of relaxation 2 as printed, beside that of weights of zero.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from benchmarks.measure import Stopwatch
from benchmarks.studies.label_trees import page, sequence
from benchmarks.studies.label_trees.changes import CHANGES, OBJECTIVE, PASSES
from benchmarks.studies.label_trees.page import BEAMS, CORPORA, N_LABELS, SINGLE, SYSTEMS
from benchmarks.studies.label_trees.samples import read
from benchmarks.studies.source import Source
from benchmarks.studies.study import Figures, Part, Study, Trial
from labelspace import metrics
from labelspace.graph.tree import Tree
from labelspace.models import make
from labelspace.models.label_trees.one_slack import train_one_slack

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
BEAMED = ("label-tree", "label-embedding-tree", "balanced-label-tree")
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


def trials() -> list[Trial]:
    """Return what every corpus gets before any gets the others; one-vs-all may be there already."""
    found: dict[str, Trial] = {}
    for systems in (FIRST, tuple(SYSTEMS)):
        for corpus in CORPORA:
            for system in systems:
                if system not in SYSTEMS_OF.get(corpus, SYSTEMS):
                    continue
                if system == "one-vs-all" and corpus in N_LABELS:
                    continue
                for seed in SEEDS.get(corpus, (0,)):
                    trial = Trial("systems", corpus, system, _parameters(system, corpus), seed)
                    found[trial.identity()] = trial
    return list(found.values())


def _parameters(system: str, corpus: str) -> dict[str, Any]:
    """Return what a system is trained with, and the widest beam if it has one."""
    method, parameters = SYSTEMS[system]
    own = FOR_DIGITS[method] if corpus == "digits" else {}
    beam = {"beam": BEAMS[-1]} if method in BEAMED else {}
    return {**parameters, **own, **beam}


def measure(trial: Trial, source: Source) -> Iterator[tuple[Trial, Figures]]:
    """Train a system once and ask it with each beam."""
    split = read(trial.corpus, source)
    method = SYSTEMS[trial.variant][0]
    model: Any = make(method, random_state=trial.seed, n_threads=1, **trial.parameters)
    model.fit(split.X[:600], split.Y[:600])  # kernels are compiled before the clock starts
    with Stopwatch() as training:
        model.fit(split.X, split.Y)
    for beam in BEAMS if "beam" in trial.parameters else BEAMS[:1]:
        asked = trial
        if "beam" in trial.parameters:
            model.set_params(beam=beam)
            asked = replace(trial, parameters={**trial.parameters, "beam": beam})
        model.predict_topk(split.X_test[:10])
        with Stopwatch() as asking:
            top = model.predict_topk(split.X_test, 5)
        found = metrics.evaluate(split.Y_test, top, ks=(1, 3, 5))
        figures = {
            "n_labels": int(np.count_nonzero(model.label_counts_)),
            **{name: found[name] for name in ("P@1", "P@3", "P@5")},
            "cost": cost(model, split.X_test, 1 if trial.corpus in SINGLE else 5),
            "train_cpu_s": training.cpu_s,
            "cpu_ms": 1000 * asking.cpu_s / len(top),
        }
        if hasattr(model, "tree_"):
            figures["depth"] = model.tree_.depth
            figures["copies"] = float(np.mean(_copies(model.tree_)))
            figures["largest_child"] = _largest_child(model.tree_)
        yield asked, figures


def cost(model: Any, X: csr_matrix, k: int) -> float:
    """Return the mean cost of an answer, in inner products with the row's own features."""
    n_features = X.nnz / X.shape[0]
    if hasattr(model, "count_products"):
        products = float(model.count_products(X, k).mean())
    else:
        products = float(np.count_nonzero(model.label_counts_))
    if hasattr(model, "encoder_"):
        return model.encoder_.dim * (1.0 + products / n_features)
    return products


def _copies(tree: Tree) -> NDArray[np.int64]:
    """Return how many leaves each label has."""
    labels = tree.leaf_labels[tree.leaf_labels >= 0]
    return np.bincount(labels)[np.unique(labels)]


def _largest_child(tree: Tree) -> float:
    """Return the labels of the root's largest child, as a multiple of an even split's."""
    sizes = [tree.labels_of(node).size for node in tree.children(0)]
    return round(float(max(sizes) / tree.labels_of(0).size * len(sizes)), 2)


def changes(trial: Trial, source: Source) -> Iterator[tuple[Trial, Figures]]:
    """Train a method with a preset and what is changed of it, on the files as given."""
    split = source.split(trial.corpus)
    model: Any = make(random_state=trial.seed, n_threads=1, **trial.parameters)
    with Stopwatch() as training:
        model.fit(split.X, split.Y)
    found = metrics.evaluate(split.Y_test, model.predict_topk(split.X_test, 5), ks=(1, 3, 5))
    precision = {name: found[name] for name in ("P@1", "P@3", "P@5")}
    yield trial, {**precision, "train_cpu_s": training.cpu_s}


def objective(trial: Trial, source: Source) -> Iterator[tuple[Trial, Figures]]:
    """Return ½ Σ ‖w‖² + C Σ ξ_i of relaxation 2 on some training rows, and at weights of zero."""
    told = dict(trial.parameters)
    some = source.split(trial.corpus).drawn(source.at_most(told.pop("n_rows")))
    passes = told.pop("max_iter")
    model: Any = make(random_state=trial.seed, n_threads=1, **told)
    model.fit(some.X, some.Y)
    Z = model.rows_.encode(csr_matrix(some.X, dtype=np.float32))
    right = model.tree_.positive_nodes(csr_matrix(some.Y))
    trained = train_one_slack(
        Z, model.tree_, right, C=model.C_, squared=False, max_iter=passes, seed=trial.seed
    )
    scores = np.asarray((Z @ trained.weights.T).toarray() + trained.biases)
    slacks = worst_slacks(model.tree_, right, scores)
    at_zero = worst_slacks(model.tree_, right, np.zeros_like(scores))
    length = 0.5 * float(np.square(trained.weights.data, dtype=np.float64).sum())
    length += 0.5 * float(np.square(trained.biases, dtype=np.float64).sum())
    figures = {"C": model.C_, "passes": trained.n_iter, "n_train": Z.shape[0]}
    figures["objective"] = length + model.C_ * float(slacks.sum())
    yield trial, {**figures, "objective_at_zero": model.C_ * float(at_zero.sum())}


def worst_slacks(tree: Tree, right: csr_matrix, scores: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return of each row the worst lack of a margin of one between siblings on its way.

    >>> tree = Tree.from_nested([0, 1], n_labels=2)
    >>> right = tree.positive_nodes(csr_matrix([[1.0, 0.0]]))
    >>> worst_slacks(tree, right, np.array([[0.0, 0.4, 0.1]])).round(2)
    array([0.7])
    """
    slacks = np.zeros(scores.shape[0])
    is_right = right.toarray() > 0
    for node in tree.inner:
        rows, children = np.flatnonzero(is_right[:, node]), tree.children(node)
        of_right, of_node = is_right[rows][:, children], scores[rows][:, children]
        lowest = np.where(of_right, of_node, np.inf).min(axis=1)
        highest = np.where(of_right, -np.inf, of_node).max(axis=1)
        slacks[rows] = np.maximum(slacks[rows], 1.0 + highest - lowest)
    return slacks


def readings(trial: Trial, source: Source) -> Iterator[tuple[Trial, Figures]]:
    """Train a method as printed, on rows as they are or on a row for each of their labels."""
    split = source.split(trial.corpus).held_out()
    X, Y = split.X, split.Y
    if trial.variant == page.ROW_PER_LABEL:
        X, Y = row_per_label(X, Y)
    model: Any = make(random_state=trial.seed, n_threads=1, **trial.parameters)
    model.fit(X, Y)
    found = metrics.evaluate(split.Y_test, model.predict_topk(split.X_test, 5), ks=(1, 3, 5))
    precision = {name: found[name] for name in ("P@1", "P@3", "P@5")}
    yield trial, {"n_train": X.shape[0], **precision}


def row_per_label(X: csr_matrix, Y: csr_matrix) -> tuple[csr_matrix, csr_matrix]:
    """Return each row as often as it has labels, each time with one of them.

    >>> row_per_label(csr_matrix([[5.0], [7.0]]), csr_matrix([[1, 0, 1], [0, 1, 0]]))[0].toarray()
    array([[5.],
           [5.],
           [7.]])
    """
    rows = np.repeat(np.arange(Y.shape[0]), np.diff(Y.indptr))
    one_each = (Y.data, Y.indices, np.arange(Y.nnz + 1))
    return csr_matrix(X[rows]), csr_matrix(one_each, shape=(Y.nnz, Y.shape[1]))


STUDY = Study(
    "label_trees",
    {
        "systems": Part(trials(), measure),
        "readings": Part(
            [
                Trial("readings", page.READ, reading, {"name": method, "preset": "paper"})
                for method in page.OURS
                for reading in page.READINGS
            ],
            readings,
        ),
        "changes": Part(
            [
                Trial("changes", corpus, change, {"name": method, **told})
                for corpus in N_LABELS
                for method, some in CHANGES.items()
                for change, told in some.items()
            ],
            changes,
        ),
        "sequence": Part(sequence.trials(tuple(N_LABELS)), sequence.measure),
        "objective": Part(
            [
                Trial("objective", corpus, passes, {**OBJECTIVE, "max_iter": n_passes})
                for corpus in N_LABELS
                for passes, n_passes in PASSES.items()
            ],
            objective,
        ),
    },
    page.PAGE,
    page.tables,
    page.draw,
)
