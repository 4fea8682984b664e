"""PD-Sparse: max-margin classifiers of all labels together, sparse in labels and in features.

Yen, Huang, Zhong, Ravikumar and Dhillon (2016) ask that a row's labels P score higher than all
others, by a margin of 1, and penalise weights by their absolute size as well:

    W = argmin ½‖W‖² + λ‖W‖₁ + C Σ_i max(0, max_{p ∈ P_i, n ∉ P_i} 1 + w_n·x_i − w_p·x_i)

A row's loss depends on a few labels, so that few α of the dual are not zero. The fully corrective
block-coordinate Frank–Wolfe method goes through the rows: it looks for the labels that violate a
row's margin most, which is quick since W is sparse, lets them join the row's active ones, and makes
the dual small in the α of those.

That is "paper". Where rows have several labels, the worst pair says too little: in "best" each
label of a row and each other label have a margin of 1 to a threshold t of the row's own,

    W = argmin ½‖W‖² + λ‖W‖₁ + C Σ_i min_{t ≥ 1} Σ_{p ∈ P_i} max(0, 1 + t − w_p·x_i)²
                                               + Σ_{n ∉ P_i} max(0, 1 + w_n·x_i − t)²

with the same search for active labels and the same steps.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from scipy.sparse import csr_matrix

from labelspace.linear.squared_hinge import LinearClassifiers
from labelspace.models.sparse_margins.active_labels import train_together
from labelspace.models.sparse_margins.settings import PDSparseSettings
from labelspace.models.sparse_margins.sparse_classifiers import SparseClassifiers
from labelspace.parameters import Settings, one_of
from labelspace.store import schema

_TURNED = ("loss", "C", "shrink")


class PDSparse(SparseClassifiers):
    """Linear classifiers of all labels together: a margin between a row's labels and all others.

    The default is not the paper's method but has another loss: squares, and a threshold of each
    row's own in place of the worst pair. ``preset="paper"`` has the authors' problem.

    Parameters that are None take the value of the preset; the values of "best" are given first,
    those of "paper" in brackets.

    Parameters
    ----------
    preset : {"best", "paper", "repaired"}, default="best"
        "best" is what measures best; "paper" has the authors' values; "repaired" has them, too, but
        for the threshold and for five labels that join at a time: it learns where rows have many
        labels.
    loss : {"threshold", "each", "worst"}, optional
        What has a margin of 1: each label of a row and all others to a threshold of the row's own,
        each label of a row to the highest of all others, or the worst pair of a row's label and
        another alone: threshold (worst).
    C : float, optional
        Weight of the training error: 1 (1).
    shrink : float, optional
        λ, the weight of ‖W‖₁ against ½‖W‖²: 0.3 (0.1). Larger makes smaller models.
    idf : bool or "auto", default="auto"
        Whether features are weighted by inverse document frequency; "auto" does so where all are
        whole numbers: 0-1 features or counts.
    settings : dict or PDSparseSettings, optional
        Everything else that can be told: see
        :class:`labelspace.models.sparse_margins.settings.PDSparseSettings`.
    k, threshold, random_state, n_threads
        As in every estimator; see :class:`labelspace.base.LabelRanker`. It learns on one
        thread. Scores rank the labels of a row; they are no yes or no.

    Attributes
    ----------
    coef_ : csr_matrix of shape (n_labels_, n_features_in_)
    intercept_ : ndarray of shape (n_labels_,)
    settings_ : PDSparseSettings
        The settings as preset and parameters have made them.
    n_iter_ : int
        Searches for labels that violate a row's margin.

    Examples
    --------
    >>> from labelspace.models import PDSparse
    >>> X = [[1.0, 0.0], [0.9, 0.2], [0.0, 1.0], [0.1, 0.8]]
    >>> model = PDSparse(random_state=0).fit(X, [["red"], ["red"], ["round"], ["round"]])
    >>> model.classes_[model.predict_topk([[0.7, 0.1]], k=1).labels]
    array([['red']], dtype='<U5')
    """

    settings_type: ClassVar[type[Settings]] = PDSparseSettings
    settings_: PDSparseSettings

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SparseClassifiers._parameter_constraints,
        **{name: [*PDSparseSettings.rules[name], None] for name in _TURNED},
        "preset": [one_of(*PDSparseSettings.presets)],
    }
    _schema: ClassVar[schema.Schema] = {"settings_": schema.part("PDSparseSettings")}

    def __init__(
        self,
        *,
        preset: Literal["best", "paper", "repaired"] = "best",
        loss: Literal["threshold", "each", "worst"] | None = None,
        C: float | None = None,
        shrink: float | None = None,
        idf: bool | Literal["auto"] = "auto",
        settings: Mapping[str, Any] | PDSparseSettings | None = None,
        k: int = 5,
        threshold: float | None = None,
        random_state: Any = None,
        n_threads: int | None = None,
    ) -> None:
        super().__init__(k=k, threshold=threshold, random_state=random_state, n_threads=n_threads)
        self.preset = preset
        self.loss = loss
        self.C = C
        self.shrink = shrink
        self.idf = idf
        self.settings = settings

    def _train(self, Z: csr_matrix, Y: csr_matrix, seed: int) -> LinearClassifiers:
        told = self.settings_
        return train_together(
            *(Z, Y),
            loss=told.loss,
            C=told.C,
            shrink=told.shrink,
            constant=told.constant,
            own_features=told.own_features,
            tol=told.tol,
            max_searches=told.max_searches,
            max_passes=told.max_passes,
            n_joining=told.n_joining,
            slack=told.slack,
            n_post_passes=told.n_post_passes,
            seed=seed,
        )
