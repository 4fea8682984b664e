"""Encoding as the long job that it is: batches on all cores, progress, and a cache on disk."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, cycle, islice, pairwise

import numpy as np
from numpy.typing import NDArray

from labelspace import progress, threads
from labelspace.data.text.encoding.encoding_blocks import (
    COMPANY,
    PART,
    STAGE,
    can_be_cut,
    encode_in_blocks,
)
from labelspace.data.text.encoding.precomputed import EncodedText
from labelspace.data.text.encoding.text_encoder import TextEncoder, unit_rows
from labelspace.data.text.encoding.vector_cache import VectorCache, cache_for
from labelspace.errors import DataError

BATCH = 128  # texts that an encoder is given at a time, at least, if there are as many
FEWEST = 64  # texts beside which a few are encoded where they are a part of many
FEWEST_KEPT = 64  # fewer are encoded again in less time than it takes to look them up


class EncodingJob:
    """Encodes texts, many at once, and remembers them.

    Parameters
    ----------
    encoder : TextEncoder, or None
        None where all texts come with their vectors.
    dim : int
    total : int, optional
        Texts that will come, for the time that is left.
    kind : {"document", "query"}
        Whether texts are rows or names of labels, for encoders that know the difference.
    """

    def __init__(
        self,
        encoder: TextEncoder | None,
        dim: int,
        total: int | None = None,
        kind: str = "document",
    ) -> None:
        self.encoder = encoder
        self.dim = dim
        self._total = total
        self._kind = kind
        self._is_long = False
        self._blocks: list[NDArray[np.float16]] = []

    @property
    def vectors(self) -> NDArray[np.float16]:
        """Vectors of all texts so far."""
        if not self._blocks:
            return np.zeros((0, self.dim), dtype=np.float16)
        return np.concatenate(self._blocks)

    def passing(self, texts: Iterable[str]) -> Iterator[str]:
        """Yield texts on to who counts their words; their vectors are kept."""
        iterator = iter(texts)
        self._is_long = True
        if can_be_cut(self.encoder):
            first = list(islice(iterator, STAGE))
            while len(first) > PART and not any(isinstance(text, EncodedText) for text in first):
                assert self.encoder is not None
                self._blocks.append(encode_in_blocks(first, self.encoder, self.dim, self._kind))
                yield from first
                first = list(islice(iterator, STAGE))
            iterator = chain(first, iterator)
        cache = None
        if self.encoder is not None:
            cache = cache_for(self.encoder.fingerprint_of(self._kind), self.dim)
        try:
            texts_are = "texts" if self._kind == "document" else "names of labels"
            with progress.task(f"Encoding {texts_are}", self._total) as advance:
                while block := list(islice(iterator, COMPANY)):
                    self._blocks.append(self._encoded(block, cache, advance))
                    yield from block
        finally:
            if cache is not None:
                cache.close()

    def run(self, texts: list[str]) -> NDArray[np.float16]:
        """Return the vectors of a few texts, without a word of progress."""
        return self._encoded(texts, None, lambda steps: None)

    def run_long(self, texts: list[str]) -> NDArray[np.float16]:
        """Return the vectors of texts that are a part of many."""
        self._is_long = True
        return self.run(texts)

    def _encoded(
        self, texts: list[str], cache: VectorCache | None, advance: Callable[[int], None]
    ) -> NDArray[np.float16]:
        made = np.zeros((len(texts), self.dim), dtype=np.float16)
        given = [at for at, text in enumerate(texts) if isinstance(text, EncodedText)]
        if given:
            made[given] = self._given([texts[at] for at in given])
            advance(len(given))
        missing = sorted(set(range(len(texts))) - set(given)) if given else range(len(texts))
        asked = [texts[at] for at in missing]
        if not asked:
            return made
        if self.encoder is None:
            raise DataError(
                f"This model takes vectors that were made elsewhere, of {self.dim} numbers: give "
                "them with the texts, as embeddings=, or in a file beside the corpus."
            )
        made[list(missing)] = self._looked_up(asked, cache, advance)
        return made

    def _given(self, texts: Sequence[str]) -> NDArray[np.float16]:
        vectors = np.stack([text.vector for text in texts])  # type: ignore[attr-defined]
        if vectors.shape[1] != self.dim:
            raise DataError(
                f"The vectors given have {vectors.shape[1]} numbers, but those of the model have "
                f"{self.dim}: make them with the same encoder."
            )
        if not np.isfinite(vectors).all():
            raise DataError("The vectors given have numbers that are not finite: make them again.")
        return unit_rows(vectors).astype(np.float16)

    def _looked_up(
        self, texts: list[str], cache: VectorCache | None, advance: Callable[[int], None]
    ) -> NDArray[np.float16]:
        """Take vectors from the cache where it has them, and leave the others there."""
        assert self.encoder is not None
        if cache is None or len(texts) < FEWEST_KEPT:
            return self._asked(texts, advance)
        cut = [text[: self.encoder.max_chars] for text in texts]
        made = np.zeros((len(texts), self.dim), dtype=np.float16)
        found, vectors = cache.get(cut)
        made[found] = vectors
        advance(len(found))
        missing = np.setdiff1d(np.arange(len(texts)), found).tolist()
        if missing:
            asked = [cut[at] for at in missing]
            made[missing] = fresh = self._asked(asked, advance)
            cache.put(asked, fresh)
        return made

    def _asked(self, texts: list[str], advance: Callable[[int], None]) -> NDArray[np.float16]:
        encoder, n_threads, kind = self.encoder, threads.current(), self._kind
        assert encoder is not None

        def encode(batch: list[str]) -> NDArray[np.float16]:
            vectors = encoder.encode(batch, kind).astype(np.float16)
            if vectors.shape != (len(batch), self.dim):
                raise DataError(
                    f"The encoder made vectors of {vectors.shape[-1]} numbers, but those of the "
                    f"model have {self.dim}: give the encoder that it was trained with."
                )
            advance(min(len(batch), len(texts)))
            return vectors

        if not encoder.is_threaded:
            return encode(texts)
        if self._is_long and len(texts) < FEWEST:
            # A few texts alone may go another way, with other last bits, than among many.
            company = [*texts, *islice(cycle(texts), FEWEST - len(texts))]
            with threads.limit(1):
                return encode(company)[: len(texts)]
        # The same batches on any number of threads: some BLAS round by a row's place in a product.
        n_batches = max(len(texts) // BATCH, 1)
        cuts = [len(texts) * at // n_batches for at in range(n_batches + 1)]
        batches = [texts[first:end] for first, end in pairwise(cuts)]
        with threads.limit(1):
            if n_threads == 1 or n_batches == 1:
                return np.concatenate([encode(batch) for batch in batches])
            with ThreadPoolExecutor(n_threads) as pool:
                return np.concatenate(list(pool.map(encode, batches)))
