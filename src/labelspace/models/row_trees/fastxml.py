"""FastXML: trees of rows whose splits make rankings of labels good.

Prabhu and Varma (2014) divide rows, not labels. At each node the rows take two sides such that one
ranking of labels on each side suits its rows as well as possible, and a sparse hyperplane learns to
tell the sides apart. With δ_i = ±1 the side of row i, r^± the rankings and w the hyperplane,

    min  ‖w‖₁ + C Σ_i log(1 + e^{−δ_i w·x_i}) − Σ_i nDCG(r^{δ_i}, y_i)

is solved in turn: first sides and rankings, until no row wants to change, then the hyperplane. A
node with few rows is a leaf, which knows the shares of its labels; the trees differ in the sides
that rows begin with, and a label's score is the mean of its shares in the leaves a row comes to.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.utils import check_random_state

from labelspace.base import LabelRanker
from labelspace.models.row_trees.settings import FastXMLSettings
from labelspace.parameters import Settings, one_of
from labelspace.row_forest.forest import RowForest, grow_trees
from labelspace.selection import best_of
from labelspace.store import schema
from labelspace.topk import TopK

# Trees that say which way to scale rows is better.
TRIED_TREES = 8
_TURNED = ("n_trees", "C", "leaf_size", "leaf_labels", "idf", "normalize")


class FastXML(LabelRanker):
    """Trees of rows with sparse linear splits that make the rankings of both sides good.

    Parameters that are None take the value of the preset; the values of "best" are given first,
    those of "paper" in brackets.

    Parameters
    ----------
    preset : {"best", "paper"}, default="best"
        "best" is what measures best; "paper" has the defaults of the original program.
    n_trees : int, optional
        Trees that answer together: 50 (50).
    C : float or "auto", optional
        Weight of the logistic loss against the length of a hyperplane's weights: auto (1). Larger
        makes deeper trees and larger models. "auto" is 2 for rows of length one, 0.5 for others.
    leaf_size : int, optional
        A node with at most so many rows is a leaf: 10 (10).
    leaf_labels : int, optional
        Labels that a leaf keeps at most: 100 (100).
    idf : bool or "auto", optional
        Whether features are weighted by inverse document frequency; "auto" (no) does so where all
        are whole numbers: 0-1 features or counts.
    normalize : bool or "auto", optional
        Whether rows are scaled to length one: auto (no, as they come). "auto" tries both, without
        ``idf`` if not, on 5,000 rows and takes what ranks a held-out fifth of them better.
    settings : dict or FastXMLSettings, optional
        Everything else that can be told: see
        :class:`labelspace.models.row_trees.settings.FastXMLSettings`.
    k, threshold, random_state, n_threads
        As in every estimator; see :class:`labelspace.base.LabelRanker`. A score is the mean share
        of the label in the leaves, from 0 to 1.

    Attributes
    ----------
    forest_ : RowForest
        The trees, ready to be asked.
    settings_ : FastXMLSettings
        The settings as preset and parameters have made them.

    Examples
    --------
    >>> from labelspace.models import FastXML
    >>> X = [[1.0, 0.0], [0.9, 0.2], [0.0, 1.0], [0.1, 0.8]]
    >>> model = FastXML(leaf_size=2, random_state=0)
    >>> model = model.fit(X, [["red"], ["red"], ["round"], ["round"]])
    >>> model.classes_[model.predict_topk([[0.7, 0.1]], k=1).labels]
    array([['red']], dtype='<U5')
    """

    settings_type: ClassVar[type[Settings]] = FastXMLSettings
    settings_: FastXMLSettings

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LabelRanker._parameter_constraints,
        **{name: [*FastXMLSettings.rules[name], None] for name in _TURNED},
        "preset": [one_of(*FastXMLSettings.presets)],
    }

    _schema: ClassVar[schema.Schema] = {
        "settings_": schema.part("FastXMLSettings"),
        "rows_": schema.part("UnitRows", n_features="n_features"),
        "forest_": schema.part("RowForest", n_features="n_features", n_labels="n_labels"),
    }

    def __init__(
        self,
        *,
        preset: Literal["best", "paper"] = "best",
        n_trees: int | None = None,
        C: float | Literal["auto"] | None = None,
        leaf_size: int | None = None,
        leaf_labels: int | None = None,
        idf: bool | Literal["auto"] | None = None,
        normalize: bool | Literal["auto"] | None = None,
        settings: Mapping[str, Any] | FastXMLSettings | None = None,
        k: int = 5,
        threshold: float | None = None,
        random_state: Any = None,
        n_threads: int | None = None,
    ) -> None:
        super().__init__(k=k, threshold=threshold, random_state=random_state, n_threads=n_threads)
        self.preset = preset
        self.n_trees = n_trees
        self.C = C
        self.leaf_size = leaf_size
        self.leaf_labels = leaf_labels
        self.idf = idf
        self.normalize = normalize
        self.settings = settings

    def _fit(self, X: csr_matrix, Y: csr_matrix) -> None:
        self.settings_ = self._resolved(X, Y)
        random = check_random_state(self.random_state)
        self.settings_ = told = self._chosen_rows(X, Y, random.randint(2**31))
        seeds = random.randint(2**31, size=told.n_trees).tolist()
        self.rows_ = told.new_rows().learn(X)
        self._grow(self.rows_.encode(X), Y, seeds)

    def _chosen_rows(self, X: csr_matrix, Y: csr_matrix, seed: int) -> FastXMLSettings:
        """Return the settings with what is "auto" in them decided, on rows held out."""
        options = self.settings_.options()

        def answer(choice: float, X: csr_matrix, Y: csr_matrix, X_new: csr_matrix, k: int) -> TopK:
            told = options[int(choice)]
            rows = told.new_rows().learn(X)
            forest = self._forest(rows.encode(X), Y, told, list(range(TRIED_TREES)))
            return forest.rank(rows.encode(X_new), k)

        if len(options) == 1:
            return options[0]
        return options[int(best_of(tuple(range(len(options))), answer, X, Y, seed=seed).choice)]

    def _grow(self, Z: csr_matrix, Y: csr_matrix, seeds: list[int]) -> None:
        self.forest_ = self._forest(Z, Y, self.settings_, seeds)

    def _forest(
        self, Z: csr_matrix, Y: csr_matrix, told: FastXMLSettings, seeds: list[int]
    ) -> RowForest:
        trees = grow_trees(
            *(Z, Y, told.growth, seeds), gains=self._gains(Y), n_threads=self.n_threads
        )
        return RowForest(trees, Z.shape[1], Y.shape[1])

    def _gains(self, Y: csr_matrix) -> NDArray[np.float64]:
        """Return what it is worth to have each label right."""
        return np.ones(Y.shape[1])

    def _predict_topk(self, X: csr_matrix, k: int) -> TopK:
        return self._filled(self.forest_.rank(self.rows_.encode(X), k))
