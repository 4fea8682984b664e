"""ProXML: L1-regularised classifiers, robust for labels with few rows.

Babbar and Schölkopf (2019) look at a label with few rows as one whose rows may change a little from
train to test. Being right for the worst such change is, for a linear classifier, the same as an L1
penalty; with s_i = ±1,

    w = argmin ‖w‖₁ + C Σ_i max(0, 1 − s_i w·x_i)²

which proximal steps solve: a step along the slope of the loss, then each weight is moved towards
zero, and stays there if it would cross it. Here the steps are taken feature by feature, with the
curvature of the loss, on the rows that violate their margin; problem and answer are the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.sparse import csr_matrix

from labelspace.linear.squared_hinge import LinearClassifiers
from labelspace.metrics import inverse_propensity
from labelspace.models.sparse_margins.settings import ProXMLSettings
from labelspace.models.sparse_margins.sparse_classifiers import SparseClassifiers
from labelspace.models.sparse_margins.working_set import train_sparse
from labelspace.parameters import Settings
from labelspace.store import schema

_TURNED = ("C", "rarity", "tol")


class ProXML(SparseClassifiers):
    """A linear classifier per label with squared hinge loss and an L1 penalty, by proximal steps.

    The default is not quite the paper's method: rows of rare labels count more (``rarity``).

    Parameters that are None take the value of the preset; the values of "best" are given first,
    those of "paper" in brackets.

    Parameters
    ----------
    preset : {"best", "paper"}, default="best"
        "best" is what measures best; "paper" has the authors' values.
    C : float, optional
        Weight of the training error against ‖w‖₁: 0.6 (1). Smaller makes smaller models.
    rarity : float, optional
        Rows of a label count by this power of one over its propensity, so that rare labels are
        ranked higher: 1 (0, all alike).
    tol : float, optional
        Violation of a margin of 1 that is let pass: 0.01 (0.01).
    idf : bool or "auto", default="auto"
        Whether features are weighted by inverse document frequency; "auto" does so where all are
        whole numbers: 0-1 features or counts.
    settings : dict or ProXMLSettings, optional
        Everything else that can be told: see
        :class:`labelspace.models.sparse_margins.settings.ProXMLSettings`.
    k, threshold, random_state, n_threads
        As in every estimator; see :class:`labelspace.base.LabelRanker`. A score above 0 means
        that the label's classifier says yes.

    Attributes
    ----------
    coef_ : csr_matrix of shape (n_labels_, n_features_in_)
    intercept_ : ndarray of shape (n_labels_,)
    settings_ : ProXMLSettings
        The settings as preset and parameters have made them.
    n_iter_ : int
        The most rounds that a label took.

    Examples
    --------
    >>> from labelspace.models import ProXML
    >>> X = [[1.0, 0.0], [0.9, 0.2], [0.0, 1.0], [0.1, 0.8]]
    >>> model = ProXML(random_state=0).fit(X, [["red"], ["red"], ["round"], ["round"]])
    >>> model.classes_[model.predict_topk([[0.7, 0.1]], k=1).labels]
    array([['red']], dtype='<U5')
    """

    settings_type: ClassVar[type[Settings]] = ProXMLSettings
    settings_: ProXMLSettings

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SparseClassifiers._parameter_constraints,
        **{name: [*ProXMLSettings.rules[name], None] for name in _TURNED},
    }
    _schema: ClassVar[schema.Schema] = {"settings_": schema.part("ProXMLSettings")}

    def __init__(
        self,
        *,
        preset: Literal["best", "paper"] = "best",
        C: float | None = None,
        rarity: float | None = None,
        tol: float | None = None,
        idf: bool | Literal["auto"] = "auto",
        settings: Mapping[str, Any] | ProXMLSettings | None = None,
        k: int = 5,
        threshold: float | None = None,
        random_state: Any = None,
        n_threads: int | None = None,
    ) -> None:
        super().__init__(k=k, threshold=threshold, random_state=random_state, n_threads=n_threads)
        self.preset = preset
        self.C = C
        self.rarity = rarity
        self.tol = tol
        self.idf = idf
        self.settings = settings

    def _train(self, Z: csr_matrix, Y: csr_matrix, seed: int) -> LinearClassifiers:
        told = self.settings_
        counts = np.bincount(Y.indices, minlength=Y.shape[1])
        return train_sparse(
            *(Z, Y),
            loss="squared_hinge",
            C=told.C,
            tol=told.tol,
            max_rounds=told.max_rounds,
            max_passes=told.max_passes,
            positive_weights=inverse_propensity(counts, Y.shape[0]) ** told.rarity,
            n_threads=self.n_threads,
            seed=seed,
        )
