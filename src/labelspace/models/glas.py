"""GLaS: rows and labels on one sphere, kept from overfitting by what labels say about each other.

Guo et al. (2019) show that a network x → z and a vector v for each label can fit any training
labels in few dimensions, so that what such models lack is not room but restraint. Theirs is a
regulariser that wants inner products of label vectors to be the labels' conditional frequencies,

    L = Σ_i ℓ(z_i·V, y_i) + λ mean_{a,b} (v_a·v_b − ½(F(a|b) + F(b|a)))²,

with dropout of input features beside it. Prediction is the search for the labels with the largest
inner product. Here scores are s·z·v + b with a bias for each label and binary cross-entropy for ℓ;
``preset="paper"`` is the original: margin loss against sampled labels, no biases.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from numbers import Integral, Real
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from labelspace import metrics, threads
from labelspace.base import LabelRanker
from labelspace.encoders.unit_rows import UnitRows
from labelspace.ensemble import in_blocks
from labelspace.graph.cooccurrence import SIMILARITIES, cooccurrence, similarity
from labelspace.search.clustered import ClusteredIndex
from labelspace.search.exact import ExactIndex
from labelspace.search.graph import GraphIndex
from labelspace.search.product_quantized import ProductIndex
from labelspace.space import sphere
from labelspace.topk import NO_LABEL, TopK
from labelspace.training.extras import require_torch

if TYPE_CHECKING:
    from labelspace.training.deep import DeepSettings
    from labelspace.training.label_embedding import LabelEmbeddingSettings, LabelEmbeddingTask

# A query's constant, which meets the bias of a key; large, so that keys have a small number there.
_CONSTANT = 8.0
# With more labels than this, an exact search takes too long.
_FEW_LABELS = 10_000
# With fewer non-zeros than this, steps are too small to be shared among threads.
_LITTLE_WORK = 100_000

PRESETS: dict[str, dict[str, Any]] = {
    "best": {
        "dim": 512,
        "hidden": (512,),
        "activation": "relu",
        "weight_norm": False,
        "keep_features": 0.8,
        "dropout": 0.0,
        "loss": "binary",
        "biases": True,
        "scale": 8.0,
        "tail": 1.0,
        "regularizer": "glas",
        "regularizer_weight": 10.0,
        "n_epochs": 8,
        "batch_size": 512,
        "learning_rate": 3e-3,
        "row_rule": "adam",
        "row_learning_rate": 3e-3,
    },
    "paper": {
        "dim": 1024,
        "hidden": (1024,),
        "activation": "relu",
        "weight_norm": True,
        "keep_features": 0.8,
        "dropout": 0.0,
        "loss": "margin",
        "biases": False,
        "scale": 10.0,
        "tail": 0.0,
        "regularizer": "glas",
        "regularizer_weight": 10.0,
        "n_epochs": 10,
        "batch_size": 4096,
        "learning_rate": 1e-3,
        "row_rule": "adam",
        "row_learning_rate": 1e-3,
    },
}

# Few rows are overfitted by a hidden layer.
_SMALL = 10_000
_FOR_SMALL: dict[str, Any] = {
    "hidden": (),
    "scale": 10.0,
    "keep_features": 0.4,
    "n_epochs": 15,
    "batch_size": 128,
    "row_rule": "adagrad",
    "row_learning_rate": 2e-2,
}

# Many rows have more to teach, and more features that a pass meets only once or twice.
_LARGE = 20_000
_FOR_LARGE: dict[str, Any] = {"n_epochs": 12}


class GLaS(LabelRanker):
    """A network that puts rows near the vectors of their labels.

    Learning needs torch (``pip install 'labelspace[deep]'``); prediction does not. Parameters that
    are None take the value of the preset; the values of "best" are given first, with those for
    fewer than 10,000 rows after "few", and those of "paper" in brackets.

    Parameters
    ----------
    preset : {"best", "paper"}, default="best"
        "best" is what measures best; "paper" has the base setting of the paper.
    dim : int, optional
        Dimensions of the space: 512 (1024).
    hidden : tuple of int, optional
        Widths of the network's hidden layers: (512,), few none ((1024,)).
    activation : {"relu", "linear"}, optional
        What stands between layers: relu (relu).
    weight_norm : bool, optional
        Whether all outputs of a layer share one length of weights: False (True).
    keep_features : float, optional
        Probability with which training keeps a row's feature: 0.8, few 0.4 (0.8).
    dropout : float, optional
        Share of hidden outputs that training leaves out: 0 (0).
    loss : {"binary", "softmax", "margin", "mining"}, optional
        Binary cross-entropy, softmax cross-entropy, or the margin loss against sampled labels or
        against the hardest of them: binary (margin).
    biases : bool, optional
        Whether labels have biases, and scores a learned scale: True (False).
    scale : float, optional
        Factor of inner products in binary and softmax: 8, few 10 (10); smaller holds back more.
    tail : float, optional
        How much rare labels are preferred, with ``loss="binary"``: 0 ranks by probability, 1 by
        probability times inverse propensity, which is what PSP counts: 1 (0).
    margin : float, default=0.3
        By how much a row's label should stand above others, for margin and mining.
    n_hardest : int, default=10
        Labels that mining looks at.
    all_positives : bool, default=True
        Whether softmax wants all of a row's labels at once, or one drawn from them.
    regularizer : {"glas", "spread-out", "laplacian", "gravity", "none"}, optional
        What label vectors are held to: glas (glas).
    regularizer_weight : float, optional
        λ: 10 (10).
    similarity : {"arithmetic", "geometric", "jaccard", "pmi"}, default="arithmetic"
        What glas and laplacian take for the likeness of labels.
    n_sampled : int, default=4096
        Labels that a batch is scored against, those of its rows among them.
    n_epochs : int, optional
        Passes over the rows at most: 8, few 15, but 12 from 20,000 rows on (10); very small
        corpora get more, for 60 steps.
    batch_size : int, optional
        Rows in a step: 512, few 128 (4096).
    learning_rate : float, optional
        First step size of the network's dense layers, falling to zero: 0.003 (0.001).
    row_rule : {"adam", "adagrad"}, optional
        How the rows of the two tables, features and labels, move; adagrad takes a third of the
        memory: adam, few adagrad (adam).
    row_learning_rate : float, optional
        First step size of the tables: 0.003, few 0.02 (0.001).
    validation : float, default=0.0
        Share of the rows that is held out to measure each epoch on.
    patience : int, default=2
        With ``validation``: epochs without a better P@1 on it after which training ends; the best
        epoch is taken.
    checkpoint : str, optional
        Folder to save the state of training to after each epoch; a training that was killed goes
        on from there.
    device : {"auto", "cpu", "cuda"}, default="auto"
        Where to learn; auto takes a GPU if there is one.
    search : {"auto", "exact", "clustered", "graph", "product"}, default="auto"
        Index of the labels; auto is exact up to 10,000 labels and clustered above.
    n_probes : int, default=16
        Lists that clustered and product search look into: more finds more and takes longer.
    storage : {"int8", "float32"}, default="int8"
        How the first layer and a clustered index are kept.
    idf : bool, default=False
        Whether features are weighted by inverse document frequency: for 0-1 features or counts.
    k, threshold, random_state, n_threads
        As in every estimator; see :class:`labelspace.base.LabelRanker`. Scores are
        probabilities with ``loss="binary"`` and ``tail=0``, preferences from 0 to 1 with
        ``loss="binary"`` and a tail, else inner products (and biases).

    Attributes
    ----------
    encoder_ : NetworkEncoder
        The network.
    index_ : index of the labels' vectors and biases
    vectors_ : ndarray of shape (n_labels_, dim)
        Unit vectors of the labels.
    history_ : History
        Loss and, with ``validation``, quality of each epoch.
    settings_ : dict
        The parameters as the preset has made them.

    Examples
    --------
    >>> from labelspace.models import GLaS
    >>> X = [[1.0, 0.0, 0.1], [0.9, 0.2, 0.0], [0.0, 1.0, 0.1], [0.1, 0.9, 0.3]]
    >>> Y = [["red"], ["red"], ["round"], ["round"]]
    >>> model = GLaS(dim=8, hidden=(8,), random_state=0).fit(X, Y)
    >>> model.classes_[model.predict_topk([[0.7, 0.1, 0.0]], k=1).labels]
    array([['red']], dtype='<U5')
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LabelRanker._parameter_constraints,
        "preset": [StrOptions(set(PRESETS))],
        "dim": [Interval(Integral, 1, None, closed="left"), None],
        "hidden": [tuple, list, None],
        "activation": [StrOptions({"relu", "linear"}), None],
        "weight_norm": ["boolean", None],
        "keep_features": [Interval(Real, 0, 1, closed="right"), None],
        "dropout": [Interval(Real, 0, 1, closed="left"), None],
        "loss": [StrOptions({"binary", "softmax", "margin", "mining"}), None],
        "biases": ["boolean", None],
        "scale": [Interval(Real, 0, None, closed="neither"), None],
        "tail": [Interval(Real, 0, None, closed="left"), None],
        "margin": [Interval(Real, 0, None, closed="left")],
        "n_hardest": [Interval(Integral, 1, None, closed="left")],
        "all_positives": ["boolean"],
        "regularizer": [
            StrOptions({"glas", "spread-out", "laplacian", "gravity", "none"}),
            None,
        ],
        "regularizer_weight": [Interval(Real, 0, None, closed="left"), None],
        "similarity": [StrOptions(set(SIMILARITIES))],
        "n_sampled": [Interval(Integral, 1, None, closed="left")],
        "n_epochs": [Interval(Integral, 1, None, closed="left"), None],
        "batch_size": [Interval(Integral, 1, None, closed="left"), None],
        "learning_rate": [Interval(Real, 0, None, closed="neither"), None],
        "row_rule": [StrOptions({"adam", "adagrad"}), None],
        "row_learning_rate": [Interval(Real, 0, None, closed="neither"), None],
        "validation": [Interval(Real, 0, 1, closed="left")],
        "patience": [Interval(Integral, 1, None, closed="left")],
        "checkpoint": [str, None],
        "device": [StrOptions({"auto", "cpu", "cuda"})],
        "search": [StrOptions({"auto", "exact", "clustered", "graph", "product"})],
        "n_probes": [Interval(Integral, 1, None, closed="left")],
        "storage": [StrOptions({"int8", "float32"})],
        "idf": ["boolean"],
    }

    def __init__(
        self,
        *,
        preset: str = "best",
        dim: int | None = None,
        hidden: tuple[int, ...] | None = None,
        activation: str | None = None,
        weight_norm: bool | None = None,
        keep_features: float | None = None,
        dropout: float | None = None,
        loss: str | None = None,
        biases: bool | None = None,
        scale: float | None = None,
        tail: float | None = None,
        margin: float = 0.3,
        n_hardest: int = 10,
        all_positives: bool = True,
        regularizer: str | None = None,
        regularizer_weight: float | None = None,
        similarity: str = "arithmetic",
        n_sampled: int = 4096,
        n_epochs: int | None = None,
        batch_size: int | None = None,
        learning_rate: float | None = None,
        row_rule: str | None = None,
        row_learning_rate: float | None = None,
        validation: float = 0.0,
        patience: int = 2,
        checkpoint: str | None = None,
        device: str = "auto",
        search: str = "auto",
        n_probes: int = 16,
        storage: str = "int8",
        idf: bool = False,
        k: int = 5,
        threshold: float | None = None,
        random_state: Any = None,
        n_threads: int | None = None,
    ) -> None:
        super().__init__(k=k, threshold=threshold, random_state=random_state, n_threads=n_threads)
        self.preset = preset
        self.dim = dim
        self.hidden = hidden
        self.activation = activation
        self.weight_norm = weight_norm
        self.keep_features = keep_features
        self.dropout = dropout
        self.loss = loss
        self.biases = biases
        self.scale = scale
        self.tail = tail
        self.margin = margin
        self.n_hardest = n_hardest
        self.all_positives = all_positives
        self.regularizer = regularizer
        self.regularizer_weight = regularizer_weight
        self.similarity = similarity
        self.n_sampled = n_sampled
        self.n_epochs = n_epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.row_rule = row_rule
        self.row_learning_rate = row_learning_rate
        self.validation = validation
        self.patience = patience
        self.checkpoint = checkpoint
        self.device = device
        self.search = search
        self.n_probes = n_probes
        self.storage = storage
        self.idf = idf

    def _fit(self, X: csr_matrix, Y: csr_matrix) -> None:
        require_torch("GLaS")
        from labelspace.training.deep import device_of, train
        from labelspace.training.label_embedding import LabelEmbeddingTask

        self.settings_ = self._chosen(X.shape[0])
        seed = int(check_random_state(self.random_state).randint(1 << 31))
        self.rows_ = UnitRows(idf=self.idf).learn(X)
        X = self.rows_.encode(X)
        learned, held_out = _split(X, Y, self.validation, seed)
        task = LabelEmbeddingTask(
            X[learned],
            Y[learned],
            self._task_settings(),
            likeness=self._likeness(Y[learned]),
            held_out=(X[held_out], Y[held_out]) if held_out.size else None,
            seed=seed,
            device=device_of(self.device),
        )
        with self._threads(X):
            self.history_ = train(task, learned.size, self._training(seed))
        self._take(task)

    def _partial_fit(self, X: csr_matrix, Y: csr_matrix) -> None:
        """Place new labels where their rows are, then learn on gently from the new rows."""
        require_torch("GLaS")
        from dataclasses import replace

        from labelspace.training.deep import device_of, train
        from labelspace.training.label_embedding import LabelEmbeddingTask

        seed = int(check_random_state(self.random_state).randint(1 << 31))
        X = self.rows_.encode(X)
        vectors = self._place_new(X, Y)
        learned, _ = _split(X, Y, 0.0, seed)
        if not learned.size:
            self._index(vectors)
            return
        settings = replace(self._task_settings(), weight_norm=False, scale=self.scale_)
        task = LabelEmbeddingTask(
            X[learned],
            Y[learned],
            settings,
            likeness=self._likeness(Y[learned]),
            start=(self.encoder_, vectors, self.biases_),
            seed=seed,
            device=device_of(self.device),
        )
        gently = replace(
            self._training(seed),
            n_epochs=2,
            min_steps=10,
            learning_rate=0.1 * self.settings_["learning_rate"],
            row_learning_rate=0.1 * self.settings_["row_learning_rate"],
            patience=None,
            checkpoint=None,
        )
        with self._threads(X):
            train(task, learned.size, gently)
        self._take(task)

    def _predict_topk(self, X: csr_matrix, k: int) -> TopK:
        X = self.rows_.encode(X)
        return TopK.stack(in_blocks(lambda block: self._answer(block, k), X, self.n_threads))

    def _answer(self, X: csr_matrix, k: int) -> TopK:
        Z = self.encoder_.encode(X)
        found = self.index_.search(_with_constant(Z, _CONSTANT), k)
        scores = self.scale_ * found.products
        if self.settings_["loss"] == "binary":
            scores = 1.0 / (1.0 + np.exp(-np.clip(scores, -80.0, 80.0)))
        return TopK(found.ids, np.where(found.ids == NO_LABEL, -np.inf, scores).astype(np.float32))

    def _take(self, task: LabelEmbeddingTask) -> None:
        """Keep what prediction needs of what was learned."""
        self.encoder_ = task.network.exported(self.storage)
        self.scale_ = task.score_scale
        vectors, self.biases_ = task.label_vectors()
        self.center_, self.typical_score_ = task.typical()
        self._index(vectors)

    def _index(self, vectors: NDArray[np.float32]) -> None:
        biases = (self.biases_ + self._preference()) / (self.scale_ * _CONSTANT)
        keys = np.column_stack((vectors, biases)).astype(np.float32)
        kind = self.search
        if kind == "auto":
            kind = "exact" if len(keys) <= _FEW_LABELS else "clustered"
        self.index_: ExactIndex | ClusteredIndex | GraphIndex | ProductIndex
        if kind == "exact":
            self.index_ = ExactIndex(keys)
        elif kind == "graph":
            self.index_ = GraphIndex(keys)
        elif kind == "product":
            self.index_ = ProductIndex(keys, n_probes=self.n_probes)
            self.whole_vectors_ = vectors.astype(np.float16)
        else:
            self.index_ = ClusteredIndex(keys, n_probes=self.n_probes, storage=self.storage)

    def _preference(self) -> Any:
        """Return what is added to the logits of rare labels."""
        if self.settings_["loss"] != "binary":
            return 0.0
        rarity = metrics.inverse_propensity(
            self.label_counts_, self.n_examples_, n_labels=self.n_labels_
        )
        return self.settings_["tail"] * np.log(rarity)

    @property
    def vectors_(self) -> NDArray[np.float32]:
        if isinstance(self.index_, ProductIndex):  # which keeps them too coarsely to learn on from
            return self.whole_vectors_.astype(np.float32)
        vectors = self.index_.vectors(np.arange(self.index_.n_keys))[:, :-1]
        return sphere.keys(np.ascontiguousarray(vectors, dtype=np.float32))

    def _place_new(self, X: csr_matrix, Y: csr_matrix) -> NDArray[np.float32]:
        """Let new labels point from the middle of all rows to the middle of theirs.

        The bias is such that their own rows score as rows score their labels on average, but not
        above that of every other label.
        """
        vectors = self.vectors_
        n_old = len(vectors)
        n_new = Y.shape[1] - n_old
        if not n_new:
            return vectors
        Z = self.encoder_.encode(X)
        own = csr_matrix(Y[:, n_old:].T)
        counts = np.maximum(np.diff(own.indptr), 1).astype(np.float32)
        middles = np.asarray(own @ Z, dtype=np.float32) / counts[:, np.newaxis]
        placed = sphere.keys(middles - self.center_)
        biases = np.zeros(n_new, dtype=np.float32)
        if self.settings_["biases"]:
            biases = self.typical_score_ - self.scale_ * np.einsum("ij,ij->i", middles, placed)
            biases = np.minimum(biases, self.biases_.max(initial=-20.0))
        self.biases_ = np.concatenate((self.biases_, biases.astype(np.float32)))
        return np.concatenate((vectors, placed))

    def _threads(self, X: csr_matrix) -> AbstractContextManager[Any]:
        """Learn on one thread where steps are so small that threads would wait for each other."""
        return threads.limit(1) if X.nnz < _LITTLE_WORK else nullcontext()

    def _likeness(self, Y: csr_matrix) -> csr_matrix | None:
        if self.settings_["regularizer"] not in ("glas", "laplacian"):
            return None
        return similarity(cooccurrence(Y), Y.shape[0], self.similarity)

    def _chosen(self, n_examples: int) -> dict[str, Any]:
        """Return the preset's parameters, those that were given in their place."""
        chosen = dict(PRESETS[self.preset])
        if self.preset == "best" and n_examples < _SMALL:
            chosen |= _FOR_SMALL
        elif self.preset == "best" and n_examples >= _LARGE:
            chosen |= _FOR_LARGE
        return {
            name: value if getattr(self, name) is None else getattr(self, name)
            for name, value in chosen.items()
        }

    def _task_settings(self) -> LabelEmbeddingSettings:
        from labelspace.training.label_embedding import LabelEmbeddingSettings

        chosen = SimpleNamespace(**self.settings_)
        return LabelEmbeddingSettings(
            widths=(*chosen.hidden, chosen.dim),
            activation=chosen.activation,
            weight_norm=chosen.weight_norm,
            keep=chosen.keep_features,
            dropout=chosen.dropout,
            loss=chosen.loss,
            all_positives=self.all_positives,
            margin=self.margin,
            n_hardest=self.n_hardest,
            scale=chosen.scale,
            biases=chosen.biases,
            n_sampled=self.n_sampled,
            regularizer=chosen.regularizer,
            weight=chosen.regularizer_weight,
        )

    def _training(self, seed: int) -> DeepSettings:
        from labelspace.training.deep import DeepSettings

        return DeepSettings(
            n_epochs=self.settings_["n_epochs"],
            min_steps=60,
            batch_size=self.settings_["batch_size"],
            learning_rate=self.settings_["learning_rate"],
            row_learning_rate=self.settings_["row_learning_rate"],
            row_rule=self.settings_["row_rule"],
            patience=self.patience if self.validation else None,
            checkpoint=self.checkpoint,
            seed=seed,
        )


def _with_constant(Z: NDArray[np.float32], constant: float) -> NDArray[np.float32]:
    return np.concatenate((Z, np.full((len(Z), 1), constant, dtype=np.float32)), axis=1)


def _split(
    X: csr_matrix, Y: csr_matrix, share: float, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows to learn from, of those with labels, and rows that are held out."""
    rows = np.flatnonzero(np.diff(Y.indptr))
    n_held_out = int(share * rows.size)
    if not n_held_out:
        return rows, rows[:0]
    rows = np.random.default_rng(seed).permutation(rows)
    return np.sort(rows[n_held_out:]), np.sort(rows[:n_held_out])
