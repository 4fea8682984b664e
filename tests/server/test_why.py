"""Which words spoke for a label, where the method itself does not tell."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from labelspace import Tagger
from labelspace.server.served import Served
from labelspace.server.why import explain
from labelspace.topk import TopK
from tests.server.texts import tagged_texts


def words_for(served: Served, text: str, label: str) -> list[str]:
    X = served.tagger.features_of([text])
    column = served.tagger.labels_.find(label)
    ranked = served.estimator.predict_topk(X, served.n_labels)
    score = ranked.scores[ranked.labels == column]
    top = TopK(np.array([[column]]), score.reshape(1, 1))
    return [reason["name"] for reason in explain(served, X, top)[0] if reason["kind"] == "feature"]


def test_the_words_of_a_label_speak_for_it_even_if_each_would_do(trained: Tagger):
    assert set(words_for(Served(trained), "prune the roses", "gardening")) == {"prune", "roses"}


def test_the_words_of_another_label_do_not(trained: Tagger):
    served = Served(trained)
    assert set(words_for(served, "prune roses near the harbour", "sailing")) == {"harbour"}
    assert "harbour" not in words_for(served, "prune roses near the harbour", "gardening")


def test_a_text_without_known_words_has_none(trained: Tagger):
    served = Served(trained)
    X = trained.features_.transform(["zzz"])
    top = TopK(np.array([[0]]), np.array([[0.5]], dtype=np.float32))
    assert explain(served, X, top) == [[]]


def test_a_method_that_cannot_explain_as_it_is_set_is_asked_again(client_of: Any, tmp_path: Path):
    texts, labels = tagged_texts()
    tagger = Tagger("hierarchicalxc", projection="random", dim=8, random_state=0)
    tagger.fit(texts, labels).save(tmp_path / "model")
    asked = {"text": texts[0], "k": 1, "explain": True}
    answer = client_of(tmp_path / "model").post("/v1/tag", json=asked)
    assert answer.status_code == 200, answer.text
    assert {why["kind"] for why in answer.json()["labels"][0]["why"]} == {"feature"}
