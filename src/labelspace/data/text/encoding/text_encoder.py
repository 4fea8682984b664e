"""Any encoder of texts behind one face: texts in, vectors of length one out.

An encoder is an object that has ``encode`` (sentence-transformers, model2vec), ``embed``
(fastembed) or ``transform`` (scikit-learn), or a function that takes a list of texts. Where it
tells questions from documents (``encode_query`` and ``encode_document``, ``query_embed`` and
``passage_embed``), rows are documents and names of labels are questions.

A model keeps the encoder's name and what it makes of a few probe texts, never its weights. Two
encoders are the same if they make the same of the probes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from labelspace.errors import DataError, LabelspaceError, ModelFileError, UsageError

# Different enough that two encoders which agree on all of them are the same.
PROBES = (
    "a red ball",
    "Growing roses in dry climates",
    "Eine kurze Geschichte des Buchdrucks",
    "0123456789",
)
# Rounding differs between machines, and a model keeps sixteen bits of each number.
SAME = 0.02
# Ways to ask an encoder, best first, by what the texts are.
_WAYS = {
    "document": ("encode_document", "passage_embed"),
    "query": ("encode_query", "query_embed"),
}
_COMMON_WAYS = ("encode", "embed", "transform")


class TextEncoder:
    """An encoder, what it is called, and how it wants to be asked.

    Parameters
    ----------
    model : object
        Has ``encode``, ``embed`` or ``transform``, or is a function of a list of texts.
    name : str
        How a model folder refers to it.
    max_chars : int, optional
        Characters of a text that it reads; the rest is cut off.
    is_threaded : bool, default=False
        Whether several threads of ours may ask it at once. Others are asked by one, since they
        use all cores themselves.

    Examples
    --------
    >>> encoder = TextEncoder(lambda texts: [[len(text), 1.0] for text in texts], "lengths")
    >>> encoder.encode(["a cube", ""]).round(2)
    array([[0.99, 0.16],
           [0.  , 0.  ]], dtype=float32)
    >>> encoder.dim
    2
    """

    def __init__(
        self,
        model: Any,
        name: str,
        *,
        max_chars: int | None = None,
        is_threaded: bool = False,
    ) -> None:
        self.model = model
        self.name = name
        self.max_chars = max_chars
        self.is_threaded = is_threaded
        self.found_by: str | None = None  # what a person called it, for others to find it
        _way_to_ask(model, "document")  # raises where there is none

    def __deepcopy__(self, memo: Any) -> TextEncoder:
        return self  # its weights are never changed

    def encode(self, texts: Sequence[str], kind: str = "document") -> NDArray[np.float32]:
        """Return a vector of length one for each text; zeros for a text of blanks.

        ``kind`` is "document" for rows, "query" for names of labels.
        """
        cut = [text[: self.max_chars] for text in texts]
        filled = [at for at, text in enumerate(cut) if text.strip()]
        if not filled:
            return np.zeros((len(cut), self.dim), dtype=np.float32)
        vectors = unit_rows(self._asked([str(cut[at]) for at in filled], kind))
        if len(filled) == len(cut):
            return vectors
        whole = np.zeros((len(cut), vectors.shape[1]), dtype=np.float32)
        whole[filled] = vectors
        return whole

    def _asked(self, texts: list[str], kind: str) -> NDArray[np.float32]:
        try:
            return _matrix(_way_to_ask(self.model, kind)(texts), len(texts), self.name)
        except LabelspaceError:
            raise
        except Exception as error:  # other people's code
            told = " ".join(f"{type(error).__name__}: {error}".split())[:200]
            raise DataError(
                f"The encoder '{self.name}' failed on {len(texts)} texts ({told}): check that it "
                "takes a list of texts."
            ) from error

    def limited_to(self, max_chars: int | None) -> TextEncoder:
        """Return the same encoder, which reads so many characters of a text."""
        if max_chars == self.max_chars:
            return self
        made = TextEncoder(self.model, self.name, max_chars=max_chars, is_threaded=self.is_threaded)
        made.found_by = self.found_by
        return made

    @cached_property
    def probes(self) -> NDArray[np.float16]:
        """What it makes of the probe texts: by this a model knows it again."""
        return self.encode(PROBES).astype(np.float16)

    @property
    def dim(self) -> int:
        """Numbers in a vector."""
        return int(self.probes.shape[1])

    @cached_property
    def fingerprint(self) -> str:
        """What tells its vectors from those of others, in the cache of vectors."""
        told = f"{self.name} {self.max_chars}".encode()
        return hashlib.blake2b(told + self.probes.tobytes(), digest_size=12).hexdigest()

    def fingerprint_of(self, kind: str) -> str:
        """Return what tells its vectors of one kind of text; the same if it makes no difference."""
        asked = _way_to_ask(self.model, kind)
        same = asked == _way_to_ask(self.model, "document")
        return self.fingerprint if same else f"{self.fingerprint} {kind}"

    def check_same(self, probes: NDArray[np.floating], name: str) -> None:
        """Raise if the encoder that a model learned with made other vectors of the probes."""
        if self.dim != probes.shape[1]:
            raise ModelFileError(
                f"The model learned with the encoder '{name}', whose vectors have "
                f"{probes.shape[1]} numbers, but '{self.name}' gives {self.dim}: load it with the "
                "encoder that it learned with, or train again."
            )
        away = np.abs(self.probes.astype(np.float32) - probes.astype(np.float32)).max()
        if away > SAME:
            raise ModelFileError(
                f"The encoder '{self.name}' does not give the vectors that the model learned with "
                f"(by '{name}'; a probe text is off by {away:.2f}): load it with that encoder and "
                "version, or train again."
            )


def is_encoder(model: Any) -> bool:
    """Tell whether an object can be asked for vectors."""
    ways = (*_COMMON_WAYS, *_WAYS["document"])
    return not isinstance(model, type) and (
        any(callable(getattr(model, way, None)) for way in ways) or callable(model)
    )


def unit_rows(vectors: NDArray[Any]) -> NDArray[np.float32]:
    """Return rows scaled to length one; rows of zeros stay so.

    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]]))
    array([[0.6, 0.8],
           [0. , 0. ]], dtype=float32)
    """
    vectors = np.asarray(vectors, dtype=np.float32)
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))[:, np.newaxis]
    return np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)


def _way_to_ask(model: Any, kind: str) -> Callable[[list[str]], Any]:
    if not is_encoder(model):
        shown = f"the class {model.__name__}" if isinstance(model, type) else type(model).__name__
        raise UsageError(
            f"encoder is {shown}, which turns no texts into vectors: give an object that has "
            "encode, embed or transform, a function of a list of texts, or a name such as "
            "'multilingual'."
        )
    for way in (*_WAYS[kind], *_COMMON_WAYS):
        asked = getattr(model, way, None)
        if callable(asked):
            return asked
    return model


def _matrix(vectors: Any, n_texts: int, name: str) -> NDArray[np.float32]:
    if issparse(vectors):
        raise UsageError(
            f"The encoder '{name}' gives sparse rows, which are words rather than vectors: give it "
            "as features=, or end it with TruncatedSVD."
        )
    if isinstance(vectors, Iterable) and not hasattr(vectors, "shape"):
        vectors = [np.asarray(vector, dtype=np.float32) for vector in vectors]
    try:
        made = np.asarray(vectors, dtype=np.float32)
    except (TypeError, ValueError):
        made = np.zeros(0, dtype=np.float32)
    if made.ndim != 2 or made.shape[0] != n_texts or not made.shape[1]:
        raise DataError(
            f"The encoder '{name}' gave an array of shape {made.shape} for {n_texts} texts: it "
            "must give a vector for each, all of the same length."
        )
    if not np.isfinite(made).all():
        raise DataError(
            f"The encoder '{name}' gave numbers that are not finite: check it on these texts."
        )
    return made
