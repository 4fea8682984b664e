"""Deep methods learn with torch and answer without it."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import labelspace
from labelspace import models
from labelspace.errors import UsageError
from tests.planted import planted_corpus

pytest.importorskip("torch", reason="these methods learn with the extra 'deep'")

DEEP = [name for name, method in models.METHODS.items() if "(deep)" in method.summary]
# XML-CNN has one layer, and learns on the processor.
OF_LAYERS = [name for name in DEEP if name != "xml-cnn"]


@pytest.mark.parametrize("method", DEEP)
def test_a_model_predicts_without_torch_and_says_what_learning_needs(
    method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, Y = planted_corpus()
    model = models.make(method, dim=16, n_epochs=2, random_state=0, n_threads=1).fit(X, Y)
    model.save(tmp_path / "model")
    expected = model.predict_topk(X, k=3)
    monkeypatch.setitem(sys.modules, "torch", None)
    loaded = labelspace.load(tmp_path / "model")
    found = loaded.predict_topk(X, k=3)
    assert np.array_equal(found.labels, expected.labels)
    assert np.array_equal(found.scores, expected.scores)
    with pytest.raises(UsageError, match=r"labelspace\[deep\]"):
        models.make(method).fit(X, Y)
    if hasattr(loaded, "partial_fit"):
        with pytest.raises(UsageError, match=r"labelspace\[deep\]"):
            loaded.partial_fit(X[:2], [[0], [12]])
    assert loaded.n_labels_ == 12, "nothing may change if nothing can be learned"


@pytest.mark.parametrize("method", OF_LAYERS)
def test_what_cannot_be_learned_is_refused_before_a_corpus_is_read(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UsageError, match="hidden has a layer of width 0"):
        models.make(method, hidden=[0]).fit(None, None)
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(UsageError, match="no GPU"):
        models.make(method, device="cuda").fit(None, None)
