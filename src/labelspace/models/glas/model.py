"""GLaS: rows and labels on one sphere, kept from overfitting by what labels say about each other.

Guo et al. (2019) show that a network x → z and a vector v for each label can fit any training
labels in few dimensions, so that what such models lack is not room but restraint. Theirs is a
regulariser that wants inner products of label vectors to be the labels' conditional frequencies;
over the B rows of a batch, and pairs of the labels that were drawn for them,

    L = (1/B) Σ_i ℓ(z_i·V, y_i) + λ mean_{a,b} (v_a·v_b − ½(F(a|b) + F(b|a)))²,

with dropout of input features beside it. Prediction is the search for the labels with the largest
inner product. Here scores are s·z·v + b with a bias for each label and binary cross-entropy for ℓ,
and a linear map stands beside the network: the φ(x) = Σ_y v_y of the paper's proof, as near as a
linear map comes to it. Where rows are many, so do several networks, which differ in their random
start. ``preset="paper"`` is the paper's base setting; its page names what the paper leaves open.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.special import expit
from sklearn.utils import check_random_state

from labelspace import engine, metrics
from labelspace.base import LabelRanker
from labelspace.deep import checkpoints
from labelspace.deep.requirements import check_network
from labelspace.encoders.network import NetworkEncoder
from labelspace.encoders.unit_rows import UnitRows
from labelspace.graph.cooccurrence import cooccurrence, similarity
from labelspace.linear.label_ridge import refitted_label_ridge
from labelspace.models.glas.concatenated import columns_in_use, columns_of
from labelspace.models.glas.joint_embedding import JointEmbedding, LearnedNetwork
from labelspace.models.glas.settings import GLaSSettings
from labelspace.parameters import FLAG, one_of
from labelspace.selection import split_rows
from labelspace.store import schema
from labelspace.threads import in_blocks
from labelspace.topk import NO_LABEL, TopK

if TYPE_CHECKING:
    from labelspace.deep.history import History
    from labelspace.models.glas.task import GLaSTask

# Settings that are parameters too.
_TURNED = ("n_learners", "dim", "hidden", "regularizer_weight", "tail", "n_epochs", "validation")


class GLaS(LabelRanker):
    """A network that puts rows near the vectors of their labels.

    The default is not the paper's method: its loss is binary cross-entropy, with a bias for each
    label, rare labels are raised, and where features are many a linear map stands beside the
    network. ``preset="paper"`` is the base setting of the paper.

    Learning needs torch (``pip install 'labelspace[deep]'``); prediction does not. Parameters that
    are None take the value of the preset; :class:`GLaSSettings` has these and all others.

    Parameters
    ----------
    preset : {"best", "paper"}, default="best"
        "best" is what measures best; "paper" has the base setting of the paper, and for what the
        paper does not say the values that the method's page names.
    n_learners : int, optional
        Networks that are learned, of whose inner products the mean is taken.
    dim : int, optional
        Dimensions of a network's space.
    hidden : tuple of int, optional
        Widths of the network's hidden layers.
    regularizer_weight : float, optional
        λ, by which label vectors are held to what labels say about each other.
    tail : float, optional
        How much rare labels are preferred: 0 ranks by probability, 1 by probability times inverse
        propensity, which is what PSP counts.
    n_epochs : int, optional
        Passes over the rows at most.
    validation : float, optional
        Share of the rows that is held out to measure each epoch on; training ends when they get no
        better, and the best epoch is taken.
    checkpoint : str, optional
        Folder for the state of training after each epoch, from where a killed training goes on.
    device : {"auto", "cpu", "cuda"}, default="auto"
        Where to learn; auto takes a GPU if there is one.
    idf : bool, default=False
        Whether features are weighted by inverse document frequency: for 0-1 features or counts.
    settings : dict or GLaSSettings, optional
        All else, such as ``{"learning_rate": 0.001, "regularizer": "laplacian"}``.
    k, threshold, random_state, n_threads
        As in every estimator; see :class:`labelspace.base.LabelRanker`. Scores are between 0 and 1
        with the loss "binary", probabilities without tail and linear map; else inner products.

    Attributes
    ----------
    embedding_ : JointEmbedding
        The networks, the labels that have rows, their vectors and biases, and the search for them.
    history_ : History
        Loss and, with ``validation``, quality of each epoch of the first network.
    settings_ : GLaSSettings
        The settings as preset, corpus and parameters have made them.

    Examples
    --------
    >>> from labelspace.models import GLaS
    >>> X = [[1.0, 0.0, 0.1], [0.9, 0.2, 0.0], [0.0, 1.0, 0.1], [0.1, 0.9, 0.3]]
    >>> Y = [["red"], ["red"], ["round"], ["round"]]
    >>> model = GLaS(dim=8, hidden=(8,), random_state=0).fit(X, Y)
    >>> model.classes_[model.predict_topk([[0.7, 0.1, 0.0]], k=1).labels]
    array([['red']], dtype='<U5')
    """

    settings_type = GLaSSettings
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LabelRanker._parameter_constraints,
        **{name: [*GLaSSettings.rules[name], None] for name in _TURNED},
        "preset": [one_of(*GLaSSettings.presets)],
        "checkpoint": [str, None],
        "device": [one_of("auto", "cpu", "cuda")],
        "idf": [FLAG],
    }

    _schema: ClassVar[schema.Schema] = {
        "rows_": schema.part("UnitRows", n_features="n_features"),
        "settings_": schema.part("GLaSSettings"),
        "embedding_": schema.part(
            "JointEmbedding", n_features="n_features", labels_end=schema.up_to("n_labels")
        ),
        "history_": schema.maybe(schema.part("History")),
    }

    def __init__(
        self,
        *,
        preset: str = "best",
        n_learners: int | None = None,
        dim: int | None = None,
        hidden: tuple[int, ...] | None = None,
        regularizer_weight: float | None = None,
        tail: float | None = None,
        n_epochs: int | None = None,
        validation: float | None = None,
        checkpoint: str | None = None,
        device: str = "auto",
        idf: bool = False,
        settings: Mapping[str, Any] | GLaSSettings | None = None,
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
        self.regularizer_weight = regularizer_weight
        self.tail = tail
        self.n_epochs = n_epochs
        self.validation = validation
        self.checkpoint = checkpoint
        self.device = device
        self.idf = idf
        self.settings = settings

    def _validate_params(self) -> None:
        super()._validate_params()
        check_network(self)

    def _fit(self, X: csr_matrix, Y: csr_matrix) -> None:
        self.settings_: GLaSSettings = self._resolved(X, Y)
        chosen = self.settings_
        seed = int(check_random_state(self.random_state).randint(1 << 31))
        self.rows_ = UnitRows(idf=self.idf, norm=chosen.normalize).learn(X)
        X = self.rows_.encode(X)
        # Labels without rows have nothing to teach, and no place.
        counts = np.bincount(Y.indices, minlength=Y.shape[1])
        labels = np.flatnonzero(counts) if counts.any() else np.arange(Y.shape[1])
        Y = csr_matrix(Y[:, labels])
        learned, held_out = split_rows(Y, chosen.validation, seed)
        # Features without rows have nothing to teach either, and each costs as much as one with.
        n_features, columns = X.shape[1], columns_in_use(X[learned])
        if columns is not None:
            X = columns_of(X, columns)
        measured = (X[held_out], Y[held_out]) if held_out.size else None
        X, Y = X[learned], Y[learned]
        inputs = {"X": X, "Y": Y, "held_out": measured, "seed": seed, "settings": chosen}
        inputs |= {"device": self.device, "checkpoint": self.checkpoint}
        numbers = range(chosen.n_learners)
        if engine.is_active():
            inputs["checkpoint"] = None  # a block that is there is one
            trained = engine.run_blocks(train_network, inputs, numbers, "training networks")
        else:
            trained = [train_network(inputs, number) for number in numbers]
        networks = [LearnedNetwork(*network) for network, _ in trained]
        self.history_ = trained[0][1]
        if self.checkpoint:
            checkpoints.remove(self.checkpoint)
        linear = self._linear_map(X, Y, seed)
        self.embedding_ = JointEmbedding.of_networks(
            networks, labels, linear, chosen.linear_scale, columns, n_features
        )
        del networks, linear, trained  # which are as large as the index that is made now
        self.embedding_.estimate_statistics(X, Y)
        self._build_index()

    def _partial_fit(self, X: csr_matrix, Y: csr_matrix) -> None:
        """Place new labels where their rows are, then learn on gently from the new rows."""
        from labelspace.deep.loop import train

        embedding, chosen = self.embedding_, self.settings_
        seed = int(check_random_state(self.random_state).randint(1 << 31))
        X = self.rows_.encode(X)
        embedding.encoder.take_more(X)
        new = np.setdiff1d(Y.indices, embedding.labels)
        if new.size:
            embedding.add_labels(new, X, csr_matrix(Y[:, new]))
        Y = csr_matrix(Y[:, embedding.labels])
        learned, _ = split_rows(Y, 0.0, seed)
        if learned.size:
            X = embedding.encoder.taken(X)
            networks = embedding.networks(chosen.n_learners)
            for number, network in enumerate(networks):
                start = (network.encoder, network.vectors, network.biases)
                told = replace(chosen, weight_norm=False, scale=network.scale)
                task = self._task(X[learned], Y[learned], told, seed + number, start=start)
                train(task, learned.size, chosen.gentle_training(seed))
                networks[number] = task.exported(chosen.storage)
            embedding.replace_networks(networks)
        self._build_index()

    def _predict_topk(self, X: csr_matrix, k: int) -> TopK:
        X = self.rows_.encode(X)
        return TopK.stack(in_blocks(lambda block: self._answer(block, k), X, self.n_threads))

    def _answer(self, X: csr_matrix, k: int) -> TopK:
        found = self.embedding_.search(X, k)
        scores: Any = found.products
        if self.settings_.loss == "binary":
            scores = expit(scores)
        return TopK(found.ids, np.where(found.ids == NO_LABEL, -np.inf, scores).astype(np.float32))

    def _build_index(self) -> None:
        """Make the search, rare labels preferred."""
        preference: Any = 0.0
        chosen = self.settings_
        if chosen.loss == "binary":
            counts = self.label_counts_[self.embedding_.labels]
            preference = chosen.tail * np.log(metrics.inverse_propensity(counts, self.n_examples_))
        self.embedding_.build_index(preference, kind=chosen.search, storage=chosen.storage)

    def _task(
        self, X: csr_matrix, Y: csr_matrix, settings: GLaSSettings, seed: int, **more: Any
    ) -> GLaSTask:
        return _task_of(self.device, X, Y, settings, seed, **more)

    def _linear_map(
        self, X: csr_matrix, Y: csr_matrix, seed: int
    ) -> tuple[NetworkEncoder, NDArray[np.float32]] | None:
        dim = self.settings_.linear_dim
        if not dim:
            return None
        W, mean, V = refitted_label_ridge(X, Y, dim, seed=seed, n_threads=self.n_threads)
        return NetworkEncoder(W, mean, [], storage=self.settings_.storage), V


def train_network(
    inputs: dict[str, Any], number: int
) -> tuple[LearnedNetwork | tuple[Any, ...], History]:
    """Learn one of the networks, which differ in their random start: what a worker may do."""
    from labelspace.deep.loop import train

    X, Y, settings, seed = inputs["X"], inputs["Y"], inputs["settings"], inputs["seed"]
    task = _task_of(inputs["device"], X, Y, settings, seed + number, held_out=inputs["held_out"])
    training = settings.training(seed, checkpoint=inputs["checkpoint"])
    history = train(task, X.shape[0], training.of_part(number))
    return task.exported(settings.storage), history


def _task_of(
    device: str, X: csr_matrix, Y: csr_matrix, settings: GLaSSettings, seed: int, **more: Any
) -> GLaSTask:
    from labelspace.deep.loop import device_of
    from labelspace.models.glas.task import GLaSTask

    likeness = None
    if settings.uses_likeness:
        likeness = similarity(cooccurrence(Y), Y.shape[0], settings.similarity)
    return GLaSTask(X, Y, settings, likeness=likeness, seed=seed, device=device_of(device), **more)
