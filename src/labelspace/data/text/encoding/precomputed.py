"""Vectors that were made elsewhere: they travel with their texts, from a file or an array.

A text with a vector is a string like any other, so that it passes through everything that texts
pass through; whoever wants its vector takes it instead of asking an encoder.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelspace.errors import DataError

NAME = "precomputed"
SUFFIXES = (".embeddings.npy", ".embeddings.parquet")


class EncodedText(str):
    """A text that has its vector with it.

    >>> text = EncodedText("a cube", np.array([1.0, 0.0]))
    >>> text, text.vector
    ('a cube', array([1., 0.]))
    """

    __slots__ = ("vector",)
    vector: NDArray[Any]

    def __new__(cls, text: str, vector: NDArray[Any]) -> EncodedText:
        made = super().__new__(cls, text)
        made.vector = vector
        return made


class EncodedTexts(Sequence[str]):
    """Texts with a row of ``vectors`` each; nothing is copied until a text is asked for."""

    def __init__(self, texts: Sequence[str], vectors: Any) -> None:
        self._texts = texts
        self._vectors = checked_vectors(vectors, len(texts))

    def __len__(self) -> int:
        return len(self._texts)

    def __iter__(self) -> Iterator[str]:
        return map(_encoded, self._texts, self._vectors)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return list(map(_encoded, self._texts[at], self._vectors[at]))
        return _encoded(self._texts[at], self._vectors[at])


def with_vectors(texts: Any, vectors: Any) -> Any:
    """Return texts that have their vectors with them; as they are where there are none."""
    if vectors is None:
        return texts
    if not isinstance(texts, Sequence) or isinstance(texts, str):
        texts = list(texts)
    return EncodedTexts(texts, vectors)


def checked_vectors(vectors: Any, n_texts: int, where: str = "embeddings") -> NDArray[Any]:
    """Return vectors as an array with a row for each text; anything else is an error."""
    if vectors.__class__.__name__ == "memmap":
        made = vectors
    else:
        try:
            made = np.asarray(vectors)
        except ValueError:
            made = np.zeros(0)
    if made.ndim != 2 or made.dtype.kind not in "fiu" or not made.shape[1]:
        raise DataError(f"{where} is no array of numbers with a row for each text.")
    if made.shape[0] != n_texts:
        raise DataError(
            f"{where} has {made.shape[0]:,} vectors for {n_texts:,} texts: give one for each, in "
            "the same order."
        )
    return made


def embeddings_beside(path: str | Path) -> Path | None:
    """Return the file of vectors beside a corpus: train.embeddings.npy for train.tsv.gz."""
    path = Path(path)
    name = path.name
    for _ in range(2):  # what compresses, then what says the format
        stem = name.rpartition(".")[0]
        for suffix in SUFFIXES:
            found = path.with_name((stem or name) + suffix)
            if found.is_file():
                return found
        name = stem or name
    return None


def read_embeddings(path: str | Path) -> NDArray[Any]:
    """Read vectors from ``.npy``, mapped into memory, or from a column of lists in Parquet."""
    path = Path(path)
    try:
        if path.suffix == ".npy":
            return np.load(path, mmap_mode="r", allow_pickle=False)
        return _parquet_vectors(path)
    except (OSError, ValueError) as error:
        raise DataError(
            f"{path} holds no vectors that can be read ({error}): write them with numpy.save, as "
            "an array of numbers with a row for each text."
        ) from None


def _parquet_vectors(path: Path) -> NDArray[Any]:
    try:
        from pyarrow import parquet
    except ImportError:
        raise DataError(
            f"{path} is Parquet, which pyarrow reads: install the extra with pip install "
            "'labelspace[tables]', or give the vectors as .npy."
        ) from None
    table = parquet.read_table(path)
    for name, column in zip(table.column_names, table.columns, strict=True):
        kind = str(column.type)
        if kind.startswith(("list", "fixed_size_list", "large_list")):
            rows = column.to_numpy(zero_copy_only=False)
            sizes = {len(row) for row in rows}
            if len(sizes) != 1:
                raise DataError(f"{path}: the vectors in column {name} are of different lengths.")
            return np.stack(rows)
    numbers = [c.to_numpy() for c in table.columns if str(c.type).startswith(("float", "double"))]
    if not numbers:
        raise DataError(f"{path} has no column of vectors: give lists of numbers, one per text.")
    return np.column_stack(numbers)


def _encoded(text: str, vector: NDArray[Any]) -> str:
    return EncodedText(text, vector) if isinstance(text, str) else text
