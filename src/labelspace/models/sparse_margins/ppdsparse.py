"""PPD-Sparse: a max-margin classifier per label, sparse in rows and in features.

Yen, Huang, Dai, Ravikumar, Dhillon and Xing (2017) separate PD-Sparse's problem by label, so that
labels are learned side by side. With s_i = ±1, a label's classifier is

    w = argmin ½‖w‖² + λ‖w‖₁ + C Σ_i max(0, 1 − s_i w·x_i)²

as in the authors' program; their text, as we recall it, has the hinge without the square. Few rows
are at their margin, so few α of the dual are not zero; λ makes w sparse, so that rows which violate
their margin are found by the lists of rows of a few features. Both kinds of sparsity are kept while
learning: nothing is cut afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from scipy.sparse import csr_matrix

from labelspace.linear.squared_hinge import LinearClassifiers
from labelspace.models.sparse_margins.settings import PPDSparseSettings
from labelspace.models.sparse_margins.sparse_classifiers import SparseClassifiers
from labelspace.models.sparse_margins.working_set import train_sparse
from labelspace.parameters import Settings
from labelspace.store import schema

_TURNED = ("C", "shrink", "tol")


class PPDSparse(SparseClassifiers):
    """A linear max-margin classifier per label with an L1 penalty, on working sets of rows.

    Parameters that are None take the value of the preset; the values of "best" are given first,
    those of "paper" in brackets.

    Parameters
    ----------
    preset : {"best", "paper"}, default="best"
        "best" is what measures best; "paper" has the values of the authors' program.
    C : float, optional
        Weight of the training error: 1 (1).
    shrink : float, optional
        λ, the weight of ‖w‖₁ against ½‖w‖²: 0.3 (0.1). Larger makes smaller models.
    tol : float, optional
        Violation of a margin of 1 that is let pass: 0.1 (0.1).
    idf : bool or "auto", default="auto"
        Whether features are weighted by inverse document frequency; "auto" does so where all are
        whole numbers: 0-1 features or counts.
    settings : dict or PPDSparseSettings, optional
        Everything else that can be told: see
        :class:`labelspace.models.sparse_margins.settings.PPDSparseSettings`.
    k, threshold, random_state, n_threads
        As in every estimator; see :class:`labelspace.base.LabelRanker`. A score above 0 means
        that the label's classifier says yes.

    Attributes
    ----------
    coef_ : csr_matrix of shape (n_labels_, n_features_in_)
    intercept_ : ndarray of shape (n_labels_,)
    settings_ : PPDSparseSettings
        The settings as preset and parameters have made them.
    n_iter_ : int
        The most rounds that a label took.

    Examples
    --------
    >>> from labelspace.models import PPDSparse
    >>> X = [[1.0, 0.0], [0.9, 0.2], [0.0, 1.0], [0.1, 0.8]]
    >>> model = PPDSparse(random_state=0).fit(X, [["red"], ["red"], ["round"], ["round"]])
    >>> model.classes_[model.predict_topk([[0.7, 0.1]], k=1).labels]
    array([['red']], dtype='<U5')
    """

    settings_type: ClassVar[type[Settings]] = PPDSparseSettings
    settings_: PPDSparseSettings

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SparseClassifiers._parameter_constraints,
        **{name: [*PPDSparseSettings.rules[name], None] for name in _TURNED},
    }
    _schema: ClassVar[schema.Schema] = {"settings_": schema.part("PPDSparseSettings")}

    def __init__(
        self,
        *,
        preset: Literal["best", "paper"] = "best",
        C: float | None = None,
        shrink: float | None = None,
        tol: float | None = None,
        idf: bool | Literal["auto"] = "auto",
        settings: Mapping[str, Any] | PPDSparseSettings | None = None,
        k: int = 5,
        threshold: float | None = None,
        random_state: Any = None,
        n_threads: int | None = None,
    ) -> None:
        super().__init__(k=k, threshold=threshold, random_state=random_state, n_threads=n_threads)
        self.preset = preset
        self.C = C
        self.shrink = shrink
        self.tol = tol
        self.idf = idf
        self.settings = settings

    def _train(self, Z: csr_matrix, Y: csr_matrix, seed: int) -> LinearClassifiers:
        told = self.settings_
        return train_sparse(
            *(Z, Y),
            loss="hinge" if told.loss == "hinge" else "squared_hinge_dual",
            C=told.C,
            shrink=told.shrink,
            tol=told.tol,
            max_rounds=told.max_rounds,
            max_passes=told.max_passes,
            n_threads=self.n_threads,
            seed=seed,
        )
