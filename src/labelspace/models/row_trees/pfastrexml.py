"""PfastreXML: FastXML's trees with gains that rare labels are worth, and a second look.

Jain, Prabhu and Varma (2016) take labels that are missing by chance into account: a label that is
seen with propensity p_l counts 1/p_l, in the splits and in the leaves. Trees still favour frequent
labels, so the candidates are ranked again with the distance of the row from the middle of the
label's rows, which suits labels with few of them:

    score(l | x) = tree_l(x)^α · ( 1/(1 + e^{γ ‖x − μ_l‖²}) )^{1 − α}

with x of length one and μ_l the mean of such rows, itself scaled to length one or not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.encoders.unit_rows import UnitRows
from labelspace.graph.centroids import label_centroids
from labelspace.metrics import inverse_propensity
from labelspace.models.row_trees.fastxml import TRIED_TREES, FastXML
from labelspace.models.row_trees.rescoring import candidate_products, reordered
from labelspace.models.row_trees.settings import PfastreXMLSettings
from labelspace.parameters import Settings
from labelspace.selection import best_of
from labelspace.store import schema
from labelspace.topk import TopK

_TURNED = ("alpha", "gamma")
# What trees may count, the usual first.
_ALPHAS = (0.8, 0.9, 0.95, 1.0)
_LOWEST = -80.0  # the logarithm of what trees have not seen at all; e^_LOWEST is a float32


class PfastreXML(FastXML):
    """Trees of rows with gains by propensity, ranked again by label centroids.

    The default is not quite the paper's method: splits are by nDCG, centroids have length one, and
    what the trees count against the centroids is chosen on rows held out.

    Parameters that are None take the value of the preset; the values of "best" are given first,
    those of "paper" in brackets.

    Parameters
    ----------
    preset, n_trees, C, leaf_size, leaf_labels, idf, normalize
        As in :class:`labelspace.models.FastXML`.
    alpha : float or "auto", optional
        α: what the trees' scores count against the centroids': auto (0.8). 1 leaves centroids out.
        "auto" takes what ranks rows held out best of 0.8, 0.9, 0.95 and 1.
    gamma : float, optional
        γ: how fast a label's score falls with the squared distance from its centroid: 15 (30).
    settings : dict or PfastreXMLSettings, optional
        Everything else that can be told: see
        :class:`labelspace.models.row_trees.settings.PfastreXMLSettings`.
    k, threshold, random_state, n_threads
        As in every estimator; see :class:`labelspace.base.LabelRanker`.

    Attributes
    ----------
    forest_ : RowForest
        The trees, ready to be asked.
    centroids_ : csr_matrix of shape (n_labels_, n_features_in_)
        Vectors in the middle of each label's rows.
    centroid_squares_ : ndarray of shape (n_labels_,)
        Their squared lengths.
    settings_ : PfastreXMLSettings
        The settings as preset and parameters have made them.

    Examples
    --------
    >>> from labelspace.models import PfastreXML
    >>> X = [[1.0, 0.0], [0.9, 0.2], [0.0, 1.0], [0.1, 0.8]]
    >>> model = PfastreXML(leaf_size=2, random_state=0)
    >>> model = model.fit(X, [["red"], ["red"], ["round"], ["round"]])
    >>> model.classes_[model.predict_topk([[0.7, 0.1]], k=1).labels]
    array([['red']], dtype='<U5')
    """

    settings_type: ClassVar[type[Settings]] = PfastreXMLSettings
    settings_: PfastreXMLSettings

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **FastXML._parameter_constraints,
        **{name: [*PfastreXMLSettings.rules[name], None] for name in _TURNED},
    }

    _schema: ClassVar[schema.Schema] = {
        "settings_": schema.part("PfastreXMLSettings"),
        "centroids_": schema.csr("float32", "n_labels", "n_features"),
        "centroid_squares_": schema.array("float32", "n_labels"),
    }

    def __init__(
        self,
        *,
        preset: Literal["best", "paper"] = "best",
        n_trees: int | None = None,
        C: float | None = None,
        leaf_size: int | None = None,
        leaf_labels: int | None = None,
        alpha: float | Literal["auto"] | None = None,
        gamma: float | None = None,
        idf: bool | Literal["auto"] | None = None,
        normalize: bool | None = None,
        settings: Mapping[str, Any] | PfastreXMLSettings | None = None,
        k: int = 5,
        threshold: float | None = None,
        random_state: Any = None,
        n_threads: int | None = None,
    ) -> None:
        super().__init__(
            preset=preset,
            n_trees=n_trees,
            C=C,
            leaf_size=leaf_size,
            leaf_labels=leaf_labels,
            idf=idf,
            normalize=normalize,
            settings=settings,
            k=k,
            threshold=threshold,
            random_state=random_state,
            n_threads=n_threads,
        )
        self.alpha = alpha
        self.gamma = gamma

    def _grow(self, Z: csr_matrix, Y: csr_matrix, seeds: list[int]) -> None:
        if self.settings_.alpha == "auto":
            self.settings_ = replace(self.settings_, alpha=self._best_alpha(Z, Y, seeds))
        super()._grow(Z, Y, seeds)
        self.centroids_, self.centroid_squares_ = self._middles(Z, Y)

    def _middles(self, Z: csr_matrix, Y: csr_matrix) -> tuple[csr_matrix, NDArray[np.float32]]:
        """Return the labels' centroids and their squared lengths."""
        told = self.settings_
        centroids = label_centroids(_unit(Z), Y, told.centroid_features, unit=told.unit_centroids)
        if told.unit_centroids:
            return centroids, np.ones(Y.shape[1], dtype=np.float32)
        squares = np.asarray(centroids.multiply(centroids).sum(axis=1), dtype=np.float32).ravel()
        return centroids, squares

    def _best_alpha(self, Z: csr_matrix, Y: csr_matrix, seeds: list[int]) -> float:
        grown: dict[int, Any] = {}

        def answer(alpha: float, Z: csr_matrix, Y: csr_matrix, Z_new: csr_matrix, k: int) -> TopK:
            if not grown:  # the same trees for all
                grown[0] = self._forest(Z, Y, self.settings_, seeds[:TRIED_TREES])
                grown[1] = self._middles(Z, Y)
            found = grown[0].rank(Z_new, min(max(k, self.settings_.n_reranked), Y.shape[1]))
            centroids, squares = grown[1]
            return self._ranked_again(found, Z_new, centroids, squares, alpha, k)

        return best_of(_ALPHAS, answer, Z, Y, seed=seeds[0]).choice

    def _gains(self, Y: csr_matrix) -> NDArray[np.float64]:
        told = self.settings_
        return inverse_propensity(
            np.bincount(Y.indices, minlength=Y.shape[1]), Y.shape[0], A=told.A, B=told.B
        )

    def _predict_topk(self, X: csr_matrix, k: int) -> TopK:
        told, Z = self.settings_, self.rows_.encode(X)
        found = self._filled(self.forest_.rank(Z, min(max(k, told.n_reranked), self.n_labels_)))
        return self._ranked_again(
            found, Z, self.centroids_, self.centroid_squares_, float(told.alpha), k
        )

    def _ranked_again(
        self,
        found: TopK,
        Z: csr_matrix,
        centroids: csr_matrix,
        squares: NDArray[np.float32],
        alpha: float,
        k: int,
    ) -> TopK:
        """Return what trees have found in the order of both scores."""
        if alpha == 1.0:
            return found.first(k)
        products = candidate_products(_unit(Z), found.labels, centroids)
        with np.errstate(divide="ignore", invalid="ignore"):
            by_trees = np.maximum(np.log(found.scores), _LOWEST)
        # ‖x − μ‖² of a unit vector x is 1 + ‖μ‖² − 2 x·μ.
        distances = 1.0 + squares[found.labels] - 2.0 * products
        by_centroid = -np.logaddexp(0.0, self.settings_.gamma * distances)
        scores = np.exp(alpha * by_trees + (1.0 - alpha) * by_centroid)
        return reordered(found.labels, scores.astype(np.float32), k)


def _unit(Z: csr_matrix) -> csr_matrix:
    """Return rows of length one; those that are empty stay so."""
    return UnitRows(idf=False).encode(Z)
