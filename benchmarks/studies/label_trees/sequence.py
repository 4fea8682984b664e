"""Part ``sequence``: what the convex problems of the embeddings end at, and what would mend them.

On one in five of the training rows, held out. The objective is that of the problem of W as printed,
γ‖W‖² + (1/m) Σ ξ_i, which needs no test rows; beside it is that of W = 0, above which nobody who
learns should be. Changes that no setting has are made here: they were tried and are not offered.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from benchmarks.measure import Stopwatch
from benchmarks.studies.label_trees.changes import (
    MOST_COMMON,
    SEQUENCES,
    TREE_SEQUENCES,
)
from benchmarks.studies.label_trees.samples import read
from benchmarks.studies.source import Source
from benchmarks.studies.study import Figures, Trial
from labelspace import metrics
from labelspace.graph.tree import Tree, flat_tree
from labelspace.models import LabelEmbedding, MostCommon, make
from labelspace.models.label_trees.node_embedding import NodeEmbeddingSettings


class ChangedSequence(LabelEmbedding):
    """The sequence with other constraints, or with eigenmaps' vectors scaled to length one."""

    training: dict[str, Any]
    unit_vectors: bool

    def _training(self, Y: csr_matrix) -> NodeEmbeddingSettings:
        return replace(super()._training(Y), **self.training)

    def _places(self, alike: csr_matrix | None, seed: int) -> NDArray[np.float32]:
        places = super()._places(alike, seed)
        if not self.unit_vectors:
            return places
        lengths = np.linalg.norm(places, axis=1, keepdims=True)
        return np.divide(places, lengths, out=np.zeros_like(places), where=lengths > 0)


def measure(trial: Trial, source: Source) -> Iterator[tuple[Trial, Figures]]:
    """Learn from four fifths of the training rows and ask the others."""
    split = read(trial.corpus, source).held_out()
    model = _model(trial)
    with Stopwatch() as training:
        model.fit(split.X, split.Y)
    found = metrics.evaluate(split.Y_test, model.predict_topk(split.X_test, 5), ks=(1, 3, 5))
    figures = {name: found[name] for name in ("P@1", "P@3", "P@5")}
    figures["train_cpu_s"] = training.cpu_s
    if trial.parameters.get("preset") == "paper" and "training" not in trial.parameters:
        figures |= objective(model, split.X, split.Y)
    yield trial, figures


def _model(trial: Trial) -> Any:
    if trial.variant == MOST_COMMON:
        return MostCommon()
    told: dict[str, Any] = dict(trial.parameters)
    name = told.pop("name")
    told |= {"random_state": trial.seed, "n_threads": 1}
    if "training" not in told:
        return make(name, **told)
    training, unit_vectors = told.pop("training"), told.pop("unit_vectors", False)
    model = ChangedSequence(**told)
    model.training, model.unit_vectors = training, unit_vectors
    return model


def objective(model: Any, X: csr_matrix, Y: csr_matrix) -> Figures:
    """Return γ‖W‖² + (1/m) Σ ξ_i of a sequence that has been learned, its mean ξ, and at W = 0."""
    if isinstance(model, LabelEmbedding):
        tree = flat_tree(model.labels_.ids, Y.shape[1])
        keys = np.concatenate((np.zeros_like(model.labels_.keys[:1]), model.labels_.keys))
        vectors, biases = keys[:, :-1], keys[:, -1]
    else:
        tree, vectors, biases = model.tree_, model.index_.vectors, model.index_.biases
    right = tree.positive_nodes(csr_matrix(Y))
    Z = model.encoder_.encode(model.rows_.encode(csr_matrix(X, dtype=np.float32)))
    lacking = mean_slack(tree, right, Z, vectors, biases)
    weights = model.encoder_.to_float().astype(np.float64)
    length = model.settings_.decay * float(np.square(weights).sum())
    at_zero = mean_slack(tree, right, np.zeros_like(Z), vectors, biases)
    return {"slack": lacking, "objective": length + lacking, "objective_at_zero": at_zero}


def mean_slack(
    tree: Tree,
    right: csr_matrix,
    Z: NDArray[np.float32],
    vectors: NDArray[np.float32],
    biases: NDArray[np.float32],
) -> float:
    """Return (1/m) Σ ξ_i: by how much a row is farther from a right node than from a sibling.

    >>> tree = flat_tree(np.arange(2), 2)
    >>> right = tree.positive_nodes(csr_matrix([[1.0, 0.0]]))
    >>> V = np.array([[0.0], [1.0], [-1.0]])
    >>> mean_slack(tree, right, np.array([[-0.5]]), V, -0.5 * np.square(V).sum(axis=1))
    2.0
    """
    slacks = np.zeros(Z.shape[0])
    for node in tree.inner:
        children = tree.children(node)
        rows = np.flatnonzero(right[:, [node]].toarray()) if node else np.arange(Z.shape[0])
        for some in np.array_split(rows, max(1, rows.size // 2000)):
            # Half of the difference of squared distances is that of z·V − ½‖V‖².
            scores = Z[some] @ vectors[children].T + biases[children]
            is_right = right[some][:, children].toarray() > 0
            lowest = np.where(is_right, scores, np.inf).min(axis=1)
            highest = np.where(is_right, -np.inf, scores).max(axis=1)
            slacks[some] = np.maximum(slacks[some], 2.0 * (highest - lowest))
    return float(slacks.mean())


def trials(corpora: tuple[str, ...]) -> list[Trial]:
    """Return all variants of the embedding, then those of the tree, for each corpus."""
    found = []
    for variant, told in SEQUENCES.items():
        for corpus in corpora:
            name = {} if variant == MOST_COMMON else {"name": "label-embedding"}
            found.append(Trial("sequence", corpus, variant, {**name, **told}))
            if variant in TREE_SEQUENCES:
                told_tree = {"name": "label-embedding-tree", **told}
                found.append(Trial("sequence", corpus, variant, told_tree))
    return found
