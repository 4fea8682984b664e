"""GLaS: rows and labels on one sphere, kept from overfitting by what labels say about each other.

Guo et al. (2019) show that a network x → z and a vector v for each label can fit any training
labels in few dimensions, so that what such models lack is not room but restraint. Theirs is a
regulariser that wants inner products of label vectors to be the labels' conditional frequencies,

    L = Σ_i ℓ(z_i·V, y_i) + λ mean_{a,b} (v_a·v_b − ½(F(a|b) + F(b|a)))²,

with dropout of input features beside it. Prediction is the search for the labels with the largest
inner product. Here scores are s·z·v + b with a bias for each label and binary cross-entropy for ℓ,
and a linear map stands beside the network: the φ(x) = Σ_y v_y of the paper's proof, as near as a
linear map comes to it. Where rows are many, so do several networks, which differ in their random
start. ``preset="paper"`` is the original.
"""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.special import expit
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from labelspace import metrics
from labelspace.base import LabelRanker
from labelspace.deep import checkpoints
from labelspace.deep.requirements import check_network
from labelspace.encoders.network import NetworkEncoder
from labelspace.encoders.unit_rows import UnitRows
from labelspace.graph.cooccurrence import SIMILARITIES, cooccurrence, similarity
from labelspace.linear.label_ridge import refitted_label_ridge
from labelspace.models.glas.label_sphere import SEARCHES, LabelSphere
from labelspace.models.glas.settings import PRESETS, preset, task_settings, training_settings
from labelspace.selection import split_rows
from labelspace.threads import in_blocks
from labelspace.topk import NO_LABEL, TopK

if TYPE_CHECKING:
    from labelspace.deep.loop import DeepSettings
    from labelspace.models.glas.task import GLaSTask, GLaSTaskSettings


