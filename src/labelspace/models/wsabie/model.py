"""WSABIE: rows and labels in one space, by a loss on the ranking of labels.

Weston, Bengio and Usunier (2011) map a row to xW and give each label a vector v_l, by whose product
labels are ranked. Both are learned by steps along the WARP loss, which cares most for the top of
the list: for a row, one of its labels y and a wrong label w that violates the margin,

    L(rank of y) · (1 + xW·v_w − xW·v_y),   ‖w_f‖ ≤ C,  ‖v_l‖ ≤ C
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.utils import check_random_state

from labelspace.base import LabelRanker
from labelspace.csr import with_constant_feature
from labelspace.encoders.linear import LinearEncoder
from labelspace.encoders.unit_rows import UnitRows
from labelspace.models.wsabie.settings import WSABIESettings
from labelspace.models.wsabie.warp import WarpTraining, random_vectors, train_warp
from labelspace.parameters import FLAG, one_of
from labelspace.search.exact import ExactIndex
from labelspace.store import schema
from labelspace.threads import in_blocks
from labelspace.topk import TopK

_TURNED = ("dim", "n_epochs", "learning_rate", "longest")
# Passes over new rows, and what part of the first step size they begin with.
_MORE_EPOCHS, _GENTLY = 5, 0.5


class WSABIE(LabelRanker):
    """Rows and labels in one space, by the WARP loss.

    The default is not quite the paper's method: it moves by AdaGrad, and all rows have a constant
    feature. ``preset="paper"`` has neither.

    Parameters that are None take the value of the preset; the values of "best" are given first,
    those of "paper" in brackets.

    Parameters
    ----------
    preset : {"best", "paper"}, default="best"
        "best" is what measures best; "paper" steps as the publication does.
    dim : int, optional
        Dimensions of the space: 100 (100).
    n_epochs : int, optional
        Passes over all pairs of a row and a label of it: 10 (20).
    learning_rate : float, optional
        First step size: 0.05 (0.005).
    longest : float, optional
        Length that no vector of a feature or label exceeds: 6 (2).
    idf : bool, default=False
        Whether features are weighted by inverse document frequency: for 0-1 features or counts.
    settings : dict or WSABIESettings, optional
        Everything else that can be told: see
        :class:`labelspace.models.wsabie.settings.WSABIESettings`.
    k, threshold, random_state, n_threads
        As in every estimator; see :class:`labelspace.base.LabelRanker`. Scores are products in the
        space. Training takes one thread: each step builds on the one before.

    Attributes
    ----------
    encoder_ : LinearEncoder
        Vectors of the features, and at the end that of the feature which all rows have.
    labels_ : ExactIndex
        Vectors of the labels.
    history_ : list of float
        The loss that each pass met.
    settings_ : WSABIESettings

    Examples
    --------
    >>> from labelspace.models import WSABIE
    >>> X = [[1.0, 0.0], [0.9, 0.2], [0.0, 1.0], [0.1, 0.8]]
    >>> model = WSABIE(dim=8, random_state=0).fit(X, [["red"], ["red"], ["round"], ["round"]])
    >>> model.classes_[model.predict_topk([[0.7, 0.1]], k=1).labels]
    array([['red']], dtype='<U5')
    """

    settings_type = WSABIESettings
    settings_: WSABIESettings

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LabelRanker._parameter_constraints,
        **{name: [*WSABIESettings.rules[name], None] for name in _TURNED},
        "preset": [one_of(*WSABIESettings.presets)],
        "idf": [FLAG],
    }

    _schema: ClassVar[schema.Schema] = {
        "settings_": schema.part("WSABIESettings"),
        "rows_": schema.part("UnitRows", n_features="n_features"),
        "encoder_": schema.part(
            "LinearEncoder", n_features=schema.plus("n_features", 1), dim="dim"
        ),
        "labels_": schema.part("ExactIndex", dim="dim", ids_end=schema.up_to("n_labels")),
        "history_": schema.list_of(schema.number()),
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
        n_epochs: int | None = None,
        learning_rate: float | None = None,
        longest: float | None = None,
        idf: bool = False,
        settings: Mapping[str, Any] | WSABIESettings | None = None,
        k: int = 5,
        threshold: float | None = None,
        random_state: Any = None,
        n_threads: int | None = None,
    ) -> None:
        super().__init__(k=k, threshold=threshold, random_state=random_state, n_threads=n_threads)
        self.preset = preset
        self.dim = dim
        self.n_epochs = n_epochs
        self.learning_rate = learning_rate
        self.longest = longest
        self.idf = idf
        self.settings = settings

    def _fit(self, X: csr_matrix, Y: csr_matrix) -> None:
        self.settings_ = self._resolved(X, Y)
        seed = int(check_random_state(self.random_state).randint(1 << 31))
        self.rows_ = UnitRows(idf=self.idf, norm=self.settings_.normalize).learn(X)
        # Labels without rows are wrong everywhere, which teaches nothing.
        labels = np.flatnonzero(self.label_counts_)
        rng = np.random.default_rng(seed)
        dim = self.settings_.dim
        X = self._encode(X)
        W, V = random_vectors(X.shape[1], dim, rng), random_vectors(labels.size, dim, rng)
        self.history_: list[float] = []
        self._train(X, Y, W, V, labels, self._training(), seed)

    def _partial_fit(self, X: csr_matrix, Y: csr_matrix) -> None:
        """Place new labels amid their rows, then learn on, gently, from the new rows."""
        seed = int(check_random_state(self.random_state).randint(1 << 31))
        X = self._encode(X)
        labels, V = self.labels_.ids, self.labels_.keys
        new = np.setdiff1d(Y.indices, labels)
        Z = self.encoder_.encode(X)
        amid = np.asarray(csr_matrix(Y[:, new]).T @ Z, dtype=np.float32)
        lengths = np.linalg.norm(amid, axis=1, keepdims=True)
        amid = np.divide(amid, lengths, out=np.zeros_like(amid), where=lengths > 0)
        labels, V = np.concatenate((labels, new)), np.concatenate((V, amid))
        in_order = np.argsort(labels)
        gentle = replace(
            self._training(),
            n_epochs=_MORE_EPOCHS,
            learning_rate=_GENTLY * self.settings_.learning_rate,
        )
        W = self.encoder_.to_float()
        self._train(X, Y, W, V[in_order], labels[in_order], gentle, seed)

    def _train(
        self,
        X: csr_matrix,
        Y: csr_matrix,
        W: NDArray[np.float32],
        V: NDArray[np.float32],
        labels: NDArray[np.int64],
        training: WarpTraining,
        seed: int,
    ) -> None:
        known = csr_matrix(Y[:, labels])
        known.sort_indices()
        W, V, met = train_warp(X, known, W, V, training, seed)
        self.encoder_ = LinearEncoder(W, "float32")
        self.labels_ = ExactIndex(V, labels)
        self.history_ = [*self.history_, *met]

    def _training(self) -> WarpTraining:
        chosen = self.settings_
        return WarpTraining(chosen.n_epochs, chosen.learning_rate, chosen.longest, chosen.adaptive)

    def _encode(self, X: csr_matrix) -> csr_matrix:
        return with_constant_feature(self.rows_.encode(X), self.settings_.constant)

    def _predict_topk(self, X: csr_matrix, k: int) -> TopK:
        return TopK.stack(in_blocks(lambda block: self._answer(block, k), X, self.n_threads))

    def _answer(self, X: csr_matrix, k: int) -> TopK:
        found = self.labels_.search(self.encoder_.encode(self._encode(X)), k)
        top = TopK(found.ids, found.products).padded(k)
        # Of a row without features nothing is known but what is frequent.
        top.labels[np.diff(X.indptr) == 0] = -1
        return self._filled(top)
