"""LEML: a linear map of low rank from features to labels, learned as one.

Yu, Jain, Kar and Dhillon (2014) do not compress labels first and regress then, but look for the two
factors of the whole map together:

    min_{W,H}  Σ_i Σ_l ℓ(y_il, x_iᵀ W h_l) + λ/2 (‖W‖² + ‖H‖²)

so a row is x ↦ xW and a label a vector h_l; the score is their product. For the squared loss the
factors are solved for in turns, by conjugate gradients and in closed form; for the others by Newton
steps.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.utils import check_random_state

from labelspace.base import LabelRanker
from labelspace.csr import with_constant_feature
from labelspace.encoders.linear import LinearEncoder
from labelspace.encoders.unit_rows import UnitRows
from labelspace.ensemble import with_constant
from labelspace.models.leml.newton import alternate_newton
from labelspace.models.leml.settings import LEMLSettings
from labelspace.models.leml.squared_loss import (
    CONSTANT,
    Factors,
    alternate,
    label_directions,
    label_keys,
)
from labelspace.parameters import FLAG, one_of
from labelspace.search.exact import ExactIndex
from labelspace.store import schema
from labelspace.threads import in_blocks
from labelspace.topk import TopK

_TURNED = ("dim", "penalty", "loss", "n_rounds")


class LEML(LabelRanker):
    """A linear map of low rank, its two factors learned together.

    Parameters that are None take the value of the preset; the values of "best" are given first,
    those of "paper" in brackets.

    Parameters
    ----------
    preset : {"best", "paper"}, default="best"
        "best" is what measures best for its price; "paper" has the rank and the rounds of the
        publication.
    dim : int, optional
        Rank of the map: the number of labels, but beyond 200 five times its root, 200 at least and
        1,000 at most (four fifths of it, 500 at most).
    penalty : float, optional
        λ of both factors: 2, less where labels have few rows, 0.5 at least (2). Smaller fits
        closer.
    loss : {"squared", "logistic", "squared-hinge"}, optional
        What a score that is off costs: squared (squared). The others go over all pairs of rows
        and labels, which takes long where labels are many.
    n_rounds : int, optional
        Rounds of solving for one factor and for the other: 1 (10).
    idf : bool, default=False
        Whether features are weighted by inverse document frequency: for 0-1 features or counts.
    settings : dict or LEMLSettings, optional
        Everything else that can be told: see :class:`labelspace.models.leml.settings.LEMLSettings`.
    k, threshold, random_state, n_threads
        As in every estimator; see :class:`labelspace.base.LabelRanker`. Scores are products: with
        the squared loss near 1 for labels that a row has.

    Attributes
    ----------
    encoder_ : LinearEncoder
        W.
    labels_ : ExactIndex
        H, the vectors of the labels, each with what it scores by itself.
    settings_ : LEMLSettings

    Examples
    --------
    >>> from labelspace.models import LEML
    >>> X = [[1.0, 0.0], [0.9, 0.2], [0.0, 1.0], [0.1, 0.8]]
    >>> model = LEML(dim=2, penalty=0.1).fit(X, [["red"], ["red"], ["round"], ["round"]])
    >>> model.classes_[model.predict_topk([[0.7, 0.1]], k=1).labels]
    array([['red']], dtype='<U5')
    """

    settings_type = LEMLSettings
    settings_: LEMLSettings

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LabelRanker._parameter_constraints,
        **{name: [*LEMLSettings.rules[name], None] for name in _TURNED},
        "preset": [one_of(*LEMLSettings.presets)],
        "idf": [FLAG],
    }

    _schema: ClassVar[schema.Schema] = {
        "settings_": schema.part("LEMLSettings"),
        "rows_": schema.part("UnitRows", n_features="n_features"),
        "encoder_": schema.part("LinearEncoder", n_features="n_features", dim="dim"),
        "labels_": schema.part(
            "ExactIndex", dim=schema.plus("dim", 1), n_keys="n_labels", ids_end="n_labels"
        ),
    }

    @classmethod
    def _check_state(cls, state: schema.State, sizes: schema.Sizes) -> None:
        super()._check_state(state, sizes)
        if "labels_" in state and not sizes.trusted:
            schema.check_unique(state["labels_"].ids)

    def __init__(
        self,
        *,
        preset: str = "best",
        dim: int | None = None,
        penalty: float | None = None,
        loss: str | None = None,
        n_rounds: int | None = None,
        idf: bool = False,
        settings: Mapping[str, Any] | LEMLSettings | None = None,
        k: int = 5,
        threshold: float | None = None,
        random_state: Any = None,
        n_threads: int | None = None,
    ) -> None:
        super().__init__(k=k, threshold=threshold, random_state=random_state, n_threads=n_threads)
        self.preset = preset
        self.dim = dim
        self.penalty = penalty
        self.loss = loss
        self.n_rounds = n_rounds
        self.idf = idf
        self.settings = settings

    def _fit(self, X: csr_matrix, Y: csr_matrix) -> None:
        self.settings_ = self._resolved(X, Y)
        seed = int(check_random_state(self.random_state).randint(1 << 31))
        self.rows_ = UnitRows(idf=self.idf, norm=self.settings_.normalize).learn(X)
        factors = self._factors(with_constant_feature(self.rows_.encode(X), CONSTANT), Y, seed)
        self.encoder_ = LinearEncoder(factors.W[:-1], "float32")
        self.labels_ = ExactIndex(label_keys(factors))

    def _factors(self, X: csr_matrix, Y: csr_matrix, seed: int) -> Factors:
        chosen = self.settings_
        is_squared = chosen.loss == "squared"
        factors = alternate(
            X,
            Y,
            label_directions(Y, chosen.dim, seed),
            penalty=chosen.penalty,
            n_rounds=chosen.n_rounds if is_squared else 1,
            n_steps=chosen.n_steps,
            n_threads=self.n_threads,
        )
        if is_squared:
            return factors
        return alternate_newton(
            X, Y, factors, loss=chosen.loss, penalty=chosen.penalty, n_rounds=chosen.n_rounds
        )

    def _predict_topk(self, X: csr_matrix, k: int) -> TopK:
        X = self.rows_.encode(X)
        return TopK.stack(in_blocks(lambda block: self._answer(block, k), X, self.n_threads))

    def _answer(self, X: csr_matrix, k: int) -> TopK:
        found = self.labels_.search(with_constant(self.encoder_.encode(X)), k)
        top = TopK(found.ids, found.products)
        # Of a row without features nothing is known but what is frequent.
        top.labels[np.diff(X.indptr) == 0] = -1
        return self._filled(top)
