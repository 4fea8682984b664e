"""NeuralXC: rows and label sets get short codes, and a regressor leads from one to the other.

Srinivasan, Rao and Agarwal train two auto-encoders, φ_i and ψ_i for rows, φ_o and ψ_o for label
sets, and a regressor f between their codes, all at once:

    L(x, y) = α ‖ψ_i(φ_i(x)) − x‖² + β ‖ψ_o(φ_o(y)) − y‖² + BCE(ψ_o(f(φ_i(x))), y)

The reconstructions keep codes from holding only what the training labels ask for. Prediction is
ψ_o(f(φ_i(x))), which ends in a search for the largest outputs. The report's code works out every
feature and every label of a batch; here both decoders work out non-zeros and a sample of zeros, so
weighted that the loss is the same on average. A linear map that no step trains stands beside the
networks, for what rare features say.
"""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from labelspace import threads
from labelspace.base import LabelRanker
from labelspace.deep import checkpoints
from labelspace.deep.autoencoder.settings import PRESETS, preset, task_settings, training_settings
from labelspace.deep.requirements import check_network
from labelspace.encoders.network import NetworkEncoder
from labelspace.encoders.unit_rows import UnitRows
from labelspace.ensemble import with_constant
from labelspace.models.neuralxc.coded_labels import CodedLabels
from labelspace.models.neuralxc.linear_labels import linear_labels
from labelspace.search.exact import ExactIndex
from labelspace.selection import split_rows
from labelspace.threads import in_blocks
from labelspace.topk import NO_LABEL, TopK

if TYPE_CHECKING:
    from labelspace.deep.autoencoder.task import AutoencoderTask
    from labelspace.deep.loop import DeepSettings

Floats = NDArray[np.float32]


