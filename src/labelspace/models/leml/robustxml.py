"""RobustXML: a linear map of low rank, and a sparse one for what does not fit into it.

Labels that few rows have are outliers to a map of low rank. Xu, Tao and Xu (2016) therefore split
the map in two, of which the second has few weights:

    min_{W,H,S}  ½‖Y − X(WHᵀ + S)‖² + λ/2 (‖W‖² + ‖H‖²) + μ/2 ‖S‖² + ν‖S‖₁

The low-rank part is solved as that of LEML, the sparse part label by label by coordinate descent,
in turns. A row is scored by both: xWh_l + x·s_l.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_matrix, hstack
from sklearn.utils import check_random_state

from labelspace.base import LabelRanker
from labelspace.csr import with_constant_feature
from labelspace.encoders.linear import LinearEncoder
from labelspace.encoders.unit_rows import UnitRows
from labelspace.models.leml.settings import RobustXMLSettings
from labelspace.models.leml.sparse_part import solve_sparse
from labelspace.models.leml.squared_loss import (
    CONSTANT,
    Factors,
    alternate,
    label_directions,
    label_keys,
)
from labelspace.parameters import FLAG, one_of
from labelspace.search.sparse import SparseIndex
from labelspace.store import schema
from labelspace.threads import in_blocks
from labelspace.topk import TopK

_TURNED = ("dim", "penalty", "l1", "sparse_penalty", "n_weights", "n_turns")


class RobustXML(LabelRanker):
    """A linear map of low rank and a sparse one beside it, for labels that few rows have.

    Parameters that are None take the value of the preset; the values of "best" are given first,
    those of "paper" in brackets.

    Parameters
    ----------
    preset : {"best", "paper"}, default="best"
        "best" is what measures best for its price; "paper" has the rank of the publication and
        solves for the two parts in more turns.
    dim : int, optional
        Rank of the low-rank part: the number of labels, but beyond 200 five times its root, 200 at
        least and 1,000 at most (four fifths of it, 500 at most).
    penalty : float, optional
        λ of its two factors: 2, less where labels have few rows, 0.5 at least (2).
    l1 : float, optional
        ν: pulls of a feature below this give no weight: 0.2 (0.2).
    sparse_penalty : float, optional
        μ of the sparse part: 0.05 (0.05). Smaller gives rare labels more say.
    n_weights : int, optional
        Features of a label in the sparse part at most: 100 (500).
    n_turns : int, optional
        Turns of solving for one part and for the other: 1 (5).
    idf : bool, default=False
        Whether features are weighted by inverse document frequency: for 0-1 features or counts.
    settings : dict or RobustXMLSettings, optional
        Everything else that can be told: see
        :class:`labelspace.models.leml.settings.RobustXMLSettings`.
    k, threshold, random_state, n_threads
        As in every estimator; see :class:`labelspace.base.LabelRanker`. Scores are near 1 for
        labels that a row has, near 0 for others.

    Attributes
    ----------
    encoder_ : LinearEncoder
        W.
    labels_ : SparseIndex
        For each label the sparse weights, its vector of the low-rank part behind them, and what it
        scores by itself.
    settings_ : RobustXMLSettings

    Examples
    --------
    >>> from labelspace.models import RobustXML
    >>> X = [[1.0, 0.0], [0.9, 0.2], [0.0, 1.0], [0.1, 0.8]]
    >>> model = RobustXML(dim=1).fit(X, [["red"], ["red"], ["round"], ["round"]])
    >>> model.classes_[model.predict_topk([[0.7, 0.1]], k=1).labels]
    array([['red']], dtype='<U5')
    """

    settings_type = RobustXMLSettings
    settings_: RobustXMLSettings

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LabelRanker._parameter_constraints,
        **{name: [*RobustXMLSettings.rules[name], None] for name in _TURNED},
        "preset": [one_of(*RobustXMLSettings.presets)],
        "idf": [FLAG],
    }

    _schema: ClassVar[schema.Schema] = {
        "settings_": schema.part("RobustXMLSettings"),
        "rows_": schema.part("UnitRows", n_features="n_features"),
        "encoder_": schema.part("LinearEncoder", n_features="n_features", dim="dim"),
        "labels_": schema.part("SparseIndex", n_sparse="n_features", n_keys="n_labels"),
    }

    @classmethod
    def _check_state(cls, state: schema.State, sizes: schema.Sizes) -> None:
        super()._check_state(state, sizes)
        if "labels_" in state and state["labels_"].n_dense != sizes.known["dim"]:
            raise schema.Mismatch("labels_ have vectors of another length than rows")

    def __init__(
        self,
        *,
        preset: str = "best",
        dim: int | None = None,
        penalty: float | None = None,
        l1: float | None = None,
        sparse_penalty: float | None = None,
        n_weights: int | None = None,
        n_turns: int | None = None,
        idf: bool = False,
        settings: Mapping[str, Any] | RobustXMLSettings | None = None,
        k: int = 5,
        threshold: float | None = None,
        random_state: Any = None,
        n_threads: int | None = None,
    ) -> None:
        super().__init__(k=k, threshold=threshold, random_state=random_state, n_threads=n_threads)
        self.preset = preset
        self.dim = dim
        self.penalty = penalty
        self.l1 = l1
        self.sparse_penalty = sparse_penalty
        self.n_weights = n_weights
        self.n_turns = n_turns
        self.idf = idf
        self.settings = settings

    def _fit(self, X: csr_matrix, Y: csr_matrix) -> None:
        self.settings_ = self._resolved(X, Y)
        seed = int(check_random_state(self.random_state).randint(1 << 31))
        self.rows_ = UnitRows(idf=self.idf, norm=self.settings_.normalize).learn(X)
        X = with_constant_feature(self.rows_.encode(X), CONSTANT)
        factors, sparse = self._parts(X, Y, seed)
        self.encoder_ = LinearEncoder(factors.W[:-1], "float32")
        keys = label_keys(factors)
        # What the feature that all rows have gives a label is no matter of the row.
        own = np.asarray(sparse[-1].todense(), dtype=np.float32).ravel()
        together = hstack([csr_matrix(sparse[:-1].T), csr_matrix(keys[:, :-1])], format="csr")
        self.labels_ = SparseIndex(
            csr_matrix(together), keys[:, -1] + np.float32(CONSTANT) * own, self.encoder_.dim
        )

    def _parts(self, X: csr_matrix, Y: csr_matrix, seed: int) -> tuple[Factors, csr_matrix]:
        """Return the low-rank part and the sparse part, solved for in turns."""
        chosen = self.settings_
        H = label_directions(Y, chosen.dim, seed)
        factors, sparse = Factors(np.zeros((X.shape[1], H.shape[1]), dtype=np.float32), H), None
        for _ in range(chosen.n_turns):
            factors = alternate(
                *(X, Y, factors.H),
                penalty=chosen.penalty,
                n_rounds=chosen.n_rounds,
                n_steps=chosen.n_steps,
                sparse=sparse,
                n_threads=self.n_threads,
            )
            sparse = solve_sparse(
                *(X, Y, factors),
                l1=chosen.l1,
                penalty=chosen.sparse_penalty,
                n_weights=chosen.n_weights,
            )
        assert sparse is not None
        return factors, sparse

    def _predict_topk(self, X: csr_matrix, k: int) -> TopK:
        X = self.rows_.encode(X)
        return TopK.stack(in_blocks(lambda block: self._answer(block, k), X, self.n_threads))

    def _answer(self, X: csr_matrix, k: int) -> TopK:
        asked = hstack([X, csr_matrix(self.encoder_.encode(X))], format="csr")
        top = self.labels_.search(csr_matrix(asked), k)
        # Of a row without features nothing is known but what is frequent.
        top.labels[np.diff(X.indptr) == 0] = -1
        return self._filled(top)
