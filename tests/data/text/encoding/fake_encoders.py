"""Encoders with the interfaces of real packages, small enough to be made in a test.

Each counts letters, so that texts which share letters are near each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def count_letters(texts: Iterable[str]) -> NDArray[np.float32]:
    rows = [[text.lower().count(letter) for letter in LETTERS] for text in texts]
    return np.array(rows, dtype=np.float32).reshape(-1, len(LETTERS))


class SentenceTransformer:
    """sentence-transformers 5: encode, and questions and documents apart."""

    def __init__(self, model_name_or_path: str | None = None, **kwargs: Any) -> None: ...

    def encode(
        self,
        sentences: str | list[str],
        prompt_name: str | None = None,
        prompt: str | None = None,
        batch_size: int = 32,
        show_progress_bar: bool | None = None,
        output_value: str = "sentence_embedding",
        precision: str = "float32",
        convert_to_numpy: bool = True,
        convert_to_tensor: bool = False,
        **kwargs: Any,
    ) -> NDArray[np.float32]:
        assert isinstance(sentences, list)
        prefix = {None: "", "query": "qqq ", "document": "ddd "}[prompt_name]
        return count_letters(prefix + sentence for sentence in sentences)

    def encode_query(self, sentences: list[str], **kwargs: Any) -> NDArray[np.float32]:
        return self.encode(sentences, prompt_name="query")

    def encode_document(self, sentences: list[str], **kwargs: Any) -> NDArray[np.float32]:
        return self.encode(sentences, prompt_name="document")


class StaticModel:
    """model2vec: encode alone."""

    @classmethod
    def from_pretrained(cls, path: str, token: str | None = None, **kwargs: Any) -> Any:
        return cls()

    def encode(
        self,
        sentences: list[str],
        show_progress_bar: bool = False,
        max_length: int | None = 512,
        batch_size: int = 1024,
        use_multiprocessing: bool = True,
        multiprocessing_threshold: int = 10_000,
    ) -> NDArray[np.float32]:
        return count_letters(sentences)


class TextEmbedding:
    """fastembed: embed yields one vector after the other."""

    def __init__(self, model_name: str = "BAAI/bge-small-en-v1.5", **kwargs: Any) -> None: ...

    def embed(
        self,
        documents: str | Iterable[str],
        batch_size: int = 256,
        parallel: int | None = None,
        **kwargs: Any,
    ) -> Iterator[NDArray[np.float32]]:
        yield from count_letters(documents)

    def passage_embed(self, texts: Iterable[str], **kwargs: Any) -> Iterator[NDArray[np.float32]]:
        yield from self.embed(["ddd " + text for text in texts])

    def query_embed(
        self, query: str | Iterable[str], **kwargs: Any
    ) -> Iterator[NDArray[np.float32]]:
        yield from self.embed(["qqq " + text for text in query])


class Backwards(StaticModel):
    """Gives vectors of the same length that are others."""

    def encode(self, sentences: list[str], **how: Any) -> NDArray[np.float32]:  # type: ignore[override]
        return count_letters(sentences)[:, ::-1].copy()


static = StaticModel()
