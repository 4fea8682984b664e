"""NeuralXC: rows and label sets get short codes, and a regressor leads from one to the other.

Srinivasan, Rao and Agarwal train two auto-encoders, φ_i and ψ_i for rows, φ_o and ψ_o for label
sets, and a regressor f between their codes, all at once:

    L(x, y) = α ‖ψ_i(φ_i(x)) − x‖² + β ‖ψ_o(φ_o(y)) − y‖² + BCE(ψ_o(f(φ_i(x))), y)

The reconstructions keep codes from holding only what the training labels ask for. Prediction is
ψ_o(f(φ_i(x))), which ends in a search for the largest outputs. The report's code works out every
feature and every label of a batch (``report_task``); by default both decoders work out non-zeros
and a sample of zeros, so weighted that the loss is the same on average, and a linear map that no
step trains stands beside the networks, for what rare features say.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from labelspace import threads
from labelspace.base import LabelRanker
from labelspace.deep import checkpoints
from labelspace.deep.requirements import check_network
from labelspace.encoders.network import NetworkEncoder
from labelspace.encoders.unit_rows import UnitRows
from labelspace.ensemble import with_constant
from labelspace.models.neuralxc.calibrated_ridge import calibrated_ridge
from labelspace.models.neuralxc.label_network import LabelNetwork
from labelspace.models.neuralxc.settings import NeuralXCSettings
from labelspace.parameters import FLAG, one_of, real
from labelspace.search.exact import ExactIndex
from labelspace.selection import split_rows
from labelspace.store import schema
from labelspace.threads import in_blocks
from labelspace.topk import NO_LABEL, TopK

if TYPE_CHECKING:
    from labelspace.deep.history import History
    from labelspace.deep.loop import DeepSettings
    from labelspace.models.neuralxc.task import AutoencoderTask

Floats = NDArray[np.float32]

# Settings that are parameters too.
_TURNED = ("n_learners", "dim", "label_dim", "linear_dim", "hidden", "n_epochs")


class NeuralXC(LabelRanker):
    """Auto-encoders of rows and of label sets, and a regressor from one code to the other.

    The default is not the report's method, which is ``preset="paper"``. By default scores are
    cosines, encoders are shown a part of each row, and from 2,000 rows and 1,000 features on a
    linear map beside the networks has half of each score.

    Learning needs torch (``pip install 'labelspace[deep]'``); prediction does not. Parameters that
    are None take the value of the preset; :class:`NeuralXCSettings` has these and all others.

    Parameters
    ----------
    preset : {"best", "repaired", "paper"}, default="best"
        "best" is what measures best. "paper" is the report's program, which on bibtex is no better
        than the most common labels, and learns something of delicious. Of the program's setup for
        eurlex it has neither the batch normalisation in φ_i nor the ReLU at the end of ψ_i, but a
        sigmoid there, as for other corpora. "repaired" is "paper" with outputs that begin at how
        frequent labels are, and without the L2 term of its Adam.
    n_learners : int, optional
        Networks that are trained, each from a start of its own; scores are averaged.
    dim, label_dim : int, optional
        Widths of the codes of rows and of label sets.
    linear_dim : int, optional
        Dimensions of a linear map from rows to labels that counts as much as all networks; 0 is
        none.
    hidden : tuple of int, optional
        Hidden widths of the encoder of rows; the decoder has them the other way round.
    n_epochs : int, optional
        Passes over the rows at most; very small corpora get more, for 60 steps.
    validation : float, default=0.0
        Share of the rows that is held out to measure each epoch on; training ends when P@1 on them
        has not grown for ``patience`` epochs, and the best epoch is taken.
    checkpoint : str, optional
        Folder to save the state of training to after each epoch; a training that was killed goes
        on from there.
    device : {"auto", "cpu", "cuda"}, default="auto"
        Where to learn; auto takes a GPU if there is one.
    idf : bool, default=False
        Whether features are weighted by inverse document frequency: for 0-1 features or counts.
    settings : dict or NeuralXCSettings, optional
        All else that can be told, such as ``{"alpha": 0.0, "beta": 0.0}`` to leave the
        reconstructions out.
    k, threshold, random_state, n_threads
        As in every estimator; see :class:`labelspace.base.LabelRanker`. Scores are probabilities.

    Attributes
    ----------
    learners_ : list of LabelNetwork
        φ_i, f and ψ_o of each network.
    linear_ : LabelNetwork or None
        The linear map beside them.
    index_ : ExactIndex
        The last layers of all of them, side by side, and their mean bias.
    history_ : History
        Losses and, with ``validation``, quality of each epoch, of the first learner.
    settings_ : NeuralXCSettings
        What the preset, ``settings`` and parameters have made together.

    Examples
    --------
    >>> from labelspace.models import NeuralXC
    >>> X = [[1.0, 0.0, 0.1], [0.9, 0.2, 0.0], [0.0, 1.0, 0.1], [0.1, 0.9, 0.3]]
    >>> Y = [["red"], ["red"], ["round"], ["round"]]
    >>> model = NeuralXC(dim=8, label_dim=8, random_state=0).fit(X, Y)
    >>> model.classes_[model.predict_topk([[0.7, 0.1, 0.0]], k=1).labels]
    array([['red']], dtype='<U5')
    """

    settings_type = NeuralXCSettings
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LabelRanker._parameter_constraints,
        **{name: [*NeuralXCSettings.rules[name], None] for name in _TURNED},
        "preset": [one_of(*NeuralXCSettings.presets)],
        "validation": [real(0, 1, closed="left")],
        "checkpoint": [str, None],
        "device": [one_of("auto", "cpu", "cuda")],
        "idf": [FLAG],
    }

    _schema: ClassVar[schema.Schema] = {
        "rows_": schema.part("UnitRows", n_features="n_features"),
        "settings_": schema.part("NeuralXCSettings"),
        "learners_": schema.list_of(
            schema.part("LabelNetwork", n_features="n_features", n_labels="n_labels"), least=1
        ),
        "linear_": schema.optional(
            schema.part("LabelNetwork", n_features="n_features", n_labels="n_labels")
        ),
        "index_": schema.part(
            "ExactIndex", n_keys="n_labels", dim="n_read", ids_end=schema.up_to("n_labels")
        ),
        "history_": schema.maybe(schema.part("History")),
    }

    @classmethod
    def _check_state(cls, state: schema.State, sizes: schema.Sizes) -> None:
        super()._check_state(state, sizes)
        if "index_" not in state:
            return
        networks = [*state["learners_"], *filter(None, [state["linear_"]])]
        sizes.settle("n_read", 1 + sum(sizes.of(one)["width"] for one in networks))
        if not sizes.trusted:
            schema.check_unique(state["index_"].ids)

    def __init__(
        self,
        *,
        preset: str = "best",
        n_learners: int | None = None,
        dim: int | None = None,
        label_dim: int | None = None,
        linear_dim: int | None = None,
        hidden: tuple[int, ...] | None = None,
        n_epochs: int | None = None,
        validation: float = 0.0,
        checkpoint: str | None = None,
        device: str = "auto",
        idf: bool = False,
        settings: Mapping[str, Any] | NeuralXCSettings | None = None,
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
        self.n_epochs = n_epochs
        self.validation = validation
        self.checkpoint = checkpoint
        self.device = device
        self.idf = idf
        self.settings = settings

    @property
    def gives_probabilities(self) -> bool:
        """Whether a score is the probability that the label is right."""
        return True

    def _validate_params(self) -> None:
        super()._validate_params()
        check_network(self)

    def _fit(self, X: csr_matrix, Y: csr_matrix) -> None:
        told: NeuralXCSettings = self._resolved(X, Y)
        told.refuse_unread()
        self.settings_ = told
        seed = int(check_random_state(self.random_state).randint(1 << 31))
        self.rows_ = UnitRows(idf=self.idf, norm=self.settings_.normalize).learn(X)
        X = self.rows_.encode(X)
        learned, held_out = split_rows(Y, self.validation, seed)
        kept = (X[held_out], Y[held_out]) if held_out.size else None
        X, Y = X[learned], Y[learned]
        training = self.settings_.training(
            seed=seed, checkpoint=self.checkpoint, stops_early=bool(self.validation)
        )
        histories, self.learners_ = [], []
        for number in range(self.settings_.n_learners):
            learner, history = self._learned(X, Y, training.of_part(number), kept)
            histories.append(history)
            self.learners_.append(learner)
        if self.checkpoint:
            checkpoints.remove(self.checkpoint)
        self.history_ = histories[0]
        self.linear_ = None
        if (dim := self.settings_.linear_dim) and learned.size:
            storage = self.settings_.storage
            self.linear_ = calibrated_ridge(X, Y, dim, storage, self.n_threads, seed)
        self._index()

    def _partial_fit(self, X: csr_matrix, Y: csr_matrix) -> None:
        """Give new labels an output each, then learn on gently; only BCE is made small."""
        from labelspace.models.neuralxc.training import train_autoencoder

        seed = int(check_random_state(self.random_state).randint(1 << 31))
        X = self.rows_.encode(X)
        learned, _ = split_rows(Y, 0.0, seed)
        gently = replace(
            self.settings_,
            alpha=0.0,
            beta=0.0,
            n_epochs=2,
            learning_rate=0.1 * self.settings_.learning_rate,
            row_learning_rate=0.1 * self.settings_.row_learning_rate,
        )
        for number, learner in enumerate(self.learners_):
            learner.add_labels(X, Y)
            if not learned.size:
                continue
            task, _ = train_autoencoder(
                X[learned],
                Y[learned],
                gently,
                replace(gently.training(seed=seed + number), min_steps=20),
                start=(learner.encoder, learner.layers, learner.weights, learner.biases),
                device=self.device,
            )
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

    def _learned(
        self,
        X: csr_matrix,
        Y: csr_matrix,
        training: DeepSettings,
        held_out: tuple[csr_matrix, csr_matrix] | None,
    ) -> tuple[LabelNetwork, History]:
        from labelspace.models.neuralxc.training import train_autoencoder

        told = self.settings_
        if told.networks == "dense":
            from labelspace.deep.loop import device_of, train
            from labelspace.models.neuralxc.report_task import ReportTask

            device = device_of(self.device)
            dense = ReportTask(X, Y, told, held_out=held_out, seed=training.seed, device=device)
            history = train(dense, X.shape[0], training)
            return dense.exported(told.storage), history
        task, history = train_autoencoder(
            X, Y, told, training, held_out=held_out, device=self.device
        )
        return self._exported(task), history

    def _exported(self, task: AutoencoderTask) -> LabelNetwork:
        weights, biases = task.output_layer()
        encoder = task.encoder.exported(self.settings_.storage)
        unit = bool(self.settings_.cosine)
        parts = (encoder, task.exported_layers(), weights, biases, *task.output_statistics())
        return LabelNetwork(*parts, unit=unit)

    def _index(self) -> None:
        parts = self._parts()
        weights = np.concatenate([share * one.weights for one, share in parts], axis=1)
        biases = np.sum([share * one.biases for one, share in parts], axis=0)
        self.index_ = ExactIndex(np.column_stack((weights, biases)).astype(np.float32))

    def _parts(self) -> list[tuple[LabelNetwork, float]]:
        """Return networks and linear map, and what share each has in a score."""
        n = len(self.learners_)
        if self.linear_ is None:
            return [(one, 1.0 / n) for one in self.learners_]
        return [(one, 0.5 / n) for one in self.learners_] + [(self.linear_, 0.5)]
