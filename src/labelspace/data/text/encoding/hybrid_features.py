"""Words and vectors together: rows are [tf-idf of words | weight × the encoder's vector].

The words are ``TextFeatures`` or whatever else makes features of texts; the vectors are those of
any encoder. How much they weigh beside the words is chosen on rows held out (``weighing``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from labelspace import progress
from labelspace.data.text.encoding.encoding_job import EncodingJob
from labelspace.data.text.encoding.precomputed import NAME as PRECOMPUTED
from labelspace.data.text.encoding.precomputed import EncodedText
from labelspace.data.text.encoding.resolving import (
    check_known,
    encoder_for,
    given_encoder,
    name_of_object,
)
from labelspace.data.text.encoding.text_encoder import PROBES, TextEncoder
from labelspace.data.text.encoding.weighing import choose_weight
from labelspace.data.text.features import TextFeatures
from labelspace.data.text.transformers import Transformer, check_trusted
from labelspace.errors import DataError, ModelFileError, UsageError
from labelspace.store import Storable, schema

# Texts from which on encoding is worth a bar, and a look at what is kept on disk.
LONG = 256


class HybridFeatures(Storable):
    """Features of texts that are words and, after them, the vector of an encoder.

    Parameters
    ----------
    words : TextFeatures or Transformer
        Makes the sparse part.
    encoder : str, or an encoder
        See :func:`labelspace.data.text.encoding.resolving.encoder_for`. A transformer of
        scikit-learn learns from the same texts, and is stored with the model.
    weight : float, optional
        What a vector's length is beside the words', which is 1; chosen on rows held out if not
        given.

    Examples
    --------
    >>> from labelspace.data import TextFeatures
    >>> lengths = lambda texts: [[float(len(text)), 4.0] for text in texts]
    >>> rows = HybridFeatures(TextFeatures(), lengths, weight=0.5).fit_transform(["red", "a cube"])
    >>> rows.toarray().round(2)
    array([[0.  , 1.  , 0.3 , 0.4 ],
           [1.  , 0.  , 0.42, 0.28]], dtype=float32)
    """

    _schema: ClassVar[schema.Schema] = {
        "words": schema.part("TextFeatures", "Transformer", n_features="n_words"),
        "n_words": schema.size("n_words"),
        "encoder": schema.text,
        "max_chars": schema.optional(schema.integer(1)),
        "learned": schema.optional(schema.part("Transformer")),
        "probes": schema.array("float16", None, "dim"),
        "weight": schema.number(0),
    }

    def __init__(self, words: Any, encoder: Any, weight: float | None = None) -> None:
        self.words = words
        self.name = encoder if isinstance(encoder, str) else _name(encoder)
        self.weight = weight
        self._encoder: TextEncoder | None = None
        # Precomputed ones have no probes: one row of zeros says how long they are.
        self._probes: NDArray[np.float16] | None = None
        self._max_chars: int | None = None
        self._learned: Transformer | None = None
        self._n_words = 0
        if isinstance(encoder, BaseEstimator) and hasattr(encoder, "fit"):
            self._take_learner(encoder)
        elif self.name != PRECOMPUTED:
            self._set_encoder(encoder_for(encoder))

    @property
    def dim(self) -> int:
        """Numbers in a vector."""
        assert self._probes is not None
        return int(self._probes.shape[1])

    @property
    def encoder(self) -> TextEncoder | None:
        """The encoder; None where vectors come with their texts."""
        if self._encoder is None and self.name != PRECOMPUTED:
            self._connect(self.name)
        return self._encoder

    @property
    def vocabulary_(self) -> dict[str, int]:
        """Columns of the words that have names."""
        return getattr(self.words, "vocabulary_", {})

    def fit_transform(
        self,
        texts: Iterable[str],
        Y: csr_matrix | None = None,
        seed: int = 0,
        *,
        words: Collection[str] = (),
    ) -> csr_matrix:
        """Learn words and weight from texts and their labels; return their rows, float32 CSR.

        ``words`` are features however few texts they are in, as in ``TextFeatures``.
        """
        texts = self._begin(texts)
        job = EncodingJob(self.encoder, self.dim, None if Y is None else Y.shape[0])
        wanted = {"words": words} if isinstance(self.words, TextFeatures) else {}
        X = self.words.fit_transform(job.passing(texts), **wanted)
        self._n_words = X.shape[1]
        if self.weight is None:
            known = X[:0] if Y is None or Y.shape[0] != X.shape[0] else Y
            with progress.task("Weighing words and vectors"):
                self.weight = choose_weight(X, job.vectors, known, seed)
        return self._joined(X, job.vectors)

    def transform(self, texts: Iterable[str]) -> csr_matrix:
        """Return the rows of texts, as float32 CSR."""
        texts = list(texts)
        job = EncodingJob(self.encoder, self.dim, len(texts))
        if len(texts) < LONG:
            return self._joined(self.words.transform(texts), job.run(texts))
        return self._joined(self.words.transform(job.passing(texts)), job.vectors)

    def words_of(self, texts: Sequence[str]) -> csr_matrix:
        """Return rows of texts that have their words alone, without vectors."""
        X = csr_matrix(self.words.transform(texts))
        shape = (X.shape[0], self._n_words + self.dim)
        return csr_matrix((X.data, X.indices, X.indptr), shape=shape)

    def vectors_of_names(self, names: Sequence[str]) -> NDArray[np.float16] | None:
        """Return the vectors of names of labels; None where vectors are made elsewhere."""
        if self.encoder is None:
            return None
        job = EncodingJob(self.encoder, self.dim, len(names), kind="query")
        list(job.passing(names))
        return job.vectors

    def name_of(self, column: int) -> str:
        """Return the word of one column; the encoder's columns are all called after it."""
        if column >= self._n_words:
            return f"({self.name})"
        return str(self.words.name_of(column))

    def _begin(self, texts: Iterable[str]) -> Iterable[str]:
        """Settle how long vectors are, which may take a look at the first text, or at all."""
        if self._learned is not None:
            texts = list(texts)
            if self._encoder is None:
                self._learned.fit_transform(texts)
                self._set_encoder(TextEncoder(self._learned.transformer, self.name))
        elif self.name == PRECOMPUTED:
            texts = list(texts)
            if not texts or not isinstance(texts[0], EncodedText):
                raise UsageError(
                    "encoder='precomputed' takes vectors that were made elsewhere: give them with "
                    "the texts, as embeddings=, or in a file beside the corpus."
                )
            self._probes = np.zeros((1, len(texts[0].vector)), dtype=np.float16)
        return texts

    def _take_learner(self, encoder: Any) -> None:
        """Let a transformer of scikit-learn learn with the words, unless it has learned already.

        One that a model folder cannot hold is known by what it makes of the probes.
        """
        try:
            check_is_fitted(encoder)
        except NotFittedError:
            self._learned = Transformer(clone(encoder))
            self._learned._to_state()  # raises where it cannot be stored
            return
        self._set_encoder(TextEncoder(encoder, self.name))
        with suppress(UsageError):
            learned = Transformer(encoder)
            learned._to_state()
            self._learned = learned

    def _set_encoder(self, encoder: TextEncoder | None) -> None:
        assert encoder is not None
        self._encoder, self._probes = encoder, encoder.probes
        self._max_chars = encoder.max_chars

    def _joined(self, X: csr_matrix, vectors: NDArray[np.float16]) -> csr_matrix:
        if X.shape[0] != vectors.shape[0]:
            raise DataError(f"There are {X.shape[0]} rows of words but {vectors.shape[0]} vectors.")
        scaled = vectors.astype(np.float32) * np.float32(self.weight)
        return csr_matrix(hstack((X, csr_matrix(scaled)), format="csr"))

    def _to_state(self) -> dict[str, Any]:
        return {
            "words": self.words,
            "n_words": self._n_words,
            "encoder": self.name,
            "max_chars": self._max_chars,
            "learned": self._learned,
            "probes": self._probes,
            "weight": float(self.weight or 0.0),
        }

    @classmethod
    def _from_state(cls, state: dict[str, Any]) -> HybridFeatures:
        made = cls.__new__(cls)
        made.words, made.name, made.weight = state["words"], state["encoder"], state["weight"]
        made._probes, made._learned, made._encoder = state["probes"], state["learned"], None
        made._n_words, made._max_chars = state["n_words"], state["max_chars"]
        if made._learned is not None:
            made._encoder = TextEncoder(made._learned.transformer, made.name)
            return made
        given = given_encoder()
        if given is not None:
            made.use(given)
        elif not check_known(made.name):
            made._find()
        return made

    @classmethod
    def _check_state(cls, state: schema.State, sizes: schema.Sizes) -> None:
        super()._check_state(state, sizes)
        sizes.settle("n_features", sizes.known["n_words"] + sizes.known["dim"])
        if len(state["probes"]) not in (1, len(PROBES)):
            raise schema.Mismatch("probes are not as many as there are probe texts")

    def use(self, encoder: Any) -> None:
        """Take vectors from this encoder; another than the one learned with is an error."""
        if encoder == PRECOMPUTED:
            self.name = PRECOMPUTED
            return
        self._connect(encoder)

    def _connect(self, encoder: Any) -> None:
        """Make the encoder that is meant, and check that the model learned with it."""
        found = encoder_for(encoder)
        assert found is not None
        assert self._probes is not None
        if self.name != PRECOMPUTED:
            found = found.limited_to(self._max_chars)
            found.check_same(self._probes, self.name)
        elif found.dim != self.dim:
            raise ModelFileError(
                f"The model takes vectors of {self.dim} numbers, but '{found.name}' gives "
                f"{found.dim}: give the encoder that made those it learned from."
            )
        self.name, self._encoder = found.name, found

    def _find(self) -> None:
        """Make the encoder that the model names, if that may be done."""
        if ":" not in self.name and "/" not in self.name:
            raise ModelFileError(
                f"The model takes vectors of the encoder {self.name}, which it does not hold: load "
                "it with Tagger.load(path, encoder=...), or train it with --encoder module:object."
            )
        check_trusted(self.name, "takes the vectors of its texts from")
        self._connect(self.name)


def _name(encoder: Any) -> str:
    return encoder.name if isinstance(encoder, TextEncoder) else name_of_object(encoder)
