"""LPSR: a tree of rows says which labels are worth a score, and a scorer ranks those.

Weston, Makadia and Yee (2013) make a scorer of all labels quick without changing it: rows are
divided by hierarchical k-means, each part keeps the labels that matter there, and a row is scored
for the labels of its part only. Rows that the scorer gets right weigh more, since only those can be
kept right. For a row x in part p with labels D_p,

    answer(x) = the best of { l ∈ D_p } by w_l·x,     D_p = most of Σ_{i ∈ p} v_i y_il

where v_i is how well the scorer ranks the labels of row i. The scorer is one-vs-all or naive Bayes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack
from sklearn.utils import check_random_state

from labelspace.base import LabelRanker
from labelspace.encoders.unit_rows import UnitRows
from labelspace.linear.squared_hinge import train_squared_hinge
from labelspace.metrics import hits
from labelspace.models.row_trees.rescoring import candidate_products, reordered
from labelspace.models.row_trees.settings import LPSRSettings
from labelspace.parameters import FLAG, Settings, one_of
from labelspace.row_forest.forest import RowForest, grow_trees
from labelspace.search.sparse import SparseIndex
from labelspace.store import schema
from labelspace.threads import in_blocks
from labelspace.topk import TopK

_TURNED = ("scorer", "n_trees", "leaf_size", "leaf_labels", "C", "min_weight")
# Labels of a row that decide how much it weighs, and the least that it does.
_RANKED, _LEAST_WEIGHT = 5, 0.2


class LPSR(LabelRanker):
    """Parts of rows keep the labels that matter there, a scorer of labels ranks them.

    The default is not quite the paper's method: labels come from three divisions of the rows, put
    together, instead of one.

    Parameters that are None take the value of the preset; the values of "best" are given first,
    those of "paper" in brackets.

    Parameters
    ----------
    preset : {"best", "paper"}, default="best"
        "best" is what measures best; "paper" has one tree, as described by its authors.
    scorer : {"one-vs-all", "naive-bayes"}, optional
        What ranks the labels of a part: one-vs-all (one-vs-all).
    n_trees : int, optional
        Divisions of the rows, whose labels are put together: 3 (1).
    leaf_size : int, optional
        A part with at most so many rows is not divided further: 100 (100).
    leaf_labels : int, optional
        Labels that a part keeps at most: 100 (100).
    C : float, optional
        Of one-vs-all: weight of the training error against the length of the weights, 0.5 (1).
    min_weight : float, optional
        Of one-vs-all: weights closer to zero are cut, 0.05 (0).
    idf : bool or "auto", default="auto"
        Whether features are weighted by inverse document frequency; "auto" does so where all are
        whole numbers: 0-1 features or counts.
    settings : dict or LPSRSettings, optional
        Everything else that can be told: see
        :class:`labelspace.models.row_trees.settings.LPSRSettings`.
    k, threshold, random_state, n_threads
        As in every estimator; see :class:`labelspace.base.LabelRanker`. Scores are the scorer's.

    Attributes
    ----------
    forest_ : RowForest
        The parts and their labels.
    keys_ : csr_matrix of shape (n_labels_, n_features_in_ + 1)
        What the scorer knows of each label; the last column meets the sum of a row.
    offsets_ : ndarray of shape (n_labels_,)
    settings_ : LPSRSettings
        The settings as preset and parameters have made them.

    Examples
    --------
    >>> from labelspace.models import LPSR
    >>> X = [[1.0, 0.0], [0.9, 0.2], [0.0, 1.0], [0.1, 0.8]]
    >>> model = LPSR(random_state=0).fit(X, [["red"], ["red"], ["round"], ["round"]])
    >>> model.classes_[model.predict_topk([[0.7, 0.1]], k=1).labels]
    array([['red']], dtype='<U5')
    """

    settings_type: ClassVar[type[Settings]] = LPSRSettings
    settings_: LPSRSettings

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LabelRanker._parameter_constraints,
        **{name: [*LPSRSettings.rules[name], None] for name in _TURNED},
        "preset": [one_of(*LPSRSettings.presets)],
        "idf": [FLAG, one_of("auto")],
    }

    _schema: ClassVar[schema.Schema] = {
        "settings_": schema.part("LPSRSettings"),
        "rows_": schema.part("UnitRows", n_features="n_features"),
        "forest_": schema.part("RowForest", n_features="n_features", n_labels="n_labels"),
        "keys_": schema.csr("float32", "n_labels", schema.plus("n_features", 1)),
        "offsets_": schema.array("float32", "n_labels"),
    }

    def __init__(
        self,
        *,
        preset: Literal["best", "paper"] = "best",
        scorer: Literal["one-vs-all", "naive-bayes"] | None = None,
        n_trees: int | None = None,
        leaf_size: int | None = None,
        leaf_labels: int | None = None,
        C: float | None = None,
        min_weight: float | None = None,
        idf: bool | Literal["auto"] = "auto",
        settings: Mapping[str, Any] | LPSRSettings | None = None,
        k: int = 5,
        threshold: float | None = None,
        random_state: Any = None,
        n_threads: int | None = None,
    ) -> None:
        super().__init__(k=k, threshold=threshold, random_state=random_state, n_threads=n_threads)
        self.preset = preset
        self.scorer = scorer
        self.n_trees = n_trees
        self.leaf_size = leaf_size
        self.leaf_labels = leaf_labels
        self.C = C
        self.min_weight = min_weight
        self.idf = idf
        self.settings = settings

    def _fit(self, X: csr_matrix, Y: csr_matrix) -> None:
        self.settings_ = told = self._resolved(X, Y)
        random = check_random_state(self.random_state)
        seeds = random.randint(2**31, size=told.n_trees + 1).tolist()
        self.rows_ = UnitRows(idf=self.idf, norm=told.normalize).learn(X)
        Z = self.rows_.encode(X)
        self.keys_, self.offsets_ = self._train(Z, Y, seeds[0])
        scored = SparseIndex(self.keys_, self.offsets_).search(with_sums(Z), _RANKED)
        trees = grow_trees(
            *(Z, Y, told.growth, seeds[1:]),
            row_weights=row_weights(Y, scored),
            n_threads=self.n_threads,
        )
        self.forest_ = RowForest(trees, Z.shape[1], Y.shape[1])

    def _train(
        self, Z: csr_matrix, Y: csr_matrix, seed: int
    ) -> tuple[csr_matrix, NDArray[np.float32]]:
        told = self.settings_
        if told.scorer == "naive-bayes":
            return naive_bayes(Z, Y, told.smoothing)
        weights, biases, _ = train_squared_hinge(
            *(Z, Y),
            C=told.C,
            min_weight=told.min_weight,
            n_threads=self.n_threads,
            seed=seed,
        )
        wider = csr_matrix(
            (weights.data, weights.indices, weights.indptr), shape=(Y.shape[1], Z.shape[1] + 1)
        )
        return wider, biases

    def _predict_topk(self, X: csr_matrix, k: int) -> TopK:
        most = min(max(k, self.settings_.leaf_labels * self.settings_.n_trees), self.n_labels_)

        def answer(Z: csr_matrix) -> TopK:
            labels = self._filled(self.forest_.rank(Z, most)).labels
            scores = candidate_products(with_sums(Z), labels, self.keys_)
            return reordered(labels, scores + self.offsets_[labels], k)

        return TopK.stack(in_blocks(answer, self.rows_.encode(X), self.n_threads))


def row_weights(Y: csr_matrix, top: TopK) -> NDArray[np.float64]:
    """Return how well each row's labels are ranked: P@k for as many as it has, 0.2 at least.

    >>> Y = csr_matrix([[1, 1, 0], [0, 0, 1]])
    >>> top = TopK(np.array([[0, 1], [0, 1]]), np.zeros((2, 2), dtype=np.float32))
    >>> row_weights(Y, top)
    array([1. , 0.2])
    """
    most = np.clip(np.diff(Y.indptr), 1, top.k)
    right = hits(Y, top) & (np.arange(top.k) < most[:, np.newaxis])
    return np.maximum(right.sum(axis=1) / most, _LEAST_WEIGHT)


def naive_bayes(
    Z: csr_matrix, Y: csr_matrix, smoothing: float
) -> tuple[csr_matrix, NDArray[np.float32]]:
    """Return multinomial naive Bayes as sparse keys and offsets.

    With n_lf the sum of feature f over the rows of label l, a feature's log probability is
    log(n_lf + a) − log(n_l + a·d). What a feature that the label has not seen would add is the same
    for all of them, so it meets the sum of the row in the last column, and only what is seen is
    stored.

    >>> rows = csr_matrix([[1.0, 0.0], [0.0, 1.0]])
    >>> keys, offsets = naive_bayes(rows, csr_matrix(np.eye(2)), 1.0)
    >>> (with_sums(csr_matrix([[1.0, 0.0]])) @ keys.T).toarray().round(2)
    array([[-0.41, -1.1 ]], dtype=float32)
    """
    seen = csr_matrix(Y.T @ Z, dtype=np.float64)
    totals = np.asarray(seen.sum(axis=1)).ravel() + smoothing * Z.shape[1]
    unseen = np.log(smoothing / totals).astype(np.float32)
    values = np.log1p(np.maximum(seen.data, 0.0) / smoothing).astype(np.float32)
    n_labels, n_features = seen.shape
    indptr = seen.indptr + np.arange(n_labels + 1)
    last = indptr[1:] - 1
    is_seen = np.ones(indptr[-1], dtype=np.bool_)
    is_seen[last] = False
    data, indices = np.empty(indptr[-1], dtype=np.float32), np.empty(indptr[-1], dtype=np.int32)
    data[is_seen], data[last] = values, unseen
    indices[is_seen], indices[last] = seen.indices, n_features
    keys = csr_matrix((data, indices, indptr), shape=(n_labels, n_features + 1))
    counts = np.bincount(Y.indices, minlength=n_labels)
    return keys, np.log((counts + smoothing) / (Y.shape[0] + smoothing)).astype(np.float32)


def with_sums(Z: csr_matrix) -> csr_matrix:
    """Return rows with their sum as a last column.

    >>> with_sums(csr_matrix([[1.0, 2.0], [0.0, 0.0]])).toarray()
    array([[1., 2., 3.],
           [0., 0., 0.]], dtype=float32)
    """
    sums = np.asarray(Z.sum(axis=1), dtype=np.float32)
    return csr_matrix(hstack([Z, csr_matrix(sums)], format="csr"), dtype=np.float32)
