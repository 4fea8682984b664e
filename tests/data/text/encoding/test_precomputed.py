"""Vectors in files beside a corpus."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from labelspace.data.text.encoding.precomputed import (
    EncodedText,
    embeddings_beside,
    read_embeddings,
    with_vectors,
)
from labelspace.errors import DataError


def test_a_text_with_its_vector_is_a_text() -> None:
    texts = with_vectors(iter(["a", "b"]), [[1.0], [2.0]])
    assert list(texts) == ["a", "b"]
    assert isinstance(texts[1], EncodedText)
    assert texts[1].vector == 2.0
    assert [text.vector[0] for text in texts[:2]] == [1.0, 2.0]
    assert with_vectors(["a"], None) == ["a"]


@pytest.mark.parametrize("vectors", [[[1.0]], [1.0, 2.0], [["a"], ["b"]], np.zeros((2, 0))])
def test_vectors_that_do_not_fit_are_refused(vectors: object) -> None:
    with pytest.raises(DataError, match="embeddings"):
        with_vectors(["a", "b"], vectors)


@pytest.mark.parametrize("corpus", ["train.tsv", "train.tsv.gz", "train"])
def test_the_file_beside_a_corpus_is_found_by_its_name(corpus: str, tmp_path: Path) -> None:
    assert embeddings_beside(tmp_path / corpus) is None
    np.save(tmp_path / "train.embeddings.npy", np.ones((2, 3), dtype=np.float16))
    found = embeddings_beside(tmp_path / corpus)
    assert found == tmp_path / "train.embeddings.npy"
    assert read_embeddings(found).shape == (2, 3)


def test_parquet_has_lists_or_columns_of_numbers(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "train.embeddings.parquet"
    parquet.write_table(pa.table({"id": ["x", "y"], "vector": [[1.0, 2.0], [3.0, 4.0]]}), path)
    np.testing.assert_array_equal(read_embeddings(path), [[1.0, 2.0], [3.0, 4.0]])
    parquet.write_table(pa.table({"0": [1.0, 3.0], "1": [2.0, 4.0]}), path)
    np.testing.assert_array_equal(read_embeddings(path), [[1.0, 2.0], [3.0, 4.0]])
    parquet.write_table(pa.table({"vector": [[1.0, 2.0], [3.0]]}), path)
    with pytest.raises(DataError, match="different lengths"):
        read_embeddings(path)
    parquet.write_table(pa.table({"id": ["x", "y"]}), path)
    with pytest.raises(DataError, match="no column of vectors"):
        read_embeddings(path)


def test_a_pickle_is_not_read(tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(DataError, match="holds no vectors that can be read"):
        read_embeddings(tmp_path / "v.npy")
