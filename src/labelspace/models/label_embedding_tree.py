"""Label embedding trees: a label tree that is walked in a small space.

The row is mapped once to Wx; every node of the tree has a vector V_c there, so that a step of the
walk compares short dense vectors (Bengio, Weston and Grangier, 2010). Map and vectors are learned
together, by margins between siblings with one slack for a row's whole way,

    min γ‖W‖² + (1/m) Σ_i ξ_i²   such that   (Wx_i)·V_r ≥ (Wx_i)·V_s + 1 − ξ_i,   ‖V_c‖ ≤ 1

for siblings r, s on the way of row i, of which r holds its label and s does not. The tree is that
of ``LabelTree``.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from labelspace.base import LabelRanker
from labelspace.encoders.linear import LinearEncoder
from labelspace.encoders.unit_rows import UnitRows
from labelspace.ensemble import in_blocks
from labelspace.search.tree import DenseTreeIndex, Walked
from labelspace.topk import TopK
from labelspace.training.embedded import EmbeddedSettings, train_embedded
from labelspace.training.label_structure import AFFINITIES, TreeShape, learn_tree

_SHARPNESS = 3.0  # a margin of 1 is then a probability of 0.95


class LabelEmbeddingTree(LabelRanker):
    """A tree of labels whose nodes are vectors in a small space.

    Parameters
    ----------
    dim : int, default=100
        Dimensions of the space.
    slack : {"auto", "row", "node"}, default="auto"
        Whether a row has one slack for its whole way, as in the paper, or one for each child that
        it meets, which asks every child for a yes or no: better with several labels. "auto" takes
        "row" if every row has one label.
    affinity, branching, leaf_size, max_depth, balance
        The tree; as in :class:`labelspace.models.LabelTree`.
    beam : int, default=10
        Nodes of each level that the walk keeps; 1 follows the best child alone.
    n_epochs : int, default=10
        Passes over the rows.
    learning_rate : float, default=0.05
    decay : float, default=1e-6
        γ: larger keeps the map shorter.
    idf : bool or "auto", default="auto"
        Whether features are weighted by inverse document frequency; "auto" does so where all are
        whole numbers: 0-1 features or counts.
    k, threshold, random_state, n_threads
        As in every estimator; see :class:`labelspace.base.LabelRanker`. Scores are products of
        the probabilities of a path's steps.

    Attributes
    ----------
    tree_ : Tree
        The shape of the tree.
    encoder_ : LinearEncoder
        The map.
    index_ : DenseTreeIndex
        The nodes' vectors, ready to be walked.

    Examples
    --------
    >>> from labelspace.models import LabelEmbeddingTree
    >>> X = [[1.0, 0.0], [0.9, 0.2], [0.0, 1.0], [0.1, 0.8]]
    >>> model = LabelEmbeddingTree(random_state=0).fit(X, ["red", "red", "round", "round"])
    >>> model.predict([[0.7, 0.1]])
    array(['red'], dtype='<U5')
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LabelRanker._parameter_constraints,
        "dim": [Interval(Integral, 1, None, closed="left")],
        "slack": [StrOptions({"auto", "row", "node"})],
        "affinity": [StrOptions({"auto", "random", *AFFINITIES})],
        "branching": [Interval(Integral, 2, None, closed="left")],
        "leaf_size": [Interval(Integral, 1, None, closed="left")],
        "max_depth": [Interval(Integral, 1, None, closed="left"), None],
        "balance": [Interval(Real, 0, 1, closed="both")],
        "beam": [Interval(Integral, 1, None, closed="left")],
        "n_epochs": [Interval(Integral, 1, None, closed="left")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "decay": [Interval(Real, 0, None, closed="left")],
        "idf": ["boolean", StrOptions({"auto"})],
    }

    def __init__(
        self,
        *,
        dim: int = 100,
        slack: Literal["auto", "row", "node"] = "auto",
        affinity: str = "auto",
        branching: int = 16,
        leaf_size: int = 64,
        max_depth: int | None = None,
        balance: float = 0.8,
        beam: int = 10,
        n_epochs: int = 10,
        learning_rate: float = 0.05,
        decay: float = 1e-6,
        idf: bool | Literal["auto"] = "auto",
        k: int = 5,
        threshold: float | None = None,
        random_state: Any = None,
        n_threads: int | None = None,
    ) -> None:
        super().__init__(k=k, threshold=threshold, random_state=random_state, n_threads=n_threads)
        self.dim = dim
        self.slack = slack
        self.affinity = affinity
        self.branching = branching
        self.leaf_size = leaf_size
        self.max_depth = max_depth
        self.balance = balance
        self.beam = beam
        self.n_epochs = n_epochs
        self.learning_rate = learning_rate
        self.decay = decay
        self.idf = idf

    def _fit(self, X: csr_matrix, Y: csr_matrix) -> None:
        seed = int(check_random_state(self.random_state).randint(2**31))
        self.rows_ = UnitRows(idf=self.idf).learn(X)
        Z = self.rows_.encode(X)
        shape = TreeShape(self.branching, self.leaf_size, self.max_depth, self.balance)
        self.tree_ = learn_tree(Z, Y, shape, self.affinity, n_threads=self.n_threads, seed=seed)
        single = bool(np.all(np.diff(Y.indptr) <= 1))
        each = not single if self.slack == "auto" else self.slack == "node"
        settings = EmbeddedSettings(
            dim=self.dim,
            each=each,
            n_epochs=self.n_epochs,
            learning_rate=self.learning_rate,
            decay=self.decay,
        )
        trained = train_embedded(Z, self.tree_, self.tree_.right_nodes(Y), settings, seed=seed)
        self.encoder_ = LinearEncoder(trained.weights)
        self.index_ = DenseTreeIndex(
            self.tree_,
            trained.vectors,
            trained.biases,
            link="logistic" if each else "softmax",
            sharpness=_SHARPNESS,
        )

    def _predict_topk(self, X: csr_matrix, k: int) -> TopK:
        return self._walk(X, k, self.beam).top

    def _walk(self, X: csr_matrix, k: int, beam: int) -> Walked:
        def answer(block: csr_matrix) -> Walked:
            return self.index_.walk(self.encoder_.encode(block), k, beam)

        return Walked.stack(in_blocks(answer, self.rows_.encode(X), self.n_threads))

    def tree_loss(self, X: Any, y: Any) -> float:
        """Return the share of rows whose walk along the best children goes wrong."""
        X = self._checked(X, reset=False)
        return self._walk(X, 1, beam=1).loss(self._labels.encode(y, X.shape[0]))

    def count_products(self, X: Any, k: int | None = None) -> NDArray[np.int64]:
        """Return how many products of ``dim`` numbers finding ``k`` labels takes for each row."""
        return self._walk(self._checked(X, reset=False), self._asked(k), self.beam).n_products
