"""One linear classifier per label, all labels against all rows (DiSMEC).

Each label learns, on its own, weights that separate its rows from all others; weights near zero
are cut afterwards, which makes the model small and hardly changes an answer. Babbar and
Schölkopf's DiSMEC (2017) showed that this plain method is among the most accurate at extreme
scale. For label l, with y_i = ±1,

    w_l = argmin_w ½‖w‖² + C Σ_i max(0, 1 − y_i w·x_i)²,   score of l for x = w_l·x
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.utils import check_random_state

from labelspace.base import LabelRanker
from labelspace.csr import dense_tail
from labelspace.encoders.unit_rows import UnitRows
from labelspace.explain import by_features
from labelspace.explanation import Explanation
from labelspace.linear.squared_hinge import train_squared_hinge
from labelspace.parameters import FLAG, Span, Tunable, one_of, real, whole
from labelspace.search.sparse import SparseIndex
from labelspace.selection import best_of
from labelspace.store import schema
from labelspace.topk import TopK


class OneVsAll(LabelRanker):
    """A linear classifier per label, with squared hinge loss and small weights cut.

    Parameters
    ----------
    C : float or "auto", default="auto"
        Weight of the training error against the length of the weights: larger fits closer.
        "auto" tries 0.3, for labels that people give freely, and 1.0, for clear-cut ones, on a
        sample of 5,000 rows, and takes what ranks a held-out fifth of it better.
    min_weight : float, default=0.05
        Weights closer to zero are cut. 0 keeps all; twice as much makes the model about half as
        large.
    idf : bool, default=False
        Whether features are weighted by inverse document frequency: for 0-1 features or counts.
    normalize : bool, default=True
        Whether rows are scaled to length one.
    tol : float, default=0.1
        How exactly the classifiers are trained: the violation of a margin of 1 that is let pass.
    max_iter : int, default=1000
        Passes over a label's working set at most.
    k, threshold, random_state, n_threads
        As in every estimator; see :class:`labelspace.base.LabelRanker`. A score above 0 means
        that the label's classifier says yes.

    Attributes
    ----------
    C_ : float
        The C that was used.
    coef_ : csr_matrix of shape (n_labels_, n_features_in_)
        The weights that were kept.
    intercept_ : ndarray of shape (n_labels_,)
    n_iter_ : int
        The most passes that a label took.

    Examples
    --------
    >>> from labelspace.models import OneVsAll
    >>> X = [[1.0, 0.0], [0.9, 0.2], [0.0, 1.0], [0.1, 0.8]]
    >>> model = OneVsAll(random_state=0).fit(X, [["red"], ["red"], ["round"], ["round"]])
    >>> model.classes_[model.predict_topk([[0.7, 0.1]], k=1).labels]
    array([['red']], dtype='<U5')
    >>> model.explain([[0.7, 0.1]], k=1)[0][0].reasons[0].id
    0
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LabelRanker._parameter_constraints,
        "C": [real(0), one_of("auto")],
        "min_weight": [real(0, closed="left")],
        "idf": [FLAG],
        "normalize": [FLAG],
        "tol": [real(0)],
        "max_iter": [whole()],
    }

    tunable: ClassVar[Tunable] = {
        "C": Span(0.1, 10.0),
        "min_weight": (0.0, 0.02),
        "idf": (True,),
    }

    _schema: ClassVar[schema.Schema] = {
        "rows_": schema.part("UnitRows", n_features="n_features"),
        "C_": schema.number(0),
        "index_": schema.part("SparseIndex", n_features="n_features", n_keys="n_labels"),
        "n_iter_": schema.integer(),
    }

    def __init__(
        self,
        *,
        C: float | Literal["auto"] = "auto",
        min_weight: float = 0.05,
        idf: bool = False,
        normalize: bool = True,
        tol: float = 0.1,
        max_iter: int = 1000,
        k: int = 5,
        threshold: float | None = None,
        random_state: Any = None,
        n_threads: int | None = None,
    ) -> None:
        super().__init__(k=k, threshold=threshold, random_state=random_state, n_threads=n_threads)
        self.C = C
        self.min_weight = min_weight
        self.idf = idf
        self.normalize = normalize
        self.tol = tol
        self.max_iter = max_iter

    @property
    def coef_(self) -> csr_matrix:
        return self.index_.keys

    @property
    def intercept_(self) -> NDArray[np.float32]:
        return self.index_.offsets

    def _fit(self, X: csr_matrix, Y: csr_matrix) -> None:
        random = check_random_state(self.random_state)
        self.rows_ = UnitRows(idf=self.idf, norm=self.normalize).learn(X)
        Z = self.rows_.encode(X)
        seed = int(random.randint(2**31))
        self.C_ = self._best_C(Z, Y, seed) if self.C == "auto" else float(self.C)
        self.index_, self.n_iter_ = self._train(Z, Y, self.C_, seed)

    def _train(self, Z: csr_matrix, Y: csr_matrix, C: float, seed: int) -> tuple[SparseIndex, int]:
        weights, biases, n_iter = train_squared_hinge(
            Z,
            Y,
            C=C,
            tol=self.tol,
            max_iter=self.max_iter,
            min_weight=self.min_weight,
            n_threads=self.n_threads,
            seed=seed,
        )
        return SparseIndex(weights, biases, dense_tail(Z)), n_iter

    def _best_C(self, Z: csr_matrix, Y: csr_matrix, seed: int) -> float:
        def answer(C: float, Z: csr_matrix, Y: csr_matrix, Z_new: csr_matrix, k: int) -> TopK:
            return self._train(Z, Y, C, seed)[0].search(Z_new, k)

        return best_of((1.0, 0.3), answer, Z, Y, seed=seed).choice

    def _predict_topk(self, X: csr_matrix, k: int) -> TopK:
        return self.index_.search(self.rows_.encode(X), k)

    def _explain(self, X: csr_matrix, top: TopK, n_reasons: int) -> list[list[Explanation]]:
        """A reason is a feature of the row; its weight is what it adds to the label's score."""
        return by_features(self.rows_.encode(X), top, self.index_, n_reasons)
