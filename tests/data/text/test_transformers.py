"""Other people's transformers as text features: stored without pickle, loaded if trusted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import FunctionTransformer, Normalizer

import labelspace
from labelspace import Tagger
from labelspace.errors import DataError, ModelFileError, UsageError
from tests.data.text.odd_features import Letters, split_in_two

TEXTS = ["a red ball", "a green ball", "a red cube", "a green cube"] * 3
LABELS = [["red", "round"], ["green", "round"], ["red"], ["green"]] * 3
HERE = "tests.data.text.odd_features"


@pytest.mark.parametrize(
    "features",
    [
        CountVectorizer(dtype=np.float32, stop_words=["a"]),
        TfidfVectorizer(ngram_range=(1, 2)),
        HashingVectorizer(n_features=64),
        make_pipeline(TfidfVectorizer(), TruncatedSVD(3, random_state=0), Normalizer()),
        make_union(CountVectorizer(), TfidfVectorizer(analyzer="char")),
    ],
    ids=lambda features: type(features).__name__,
)
def test_scikit_learns_own_are_stored_as_plain_data(features: Any, tmp_path: Path) -> None:
    tagger = Tagger("knn", features=features).fit(TEXTS, LABELS)
    tagger.save(tmp_path / "tagger")
    for loaded in (Tagger.load(tmp_path / "tagger"), labelspace.load(tmp_path / "tagger")):
        assert loaded.tag_many(TEXTS, k=2) == tagger.tag_many(TEXTS, k=2)
        assert type(loaded.features) is type(features)
    assert not hasattr(features, "vocabulary_")  # the one that was given stays as it was


def test_features_are_called_by_their_names() -> None:
    tagger = Tagger("one-vs-all", features=CountVectorizer()).fit(TEXTS, LABELS)
    assert tagger.explain("red", k=1)[0].reasons[0].name == "red"


@pytest.mark.parametrize("factory", ["make_letters", "make_counts"])
def test_a_factory_makes_what_cannot_be_stored(
    factory: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tagger = Tagger("knn", features=f"{HERE}:{factory}").fit(TEXTS, LABELS)
    tagger.save(tmp_path / "tagger")
    with pytest.raises(ModelFileError, match=rf"trusted=\['{HERE}:{factory}'\]"):
        Tagger.load(tmp_path / "tagger")
    loaded = Tagger.load(tmp_path / "tagger", trusted=[f"{HERE}:{factory}"])
    assert loaded.tag_many(TEXTS, k=2) == tagger.tag_many(TEXTS, k=2)
    assert loaded.features == f"{HERE}:{factory}"
    with pytest.raises(ModelFileError):  # trust ends with the call
        Tagger.load(tmp_path / "tagger")
    monkeypatch.setenv("LABELSPACE_TRUSTED", f"other:one, {HERE}:{factory}")
    assert Tagger.load(tmp_path / "tagger").tag("red", k=1) == tagger.tag("red", k=1)


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (CountVectorizer(tokenizer=split_in_two), "tokenizer=the function split_in_two cannot"),
        (Letters(), "a Letters cannot be kept .* features='my_package.features:make'"),
        (make_pipeline(CountVectorizer(), FunctionTransformer()), "FunctionTransformer cannot"),
        (3, "a int, which makes no features"),
        (CountVectorizer, "makes no features"),
        ("no_colon", "'module:function'"),
        ("no.such:module", "was not found"),
        (f"{HERE}:make_none", "was not found"),
        (f"{HERE}:make_nothing", "made a int, which has no transform"),
        (f"{HERE}:make_forgetful", "keeps what it learns where"),
    ],
)
def test_what_cannot_be_stored_is_refused_before_training(
    features: Any, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fit(*args: Any) -> None:
        raise AssertionError("it was trained")

    monkeypatch.setattr(labelspace.models.NearestNeighbors, "fit", fit)
    with pytest.raises(UsageError, match=message):
        Tagger("knn", features=features).fit(TEXTS, LABELS)


def test_a_model_that_would_read_files_is_refused(tmp_path: Path) -> None:
    tagger = Tagger("knn", features=CountVectorizer()).fit(TEXTS, LABELS)
    tagger.features_.transformer.input = "filename"
    tagger.save(tmp_path / "tagger")
    with pytest.raises(ModelFileError, match="would read files"):
        Tagger.load(tmp_path / "tagger")


HARMFUL = {
    "a column outside": ("vocabulary_", {"red": 10**9, "ball": 0}),
    "a column twice": ("vocabulary_", {"red": 0, "ball": 0}),
    "a column that is no number": ("vocabulary_", {"red": "0"}),
    "no vocabulary": ("vocabulary_", 3),
    "a method in the way": ("transform", 5),
    "runs of a billion words": ("ngram_range", (1, 10**9)),
    "half a pair": ("ngram_range", (1,)),
    "a parameter of another type": ("lowercase", "maybe"),
    "no type of numbers": ("dtype", np.str_),
    "a pattern that takes for ever": ("token_pattern", "(r+|[a-z]+)+$!"),
}


@pytest.mark.parametrize("what", HARMFUL)
@pytest.mark.parametrize("inside", [False, True])
def test_a_strangers_transformer_is_refused(what: str, inside: bool, tmp_path: Path) -> None:
    words = CountVectorizer()
    features = make_pipeline(words, TruncatedSVD(2, random_state=0)) if inside else words
    tagger = Tagger("one-vs-all", features=features).fit(TEXTS, LABELS)
    made = tagger.features_.transformer
    name, value = HARMFUL[what]
    vars(made.steps[0][1] if inside else made)[name] = value
    tagger.save(tmp_path / "tagger")
    with pytest.raises(ModelFileError, match="The model's CountVectorizer"):
        Tagger.load(tmp_path / "tagger")


def test_files_and_thousands_of_processes_are_refused(tmp_path: Path) -> None:
    for features, name, value in (
        (make_pipeline(CountVectorizer(), Normalizer()), "memory", "cache"),
        (make_union(CountVectorizer()), "n_jobs", 1_000_000),
    ):
        tagger = Tagger("knn", features=features).fit(TEXTS, LABELS)
        setattr(tagger.features_.transformer, name, value)
        tagger.save(tmp_path / name)
        with pytest.raises(ModelFileError, match=name):
            Tagger.load(tmp_path / name)


@pytest.mark.parametrize("steps", [[], 5, [("a",)], [(1, CountVectorizer())], [("a", 5)]])
def test_a_pipeline_of_something_else_is_refused(steps: Any, tmp_path: Path) -> None:
    tagger = Tagger("knn", features=make_pipeline(CountVectorizer())).fit(TEXTS, LABELS)
    tagger.features_.transformer.steps = steps
    tagger.save(tmp_path / "tagger")
    with pytest.raises(ModelFileError, match="The model's Pipeline cannot be used"):
        Tagger.load(tmp_path / "tagger")


def test_a_pattern_of_ones_own_has_to_be_trusted(tmp_path: Path) -> None:
    own = CountVectorizer(token_pattern=r"[a-z]{2,}")
    tagger = Tagger("knn", features=own).fit(TEXTS, LABELS)
    tagger.save(tmp_path / "tagger")
    with pytest.raises(ModelFileError, match=r"trusted=\['token_pattern'\]"):
        Tagger.load(tmp_path / "tagger")
    loaded = Tagger.load(tmp_path / "tagger", trusted=["token_pattern"])
    assert loaded.tag("red", k=1) == tagger.tag("red", k=1)


def test_what_fails_in_use_is_a_sentence(tmp_path: Path) -> None:
    tagger = Tagger("knn", features=TfidfVectorizer()).fit(TEXTS, LABELS)
    weights = tagger.features_.transformer._tfidf
    name = "idf_" if "idf_" in vars(weights) else "_idf_diag"
    vars(weights)[name] = vars(weights)[name][:1]
    tagger.save(tmp_path / "tagger")
    with pytest.raises(DataError, match="made no features of the texts"):
        Tagger.load(tmp_path / "tagger").tag("a red ball and a green cube")


def test_features_that_are_not_finite_are_a_sentence(tmp_path: Path) -> None:
    features = make_pipeline(CountVectorizer(), TruncatedSVD(2, random_state=0))
    tagger = Tagger("one-vs-all", features=features).fit(TEXTS, LABELS)
    tagger.features_.transformer.steps[1][1].components_[:] = 3e38
    tagger.save(tmp_path / "tagger")
    with pytest.raises(DataError, match="not all finite"):
        Tagger.load(tmp_path / "tagger").tag("a red ball")