class NeuralXC(LabelRanker):
    """Auto-encoders of rows and of label sets, and a regressor from one code to the other.

    Learning needs torch (``pip install 'labelspace[deep]'``); prediction does not. Parameters that
    are None take the value of the preset; the values of "best" are given first, with those for
    fewer than 20,000 rows after "few", and those of "paper" in brackets. Fewer than 2,000 rows
    get one network of 128 dimensions, 12 passes, batches of 64 and no linear map. Fewer than 1,000
    features are taken for something else than words: rows have a hidden layer, and training takes
    8 passes with steps of 0.003.

    Parameters
    ----------
    preset : {"best", "paper"}, default="best"
        "best" is what measures best; "paper" has widths, activations, weights and steps as in the
        report and its code. Its widths grow with the data: codes of 6·√features and 2.5·√labels, a
        hidden layer at their geometric mean with the number of columns (at most 2,048), and one in
        the regressor at the mean of both codes.
    n_learners : int, optional
        Networks that are trained, each from a start of its own; scores are averaged: 1, few 2 (1).
    dim, label_dim : int, optional
        Widths of the codes of rows and of label sets: 512, few 256 (by the data).
    linear_dim : int, optional
        Dimensions of a linear map from rows to labels that counts as much as all networks; 0 is
        none: 512, without words 0 (0).
    hidden, label_hidden : tuple of int, optional
        Hidden widths of the two encoders; decoders have them the other way round: none, for
        rows without words 512 (by the data).
    regressor_hidden : tuple of int, optional
        Hidden widths of the regressor: none, so that it is a linear map (by the data).
    activation : {"relu", "tanh", "linear"}, optional
        What stands between layers: relu (relu).
    code : {"linear", "tanh"}, optional
        What the codes of label sets go through: linear (tanh).
    cosine : float, optional
        If not 0, scores are cosines of codes and labels times a length that is learned and starts
        here, plus a bias: 20 (0).
    keep_features : float, optional
        Probability with which training shows the encoder a row's feature; the decoder has to give
        all of them: 0.8, few 0.6 (1).
    keep_labels : float, optional
        The same for labels, so that a label set is made whole from some of it: 0.5 (1).
    dropout : float, optional
        Share of hidden outputs and codes that training leaves out: 0.2, few 0.3 (0).
    alpha, beta : float, optional
        Weights of the reconstruction of rows and of label sets; 0 leaves the network for it out:
        1, 1 (1, 1).
    n_sampled : int, default=1024
        Labels that a batch is scored against, those of its rows among them; all if there are no
        more.
    n_zeros : int, default=512
        Features of which a batch makes zeros again; all if there are no more.
    n_rebuilt : int, default=32
        Rows of a batch that are made again; they stand for all of its rows.
    n_epochs : int, optional
        Passes over the rows at most: 4, few 15 (10); very small corpora get more, for 60 steps.
    batch_size : int, optional
        Rows in a step: 256 (64).
    learning_rate : float, optional
        First step size of dense layers, falling to zero: 0.0003 (0.0003).
    row_rule : {"adam", "adagrad"}, optional
        How rows of the tables of features and labels move; adagrad takes a third of the memory:
        adam, but adagrad with few rows of fewer than 10,000 features (adam).
    row_learning_rate : float, optional
        First step size of the tables: 0.003, with adagrad so chosen 0.03 (0.0003).
    weight_decay : float, optional
        Of dense layers: 0 (0.0001).
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
    storage : {"int8", "float32"}, default="int8"
        How the encoder's first layer is kept.
    idf : bool, default=False
        Whether features are weighted by inverse document frequency: for 0-1 features or counts.
    k, threshold, random_state, n_threads
        As in every estimator; see :class:`labelspace.base.LabelRanker`. Scores are probabilities.

    Attributes
    ----------
    learners_ : list of CodedLabels
        φ_i, f and ψ_o of each network.
    linear_ : CodedLabels or None
        The linear map beside them.
    index_ : ExactIndex
        The last layers of all of them, side by side, and their mean bias.
    history_ : History
        Losses and, with ``validation``, quality of each epoch, of the first learner.
    settings_ : dict
        The parameters as the preset has made them.

    Examples
    --------
    >>> from labelspace.models import NeuralXC
    >>> X = [[1.0, 0.0, 0.1], [0.9, 0.2, 0.0], [0.0, 1.0, 0.1], [0.1, 0.9, 0.3]]
    >>> Y = [["red"], ["red"], ["round"], ["round"]]
    >>> model = NeuralXC(dim=8, label_dim=8, random_state=0).fit(X, Y)
    >>> model.classes_[model.predict_topk([[0.7, 0.1, 0.0]], k=1).labels]
    array([['red']], dtype='<U5')
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LabelRanker._parameter_constraints,
        "preset": [StrOptions(set(PRESETS))],
        "n_learners": [Interval(Integral, 1, None, closed="left"), None],
        "dim": [Interval(Integral, 1, None, closed="left"), None],
        "label_dim": [Interval(Integral, 1, None, closed="left"), None],
        "linear_dim": [Interval(Integral, 0, None, closed="left"), None],
        "hidden": [tuple, list, None],
        "label_hidden": [tuple, list, None],
        "regressor_hidden": [tuple, list, None],
        "activation": [StrOptions({"relu", "tanh", "linear"}), None],
        "code": [StrOptions({"linear", "tanh"}), None],
        "cosine": [Interval(Real, 0, None, closed="left"), None],
        "keep_features": [Interval(Real, 0, 1, closed="right"), None],
        "keep_labels": [Interval(Real, 0, 1, closed="right"), None],
        "dropout": [Interval(Real, 0, 1, closed="left"), None],
        "alpha": [Interval(Real, 0, None, closed="left"), None],
        "beta": [Interval(Real, 0, None, closed="left"), None],
        "n_sampled": [Interval(Integral, 1, None, closed="left")],
        "n_zeros": [Interval(Integral, 1, None, closed="left")],
        "n_rebuilt": [Interval(Integral, 1, None, closed="left")],
        "n_epochs": [Interval(Integral, 1, None, closed="left"), None],
        "batch_size": [Interval(Integral, 1, None, closed="left"), None],
        "learning_rate": [Interval(Real, 0, None, closed="neither"), None],
        "row_rule": [StrOptions({"adam", "adagrad"}), None],
        "row_learning_rate": [Interval(Real, 0, None, closed="neither"), None],
        "weight_decay": [Interval(Real, 0, None, closed="left"), None],
        "validation": [Interval(Real, 0, 1, closed="left")],
        "patience": [Interval(Integral, 1, None, closed="left")],
        "checkpoint": [str, None],
        "device": [StrOptions({"auto", "cpu", "cuda"})],
        "storage": [StrOptions({"int8", "float32"})],
        "idf": ["boolean"],
    }

    def __init__(
        self,
        *,
        preset: str = "best",
        n_learners: int | None = None,
        dim: int | None = None,
        label_dim: int | None = None,
        linear_dim: int | None = None,
        hidden: tuple[int, ...] | None = None,
        label_hidden: tuple[int, ...] | None = None,
        regressor_hidden: tuple[int, ...] | None = None,
        activation: str | None = None,
        code: str | None = None,
        cosine: float | None = None,
        keep_features: float | None = None,
        keep_labels: float | None = None,
        dropout: float | None = None,
        alpha: float | None = None,
        beta: float | None = None,
        n_sampled: int = 1024,
        n_zeros: int = 512,
        n_rebuilt: int = 32,
        n_epochs: int | None = None,
        batch_size: int | None = None,
        learning_rate: float | None = None,
        row_rule: str | None = None,
        row_learning_rate: float | None = None,
        weight_decay: float | None = None,
        validation: float = 0.0,
        patience: int = 2,
        checkpoint: str | None = None,
        device: str = "auto",
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
        self.label_dim = label_dim
        self.linear_dim = linear_dim
        self.hidden = hidden
        self.label_hidden = label_hidden
        self.regressor_hidden = regressor_hidden
        self.activation = activation
        self.code = code
        self.cosine = cosine
        self.keep_features = keep_features
        self.keep_labels = keep_labels
        self.dropout = dropout
        self.alpha = alpha
        self.beta = beta
        self.n_sampled = n_sampled
        self.n_zeros = n_zeros
        self.n_rebuilt = n_rebuilt
        self.n_epochs = n_epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.row_rule = row_rule
        self.row_learning_rate = row_learning_rate
        self.weight_decay = weight_decay
        self.validation = validation
        self.patience = patience
        self.checkpoint = checkpoint
        self.device = device
        self.storage = storage
        self.idf = idf

    @property
    def gives_probabilities(self) -> bool:
        """Whether a score is the probability that the label is right."""
        return True

    def _validate_params(self) -> None:
        super()._validate_params()
        check_network(self)

    def _fit(self, X: csr_matrix, Y: csr_matrix) -> None:
        from labelspace.deep.autoencoder.task import AutoencoderTask
        from labelspace.deep.loop import device_of, train

        self.settings_ = self._chosen(X.shape, Y.shape[1])
        seed = int(check_random_state(self.random_state).randint(1 << 31))
        self.rows_ = UnitRows(idf=self.idf).learn(X)
        X = self.rows_.encode(X)
        learned, held_out = split_rows(Y, self.validation, seed)
        kept = (X[held_out], Y[held_out]) if held_out.size else None
        X, Y = X[learned], Y[learned]
        histories, self.learners_ = [], []
        for number in range(self.settings_["n_learners"]):
            task = AutoencoderTask(
                X,
                Y,
                task_settings(self.settings_),
                held_out=kept,
                seed=seed + number,
                device=device_of(self.device),
            )
            histories.append(train(task, learned.size, self._training(seed).of_part(number)))
            self.learners_.append(self._exported(task))
            del task  # which is far larger than what is kept of it
        if self.checkpoint:
            checkpoints.remove(self.checkpoint)
        self.history_ = histories[0]
        self.linear_ = None
        if (dim := self.settings_["linear_dim"]) and learned.size:
            self.linear_ = linear_labels(X, Y, dim, self.storage, self.n_threads, seed)
        self._index()

    def _partial_fit(self, X: csr_matrix, Y: csr_matrix) -> None:
        """Give new labels an output each, then learn on gently; only BCE is made small."""
        from labelspace.deep.autoencoder.task import AutoencoderTask
        from labelspace.deep.loop import device_of, train

        seed = int(check_random_state(self.random_state).randint(1 << 31))
        X = self.rows_.encode(X)
        learned, _ = split_rows(Y, 0.0, seed)
        gently = replace(
            self._training(seed),
            n_epochs=2,
            min_steps=20,
            learning_rate=0.1 * self.settings_["learning_rate"],
            row_learning_rate=0.1 * self.settings_["row_learning_rate"],
            patience=None,
            checkpoint=None,
        )
        settings = replace(task_settings(self.settings_), alpha=0.0, beta=0.0)
        for number, learner in enumerate(self.learners_):
            learner.add_labels(X, Y)
            if not learned.size:
                continue
            task = AutoencoderTask(
                X[learned],
                Y[learned],
                settings,
                start=(learner.encoder, learner.layers, learner.weights, learner.biases),
                seed=seed + number,
                device=device_of(self.device),
            )
            train(task, learned.size, replace(gently, seed=seed + number))
            self.learners_[number] = self._exported(task)
        if self.linear_ is not None:
            self.linear_.add_labels(X, Y)
        self._index()

    def _predict_topk(self, X: csr_matrix, k: int) -> TopK:
        X = self.rows_.encode(X)
        return TopK.stack(in_blocks(lambda block: self._answer(block, k), X, self.n_threads))

    def _answer(self, X: csr_matrix, k: int) -> TopK:
        H = np.concatenate([one.last_hidden(X) for one, _ in self._parts()], axis=1)
        found = self.index_.search(with_constant(H), k)
        scores = 1.0 / (1.0 + np.exp(-np.clip(found.products, -80.0, 80.0)))
        return TopK(found.ids, np.where(found.ids == NO_LABEL, -np.inf, scores).astype(np.float32))

    def encode(self, X: Any) -> Floats:
        """Return the codes φ_i(x) of rows, those of all learners side by side."""
        check_is_fitted(self, "learners_")
        X = self.rows_.encode(self._checked(X, reset=False))
        with threads.limit(self.n_threads):
            return np.concatenate([one.encoder.encode(X) for one in self.learners_], axis=1)

    @property
    def encoder_(self) -> NetworkEncoder:
        """φ_i of the first learner, which reads rows as ``rows_`` makes them."""
        return self.learners_[0].encoder

    def _exported(self, task: AutoencoderTask) -> CodedLabels:
        weights, biases = task.output_layer()
        encoder = task.encoder.exported(self.storage)
        unit = bool(self.settings_["cosine"])
        parts = (encoder, task.exported_layers(), weights, biases, *task.typical())
        return CodedLabels(*parts, unit=unit)

    def _index(self) -> None:
        parts = self._parts()
        weights = np.concatenate([share * one.weights for one, share in parts], axis=1)
        biases = np.sum([share * one.biases for one, share in parts], axis=0)
        self.index_ = ExactIndex(np.column_stack((weights, biases)).astype(np.float32))

    def _parts(self) -> list[tuple[CodedLabels, float]]:
        """Return networks and linear map, and what share each has in a score."""
        n = len(self.learners_)
        if self.linear_ is None:
            return [(one, 1.0 / n) for one in self.learners_]
        return [(one, 0.5 / n) for one in self.learners_] + [(self.linear_, 0.5)]

    def _chosen(self, shape: tuple[int, int], n_labels: int) -> dict[str, Any]:
        """Return the preset's parameters, those that were given in their place."""
        chosen = preset(self.preset, *shape, n_labels)
        same = ("n_sampled", "n_zeros", "n_rebuilt")
        return self._given(chosen | {name: getattr(self, name) for name in same})

    def _training(self, seed: int) -> DeepSettings:
        patience = self.patience if self.validation else None
        return training_settings(
            self.settings_, patience=patience, checkpoint=self.checkpoint, seed=seed
        )