class GLaS(LabelRanker):
    """A network that puts rows near the vectors of their labels.

    Learning needs torch (``pip install 'labelspace[deep]'``); prediction does not. Parameters that
    are None take the value of the preset; the values of "best" are given first, with those for
    fewer than 10,000 rows after "few" and from 20,000 rows on after "many", then those of "paper"
    in brackets.

    Parameters
    ----------
    preset : {"best", "paper"}, default="best"
        "best" is what measures best; "paper" has the base setting of the paper.
    n_learners : int, optional
        Networks that are learned, of whose inner products the mean is taken: 1, many 2 (1).
    dim : int, optional
        Dimensions of a network's space: 512 (1024).
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
        Factor of inner products in binary and softmax, to begin with: 8, few and many 10 (10).
    tail : float, optional
        How much rare labels are preferred, with ``loss="binary"``: 0 ranks by probability, 1 by
        probability times inverse propensity, which is what PSP counts: 1, many 2 (0).
    margin : float, default=0.3
        By how much a row's label should stand above others, for margin and mining.
    n_hardest : int, default=10
        Labels that mining looks at.
    all_positives : bool, default=True
        Whether softmax wants all of a row's labels at once, or one drawn from them.
    regularizer : {"glas", "spread-out", "laplacian", "gravity", "none"}, optional
        What label vectors are held to: glas (glas).
    regularizer_weight : float, optional
        λ: 100 (10).
    similarity : {"arithmetic", "geometric", "jaccard", "pmi"}, default="arithmetic"
        What glas and laplacian take for the likeness of labels.
    linear_dim : int, optional
        Dimensions of a linear map beside the network, found without gradient steps: 512, many
        1024, but none with fewer than 1,000 features (none).
    linear_scale : float, optional
        Factor of the linear map's inner products, which are added to the networks' mean: 25.
    n_sampled : int, default=4096
        Labels that a batch is scored against, those of its rows among them.
    n_epochs : int, optional
        Passes over the rows at most: 8, few 15, many 6 (10); very small corpora get more, for 40
        steps.
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
        Folder for the state of training after each epoch, from where a killed training goes on.
    device : {"auto", "cpu", "cuda"}, default="auto"
        Where to learn; auto takes a GPU if there is one.
    search : {"auto", "exact", "coarse_to_fine"}, default="auto"
        Index of the labels; auto is exact up to 2,000 labels. Above it is coarse to fine, which
        looks at a short form of every label and compares the best in full.
    storage : {"int8", "float32"}, default="int8"
        How the first layer and the labels' keys are kept.
    idf : bool, default=False
        Whether features are weighted by inverse document frequency: for 0-1 features or counts.
    k, threshold, random_state, n_threads
        As in every estimator; see :class:`labelspace.base.LabelRanker`. Scores are between 0 and 1
        with ``loss="binary"``, probabilities without tail and linear map; else inner products.

    Attributes
    ----------
    sphere_ : LabelSphere
        The networks, the labels that have rows, their vectors and biases, and the search for them.
    history_ : History
        Loss and, with ``validation``, quality of each epoch of the first network.
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
        "n_learners": [Interval(Integral, 1, None, closed="left"), None],
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
        "regularizer": [StrOptions({"glas", "spread-out", "laplacian", "gravity", "none"}), None],
        "regularizer_weight": [Interval(Real, 0, None, closed="left"), None],
        "similarity": [StrOptions(set(SIMILARITIES))],
        "linear_dim": [Interval(Integral, 0, None, closed="left"), None],
        "linear_scale": [Interval(Real, 0, None, closed="left"), None],
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
        "search": [StrOptions(set(SEARCHES))],
        "storage": [StrOptions({"int8", "float32"})],
        "idf": ["boolean"],
    }

    def __init__(
        self,
        *,
        preset: str = "best",
        n_learners: int | None = None,
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
        linear_dim: int | None = None,
        linear_scale: float | None = None,
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
        storage: str = "int8",
        idf: bool = False,
        k: int = 5,
        threshold: float | None = None,
        random_state: Any = None,
        n_threads: int | None = None,
    ) -> None:
        super().__init__(k=k, threshold=threshold, random_state=random_state, n_threads=n_threads)
        self.preset = preset
        self.n_learners = n_learners
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
        self.linear_dim = linear_dim
        self.linear_scale = linear_scale
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
        self.storage = storage
        self.idf = idf

    def _validate_params(self) -> None:
        super()._validate_params()
        check_network(self)

    def _fit(self, X: csr_matrix, Y: csr_matrix) -> None:
        from labelspace.deep.loop import train

        self.settings_ = self._chosen(*X.shape)
        seed = int(check_random_state(self.random_state).randint(1 << 31))
        self.rows_ = UnitRows(idf=self.idf).learn(X)
        X = self.rows_.encode(X)
        # Labels without rows have nothing to teach, and no place.
        counts = np.bincount(Y.indices, minlength=Y.shape[1])
        labels = np.flatnonzero(counts) if counts.any() else np.arange(Y.shape[1])
        Y = csr_matrix(Y[:, labels])
        learned, held_out = split_rows(Y, self.validation, seed)
        measured = (X[held_out], Y[held_out]) if held_out.size else None
        X, Y = X[learned], Y[learned]
        told = task_settings(self.settings_)
        networks, histories = [], []
        for number in range(self.settings_["n_learners"]):
            task = self._task(X, Y, told, seed + number, held_out=measured)
            histories.append(train(task, learned.size, self._training(seed).of_part(number)))
            networks.append(task.taken(self.storage))
            del task  # which is as large as what is kept of it
        self.history_ = histories[0]
        if self.checkpoint:
            checkpoints.remove(self.checkpoint)
        linear = self._linear_map(X, Y, seed)
        self.sphere_ = LabelSphere.joined(networks, labels, linear, self.settings_["linear_scale"])
        del networks, linear  # which are as large as the index that is made now
        self.sphere_.look_at(X, Y)
        self._index()

    def _partial_fit(self, X: csr_matrix, Y: csr_matrix) -> None:
        """Place new labels where their rows are, then learn on gently from the new rows."""
        from labelspace.deep.loop import train

        space = self.sphere_
        seed = int(check_random_state(self.random_state).randint(1 << 31))
        X = self.rows_.encode(X)
        new = np.setdiff1d(Y.indices, space.labels)
        if new.size:
            space.place(new, X, csr_matrix(Y[:, new]))
        Y = csr_matrix(Y[:, space.labels])
        learned, _ = split_rows(Y, 0.0, seed)
        if learned.size:
            told = replace(task_settings(self.settings_), weight_norm=False)
            gently = replace(
                self._training(seed),
                n_epochs=2,
                min_steps=10,
                learning_rate=0.1 * self.settings_["learning_rate"],
                row_learning_rate=0.1 * self.settings_["row_learning_rate"],
                patience=None,
                checkpoint=None,
            )
            parts = space.networks(self.settings_["n_learners"])
            for number, part in enumerate(parts):
                start = (part.encoder, part.vectors, part.biases)
                told = replace(told, scale=part.scale)
                task = self._task(X[learned], Y[learned], told, seed + number, start=start)
                train(task, learned.size, gently)
                parts[number] = task.taken(self.storage)
            space.take(parts)
        self._index()

    def _predict_topk(self, X: csr_matrix, k: int) -> TopK:
        X = self.rows_.encode(X)
        return TopK.stack(in_blocks(lambda block: self._answer(block, k), X, self.n_threads))

    def _answer(self, X: csr_matrix, k: int) -> TopK:
        found = self.sphere_.answer(X, k)
        scores: Any = found.products
        if self.settings_["loss"] == "binary":
            scores = expit(scores)
        return TopK(found.ids, np.where(found.ids == NO_LABEL, -np.inf, scores).astype(np.float32))

    def _index(self) -> None:
        """Make the search, rare labels preferred."""
        preference: Any = 0.0
        counts = self.label_counts_[self.sphere_.labels]
        if self.settings_["loss"] == "binary":
            rarity = metrics.inverse_propensity(counts, self.n_examples_)
            preference = self.settings_["tail"] * np.log(rarity)
        self.sphere_.build(preference, kind=self.search, storage=self.storage)

    def _task(
        self, X: csr_matrix, Y: csr_matrix, told: GLaSTaskSettings, seed: int, **more: Any
    ) -> GLaSTask:
        from labelspace.deep.loop import device_of
        from labelspace.models.glas.task import GLaSTask

        likeness = None
        if told.regularizer in ("glas", "laplacian"):
            likeness = similarity(cooccurrence(Y), Y.shape[0], self.similarity)
        device = device_of(self.device)
        return GLaSTask(X, Y, told, likeness=likeness, seed=seed, device=device, **more)

    def _linear_map(
        self, X: csr_matrix, Y: csr_matrix, seed: int
    ) -> tuple[NetworkEncoder, NDArray[np.float32]] | None:
        if not self.settings_["linear_dim"]:
            return None
        dim = self.settings_["linear_dim"]
        W, mean, V = refitted_label_ridge(X, Y, dim, seed=seed, n_threads=self.n_threads)
        return NetworkEncoder(W, mean, [], storage=self.storage), V

    def _chosen(self, n_examples: int, n_features: int) -> dict[str, Any]:
        """Return the preset's parameters, those that were given in their place."""
        same = ("all_positives", "margin", "n_hardest", "n_sampled")
        chosen = preset(self.preset, n_examples, n_features)
        return self._given(chosen | {name: getattr(self, name) for name in same})

    def _training(self, seed: int) -> DeepSettings:
        patience = self.patience if self.validation else None
        return training_settings(
            self.settings_, patience=patience, checkpoint=self.checkpoint, seed=seed
        )
