"""XML-CNN: convolutions over the words of a text, and a bottleneck before the labels.

Liu, Chang, Wu and Yang (2017) read a text as its word vectors in their order. Filters of several
widths go over it, and of each filter the largest answer is kept, not once for the whole text but
in each of its parts (dynamic max pooling), so that where something is said still counts. A narrow
layer before the labels keeps the model small where these are many. With e_t the vector of word t,

    a_f(t)  = relu(b_f + Σ_{j < w} F_fj · e_{t+j})            filter f of width w, at word t
    h       = relu(B [max_{t in part} a_f(t)]_{f, part} + c)   the bottleneck
    P(l | x) = σ(v_l · h + b_l)

and the binary cross-entropy of all labels is made small. Ours hears more: beside the filters stands
the sum of vectors that words have of their own for it, whatever their order (``bag_dim``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.sparse import csr_matrix
from scipy.special import expit
from sklearn.utils import check_random_state

from labelspace.base import LabelRanker
from labelspace.deep.requirements import require_torch
from labelspace.encoders.unit_rows import UnitRows
from labelspace.errors import DataError, UsageError
from labelspace.models.xml_cnn import row_words
from labelspace.models.xml_cnn.row_words import RowWords, WordsAndBags
from labelspace.models.xml_cnn.settings import XMLCNNSettings
from labelspace.parameters import Settings, one_of, real
from labelspace.selection import split_rows
from labelspace.store import schema
from labelspace.threads import in_blocks
from labelspace.topk import TopK, topk_dense

_TURNED = ("max_words", "dim", "widths", "n_filters", "n_parts", "hidden", "n_epochs")
# Rows that are answered at a time: what filters say to their words is held for all of them.
_BLOCK = 128


class XMLCNN(LabelRanker):
    """A network of convolutions over the words of a row, in their order, and of their bag.

    The default is not the paper's method: beside the convolutions the bag of a row's words counts,
    and word vectors begin by the labels that words come with. ``preset="paper"`` has neither.

    Learning needs torch (``pip install 'labelspace[deep]'``); prediction does not. A ``Tagger``
    gives it the words of texts in their order (``labelspace.data.WordSequences``). Parameters that
    are None take the value of the preset; the values of "best" are given first, those of "paper" in
    brackets.

    Parameters
    ----------
    preset : {"best", "paper"}, default="best"
        "best" is what measures best for its time; "paper" has the published sizes.
    max_words : int, optional
        Words of a row that are read, from its beginning: 200 (500).
    dim : int, optional
        Length of word vectors: 128 (300).
    widths : sequence of int, optional
        Words under a filter: 1, 2 and 4 (2, 4 and 8).
    n_filters : int, optional
        Filters of each width: 128 (128).
    n_parts : int, optional
        Parts of a row, of which each filter's largest answer is kept: 4 (8).
    hidden : int, optional
        Width of the bottleneck: 512 (512).
    n_epochs : int, optional
        Passes over the rows at most: 8 (20).
    validation : float, default=0
        Share of the rows that are held out, to end training when they get no better.
    reads : {"auto", "sequences", "features"}, default="auto"
        What a row is: the numbers of its words, from 1, in columns 0, 1 and so on; or features,
        each of which is a word with its value as weight, in the order of columns. "auto" takes
        whole numbers without gaps for sequences.
    settings : dict or XMLCNNSettings, optional
        Everything else that can be told: see
        :class:`labelspace.models.xml_cnn.settings.XMLCNNSettings`.
    k, threshold, random_state, n_threads
        As in every estimator; see :class:`labelspace.base.LabelRanker`. Scores are from 0 to 1.

    Attributes
    ----------
    network_ : WordConvolutions
        What has been learned.
    history_ : History
        The loss of each epoch, its seconds and, with ``validation``, figures on rows held out.
    settings_ : XMLCNNSettings
        The settings as preset and parameters have made them.

    Examples
    --------
    >>> from labelspace.models import XMLCNN
    >>> X = [[1, 2, 3], [2, 1, 3], [1, 2, 4], [2, 1, 4]]  # the order of 1 and 2 matters
    >>> model = XMLCNN(dim=8, n_filters=8, n_parts=1, hidden=8, random_state=0)
    >>> model = model.fit(X, [["up"], ["down"], ["up"], ["down"]])
    >>> model.classes_[model.predict_topk([[4, 2, 1]], k=1).labels]
    array([['down']], dtype='<U4')
    """

    settings_type: ClassVar[type[Settings]] = XMLCNNSettings
    reads_sequences: ClassVar[bool] = True
    settings_: XMLCNNSettings

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LabelRanker._parameter_constraints,
        **{name: [*XMLCNNSettings.rules[name], None] for name in _TURNED},
        "preset": [one_of(*XMLCNNSettings.presets)],
        "validation": [real(0, 1, "left")],
        "reads": [one_of("auto", "sequences", "features")],
    }

    _schema: ClassVar[schema.Schema] = {
        "settings_": schema.part("XMLCNNSettings"),
        "rows_": schema.optional(schema.part("UnitRows", n_features="n_features")),
        "network_": schema.part("WordConvolutions", n_labels="n_learned"),
        "label_ids_": schema.array("int64", "n_learned", low=0, below="n_labels", unique=True),
        "history_": schema.part("History"),
    }

    def __init__(
        self,
        *,
        preset: Literal["best", "paper"] = "best",
        max_words: int | None = None,
        dim: int | None = None,
        widths: Sequence[int] | None = None,
        n_filters: int | None = None,
        n_parts: int | None = None,
        hidden: int | None = None,
        n_epochs: int | None = None,
        validation: float = 0.0,
        reads: Literal["auto", "sequences", "features"] = "auto",
        settings: Mapping[str, Any] | XMLCNNSettings | None = None,
        k: int = 5,
        threshold: float | None = None,
        random_state: Any = None,
        n_threads: int | None = None,
    ) -> None:
        super().__init__(k=k, threshold=threshold, random_state=random_state, n_threads=n_threads)
        self.preset = preset
        self.max_words = max_words
        self.dim = dim
        self.widths = widths
        self.n_filters = n_filters
        self.n_parts = n_parts
        self.hidden = hidden
        self.n_epochs = n_epochs
        self.validation = validation
        self.reads = reads
        self.settings = settings

    def _validate_params(self) -> None:
        super()._validate_params()
        require_torch(type(self).__name__)

    def _fit(self, X: csr_matrix, Y: csr_matrix) -> None:
        from labelspace.deep.loop import train
        from labelspace.models.xml_cnn.task import XMLCNNTask

        self.settings_ = told = self._resolved(X, Y)
        _check_widths(told.widths)
        seed = int(check_random_state(self.random_state).randint(1 << 31))
        sequences = self.reads == "sequences"
        if sequences and X.nnz and not row_words.are_sequences(X):
            raise DataError(
                "reads is 'sequences', but rows are no word numbers without gaps: give texts to a "
                "Tagger, or rows as labelspace.data.WordSequences makes them."
            )
        if self.reads == "auto":
            sequences = row_words.are_sequences(X)
        self.rows_ = None if sequences else UnitRows(norm=told.normalize).learn(X)
        # Labels without rows have nothing to teach, and no place.
        self.label_ids_ = np.flatnonzero(np.bincount(Y.indices, minlength=Y.shape[1]))
        Y = csr_matrix(Y[:, self.label_ids_])
        learned, held_out = split_rows(Y, self.validation, seed)
        n_words = row_words.n_words_of(X) if sequences else X.shape[1]
        rows = self._read(X, n_words, bags=told.bag_dim > 0)
        measured = (rows.of_rows(held_out), Y[held_out]) if held_out.size else None
        task = XMLCNNTask(
            *(X[learned], rows.of_rows(learned), Y[learned], n_words, told),
            held_out=measured,
            seed=seed,
        )
        training = told.training(seed, stops_early=self.validation > 0)
        self.history_ = train(task, learned.size, training)
        self.network_ = task.exported()

    def _read(self, X: csr_matrix, n_words: int, *, bags: bool) -> WordsAndBags:
        """Return the known words of rows in their order and, if asked for, without it."""
        told = self.settings_
        X = X if self.rows_ is None else self.rows_.encode(X)

        def words(most: int) -> RowWords:
            read = row_words.read_sequences if self.rows_ is None else row_words.read_features
            return read(X, most).known(n_words)

        bag = row_words.bags_of(words(told.bag_words), n_words) if bags else None
        return WordsAndBags(words(told.max_words), bag)

    def _predict_topk(self, X: csr_matrix, k: int) -> TopK:
        k = min(k, len(self.label_ids_))
        network = self.network_

        def answer(block: csr_matrix) -> TopK:
            bags = network.bag_vectors is not None
            rows = self._read(block, len(network.word_vectors), bags=bags)
            parts = []
            for start in range(0, rows.n_rows, _BLOCK):
                some = rows.of_rows(np.arange(start, min(start + _BLOCK, rows.n_rows)))
                top = topk_dense(network.scores(some), k)
                parts.append(TopK(self.label_ids_[top.labels], expit(top.scores)))
            return TopK.stack(parts)

        return TopK.stack(in_blocks(answer, X, self.n_threads))


def _check_widths(widths: Sequence[int]) -> None:
    whole = all(isinstance(width, Integral) and width >= 1 for width in widths)
    if not widths or not whole:
        raise UsageError(
            f"widths is {tuple(widths)!r}, but they count words under a filter: give whole numbers "
            "from 1, such as (1, 2, 4)."
        )
