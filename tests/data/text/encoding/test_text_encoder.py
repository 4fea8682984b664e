"""Any encoder behind one face, and how two are told apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from labelspace.data.text.encoding.text_encoder import TextEncoder
from labelspace.errors import DataError, ModelFileError, UsageError
from tests.data.text.encoding.fake_encoders import (
    Backwards,
    SentenceTransformer,
    StaticModel,
    TextEmbedding,
    count_letters,
)


@pytest.mark.parametrize("model", [StaticModel(), count_letters], ids=["encode", "callable"])
def test_vectors_have_length_one_and_blank_texts_have_none(model: Any) -> None:
    vectors = TextEncoder(model, "letters").encode(["ab", " \n", "aab"])
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), [1, 0, 1], rtol=1e-6)
    np.testing.assert_allclose(vectors[0, :2], [0.5**0.5] * 2, rtol=1e-6)


@pytest.mark.parametrize("model", [SentenceTransformer(), TextEmbedding()])
def test_questions_and_documents_are_told_apart(model: Any) -> None:
    encoder = TextEncoder(model, "letters")
    as_document, as_query = encoder.encode(["a"]), encoder.encode(["a"], "query")
    assert as_document[0, 3] > 0.9
    assert as_query[0, 16] > 0.9


def test_texts_are_cut_where_the_encoder_stops_reading() -> None:
    encoder = TextEncoder(count_letters, "letters", max_chars=2)
    np.testing.assert_array_equal(encoder.encode(["abc"]), encoder.encode(["ab"]))
    assert encoder.limited_to(3).encode(["abc"])[0, 2] > 0
    assert encoder.limited_to(2) is encoder


@pytest.mark.parametrize(
    ("model", "error", "message"),
    [
        (StaticModel, UsageError, "the class StaticModel, which turns no texts"),
        (3, UsageError, "int, which turns no texts into vectors"),
        (lambda texts: csr_matrix((len(texts), 2)), UsageError, "give it as features="),
        (lambda texts: [1.0] * len(texts), DataError, r"shape \(1,\) for 1 texts"),
        (lambda texts: [[1.0], [2.0]], DataError, r"shape \(2, 1\) for 1 texts"),
        (lambda texts: [["a"]], DataError, "failed|shape"),
        (lambda texts: [[np.nan]], DataError, "not finite"),
        (lambda: None, DataError, "failed on 1 texts .*check that it takes a list"),
    ],
)
def test_what_gives_no_vectors_is_refused(model: Any, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        TextEncoder(model, "odd").encode(["a"])


def test_another_encoder_is_refused_in_a_sentence() -> None:
    known = TextEncoder(count_letters, "letters").probes
    TextEncoder(StaticModel(), "static").check_same(known, "letters")
    with pytest.raises(ModelFileError, match=r"'other' does not give the vectors .*by 'letters'"):
        TextEncoder(Backwards(), "other").check_same(known, "letters")
    with pytest.raises(ModelFileError, match="26 numbers, but 'short' gives 1"):
        TextEncoder(lambda texts: [[1.0]] * len(texts), "short").check_same(known, "letters")


def test_rounding_of_another_machine_is_let_pass() -> None:
    rounded = np.where(np.arange(26) % 2, 1.001, 0.999)
    near = TextEncoder(lambda texts: count_letters(texts) * rounded, "near")
    near.check_same(TextEncoder(count_letters, "letters").probes, "letters")
