"""Parabel: balanced trees of labels, a yes or no at each node, a few trees together.

Prabhu, Kag, Harsola, Agrawal and Varma (2018) halve the labels by the middles of their rows, again
and again, until a hundred are left. Each node and each label in a leaf learns, on the rows that
have a label of its parent, whether the row has one of its own, with a squared hinge; small weights
are cut. A label's score is the product over its path, here with p = e^{−max(0, 1 − w·x)²},

    score(l | x) = mean over trees of  Π_{nodes n on the way to l} p(n | x)

of which a beam search follows the ten best paths of each level.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.utils import check_random_state

from labelspace.base import LabelRanker
from labelspace.csr import empty_csr
from labelspace.encoders.unit_rows import UnitRows
from labelspace.linear.node_classifiers import train_node_classifiers
from labelspace.models.label_trees.halving_tree import halving_trees
from labelspace.models.label_trees.settings import ParabelSettings
from labelspace.parameters import FLAG, Settings, one_of
from labelspace.search.tree_beam import TreeIndex
from labelspace.selection import best_of
from labelspace.store import schema
from labelspace.threads import in_blocks
from labelspace.topk import TopK, topk_csr

_TURNED = ("n_trees", "leaf_size", "beam", "C", "min_weight")
# Labels of each tree that are added up, at least: one that a tree ranks low may win with others.
FOUND = 50


class Parabel(LabelRanker):
    """A few balanced trees of labels with a linear yes or no at each node.

    Parameters that are None take the value of the preset; the values of "best" are given first,
    those of "paper" in brackets.

    Parameters
    ----------
    preset : {"best", "paper"}, default="best"
        "best" is what measures best; "paper" has the defaults of the original program.
    n_trees : int, optional
        Trees that answer together: 3 (3).
    leaf_size : int, optional
        A node with at most so many labels has them as its children: 100 (100).
    beam : int, optional
        Nodes of each level that the search keeps: 10 (10).
    C : float or "auto", optional
        Weight of the training error against the length of the weights: auto (1). "auto" tries 0.3,
        for labels that people give freely, and 1, for clear-cut ones, on a sample of 5,000 rows,
        and takes what ranks a held-out fifth of it better.
    min_weight : float, optional
        Weights closer to zero are cut: 0.05 (0.1).
    idf : bool or "auto", optional
        Whether features are weighted by inverse document frequency: auto (no). "auto" does so where
        all are whole numbers: 0-1 features or counts.
    settings : dict or ParabelSettings, optional
        Everything else that can be told: see
        :class:`labelspace.models.label_trees.settings.ParabelSettings`.
    k, threshold, random_state, n_threads
        As in every estimator; see :class:`labelspace.base.LabelRanker`. Scores are means over
        trees of products of a path's steps, from 0 to 1.

    Attributes
    ----------
    indexes_ : list of TreeIndex
        The trees with their predictors, ready to be walked.
    settings_ : ParabelSettings
        The settings as preset and parameters have made them.
    C_ : float
        The C that was used.

    Examples
    --------
    >>> from labelspace.models import Parabel
    >>> X = [[1.0, 0.0], [0.9, 0.2], [0.0, 1.0], [0.1, 0.8]]
    >>> model = Parabel(random_state=0).fit(X, [["red"], ["red"], ["round"], ["round"]])
    >>> model.classes_[model.predict_topk([[0.7, 0.1]], k=1).labels]
    array([['red']], dtype='<U5')
    """

    settings_type: ClassVar[type[Settings]] = ParabelSettings
    settings_: ParabelSettings

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LabelRanker._parameter_constraints,
        **{name: [*ParabelSettings.rules[name], None] for name in _TURNED},
        "preset": [one_of(*ParabelSettings.presets)],
        "idf": [FLAG, one_of("auto"), None],
    }

    _schema: ClassVar[schema.Schema] = {
        "settings_": schema.part("ParabelSettings"),
        "rows_": schema.part("UnitRows", n_features="n_features"),
        "indexes_": schema.list_of(
            schema.part("TreeIndex", n_labels="n_labels", features_end=schema.up_to("n_features")),
            least=1,
        ),
        "C_": schema.number(0),
    }

    def __init__(
        self,
        *,
        preset: Literal["best", "paper"] = "best",
        n_trees: int | None = None,
        leaf_size: int | None = None,
        beam: int | None = None,
        C: float | Literal["auto"] | None = None,
        min_weight: float | None = None,
        idf: bool | Literal["auto"] | None = None,
        settings: Mapping[str, Any] | ParabelSettings | None = None,
        k: int = 5,
        threshold: float | None = None,
        random_state: Any = None,
        n_threads: int | None = None,
    ) -> None:
        super().__init__(k=k, threshold=threshold, random_state=random_state, n_threads=n_threads)
        self.preset = preset
        self.n_trees = n_trees
        self.leaf_size = leaf_size
        self.beam = beam
        self.C = C
        self.min_weight = min_weight
        self.idf = idf
        self.settings = settings

    def _fit(self, X: csr_matrix, Y: csr_matrix) -> None:
        self.settings_ = told = self._resolved(X, Y)
        self.rows_ = UnitRows(idf=self._idf, norm=told.normalize).learn(X)
        Z = self.rows_.encode(X)
        random = check_random_state(self.random_state)
        seeds = random.randint(2**31, size=told.n_trees).tolist()
        self.C_ = self._best_C(Z, Y, seeds[:1]) if told.C == "auto" else float(told.C)
        self.indexes_ = self._train(Z, Y, self.C_, seeds)

    @property
    def _idf(self) -> bool | Literal["auto"]:
        """Whether features are weighted: the original program takes them as they are."""
        if self.idf is None:
            return False if self.preset == "paper" else "auto"
        return self.idf

    def _train(self, Z: csr_matrix, Y: csr_matrix, C: float, seeds: list[int]) -> list[TreeIndex]:
        """Return a tree with predictors for each seed."""
        told, indexes = self.settings_, []
        trees = halving_trees(
            *(Z, Y, seeds), leaf_size=told.leaf_size, centroid_features=told.centroid_features
        )
        for tree, seed in zip(trees, seeds, strict=True):
            trained = train_node_classifiers(
                *(Z, tree, tree.positive_nodes(Y)),
                C=C,
                tol=told.tol,
                max_iter=told.max_iter,
                min_weight=told.min_weight,
                n_threads=self.n_threads,
                seed=seed,
            )
            index = TreeIndex(tree, trained.weights, trained.biases, link="squared_hinge")
            indexes.append(index)
        return indexes

    def _best_C(self, Z: csr_matrix, Y: csr_matrix, seeds: list[int]) -> float:
        def answer(C: float, Z: csr_matrix, Y: csr_matrix, Z_new: csr_matrix, k: int) -> TopK:
            return self._train(Z, Y, C, seeds)[0].search(Z_new, k, self.settings_.beam).top

        return best_of((1.0, 0.3), answer, Z, Y, seed=seeds[0]).choice

    def _predict_topk(self, X: csr_matrix, k: int) -> TopK:
        n_found, beam = min(max(k, FOUND), self.n_labels_), self.settings_.beam

        def answer(Z: csr_matrix) -> TopK:
            total = empty_csr(Z.shape[0], self.n_labels_)
            for index in self.indexes_:
                total = total + _probabilities(index.search(Z, n_found, beam).top, self.n_labels_)
            return topk_csr(csr_matrix(total / np.float32(len(self.indexes_))), k)

        return TopK.stack(in_blocks(answer, self.rows_.encode(X), self.n_threads))


def _probabilities(top: TopK, n_labels: int) -> csr_matrix:
    """Return what a tree found as a matrix of probabilities; those too small for a float stay."""
    found = top.labels >= 0
    indptr = np.concatenate(([0], np.cumsum(found.sum(axis=1))))
    least = np.finfo(np.float32).tiny
    data = np.maximum(np.exp(top.scores[found]), least)
    return csr_matrix((data, top.labels[found], indptr), shape=(len(top), n_labels))
