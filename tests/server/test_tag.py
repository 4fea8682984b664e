"""POST /v1/tag: what comes back for a text or for features."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from labelspace import NamedColumns, Tagger, progress
from labelspace.data import TextFeatures
from labelspace.models import NearestNeighbors
from tests.planted import planted_corpus
from tests.server.texts import tagged_texts


def tag(client: Any, **body: Any) -> Any:
    answer = client.post("/v1/tag", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def names(client: Any, **body: Any) -> list[str]:
    return [label["name"] for label in tag(client, **body)["labels"]]


def test_a_text_gets_the_same_labels_as_from_the_library(client: Any, trained: Tagger):
    text = "prune the roses and mind the tide"
    answer = tag(client, text=text, k=4)
    given = [(label["name"], label["score"]) for label in answer["labels"]]
    expected = [(name, pytest.approx(score, abs=1e-5)) for name, score in trained.tag(text, k=4)]
    assert given == expected
    assert all(0 <= label["probability"] <= 1 for label in answer["labels"])


def test_k_and_threshold_cut_the_list(client: Any):
    everything = tag(client, text="roses and harbour", k=8)["labels"]
    assert len(everything) > 2
    assert tag(client, text="roses and harbour", k=2)["labels"] == everything[:2]
    least = everything[1]["score"]
    above = tag(client, text="roses and harbour", k=8, threshold=least)["labels"]
    assert above == [label for label in everything if label["score"] >= least]


def test_a_threshold_is_named_by_its_goal_where_the_method_measures_its_scores(
    client_of: Callable[..., Any], tmp_path: Path
):
    texts, labels = tagged_texts()
    tagger = Tagger("labelspace", random_state=0).fit(texts * 3, labels * 3)
    tagger.save(tmp_path / "probable")
    client = client_of(tmp_path / "probable")
    _, least = tagger.estimator_.limits(threshold="f1")
    given = tag(client, text=texts[0], threshold="f1")["labels"]
    assert [label["name"] for label in given] == [
        name for name, _ in tagger.tag(texts[0], threshold="f1")
    ]
    assert all(label["score"] >= least - 1e-6 for label in given)
    assert len(tag(client, text=texts[0], threshold="f1", k=1)["labels"]) <= 1


def test_a_method_without_measured_scores_says_so(client: Any):
    answer = client.post("/v1/tag", json={"text": "roses", "threshold": "f1"})
    assert answer.status_code == 409
    assert "NearestNeighbors" in answer.json()["error"]
    answer = client.post("/v1/tag", json={"text": "roses", "threshold": "best"})
    assert answer.status_code == 422


def test_excluded_labels_make_room_for_the_next(client: Any):
    first, second, third = names(client, text="roses and harbour", k=3)
    assert names(client, text="roses and harbour", k=2, exclude=[first]) == [second, third]


def test_only_allowed_labels_are_given_however_low_they_rank(client: Any):
    last = names(client, text="roses and harbour", k=1000)[-1]
    assert names(client, text="roses and harbour", allow=[last]) == [last]
    assert names(client, text="roses and harbour", allow=[]) == []


def test_labels_may_be_given_by_number(client: Any):
    best = tag(client, text="roses", k=1)["labels"][0]
    assert best["name"] not in names(client, text="roses", exclude=[best["label"]])


def test_a_label_that_is_not_there_is_named(client: Any):
    answer = client.post("/v1/tag", json={"text": "x", "allow": ["gardning"]})
    assert answer.status_code == 404
    assert "gardning" in answer.json()["error"]


def test_features_by_word_or_number_give_what_the_text_gives(client: Any, trained: Tagger):
    X = trained.features_.transform(["roses and harbour"])
    by_number = [
        [int(column), float(value)] for column, value in zip(X.indices, X.data, strict=True)
    ]
    by_word = {trained.features_.name_of(column): value for column, value in by_number}
    expected = tag(client, text="roses and harbour")["labels"]
    assert tag(client, features=by_number)["labels"] == expected
    assert tag(client, features=by_word)["labels"] == expected
    as_text = {str(column): value for column, value in by_number}
    assert tag(client, features=as_text)["labels"] == expected


def test_unknown_features_are_left_out_and_counted(client: Any):
    answer = tag(client, features={"roses": 1.0, "no such word": 1.0, "99999999": 2.0})
    assert answer["unknown_features"] == 2
    assert answer["labels"][0]["name"] in ("gardening", "outdoors")


def test_why_names_the_neighbours_with_their_tags_and_the_words(client: Any, trained: Tagger):
    best = tag(client, text="prune the roses", k=1, explain=True)["labels"][0]
    neighbours = [reason for reason in best["why"] if reason["kind"] == "example"]
    words = [reason["name"] for reason in best["why"] if reason["kind"] == "feature"]
    assert set(words) <= {"prune", "roses"}
    assert words
    assert neighbours[0]["text"] == trained.excerpts_[neighbours[0]["id"]]
    for neighbour in neighbours:
        assert best["name"] in [label["name"] for label in neighbour["labels"]]
    weights = [neighbour["weight"] for neighbour in neighbours]
    assert weights == sorted(weights, reverse=True)


def test_why_works_for_a_method_that_has_no_explanations(client_of: Any, tmp_path: Path):
    Tagger("most-common").fit(["a ball", "a cube"], [["red"], ["blue"]]).save(tmp_path / "model")
    labels = tag(client_of(tmp_path / "model"), text="a ball", explain=True)["labels"]
    assert [label["why"] for label in labels] == [[], []]


def test_margins_become_probabilities(client_of: Any, tmp_path: Path):
    texts = ["red ball", "red cube", "blue ball", "blue cube"] * 5
    labels = [["red"], ["red"], ["blue"], ["blue"]] * 5
    Tagger("one-vs-all").fit(texts, labels).save(tmp_path / "model")
    client = client_of(tmp_path / "model")
    right, wrong = tag(client, text="red ball", k=2, explain=True)["labels"]
    assert (right["name"], wrong["name"]) == ("red", "blue")
    assert right["probability"] > 0.8
    assert wrong["probability"] < 0.2
    assert wrong["score"] < 0
    assert right["why"][0]["name"] == "red"


@pytest.mark.parametrize(
    ("method", "scores"), [("one-vs-all", "score"), ("knn", "score"), ("labelspace", "probability")]
)
def test_the_method_says_whether_scores_are_probabilities(
    client_of: Any, tmp_path: Path, method: str, scores: str
):
    Tagger(method, random_state=0).fit(*tagged_texts()).save(tmp_path / "model")
    client = client_of(tmp_path / "model")
    assert client.get("/v1/model").json()["scores"] == scores
    given = tag(client, text="roses and harbour", k=3)["labels"]
    assert all(0 <= label["probability"] <= 1 for label in given)


def test_the_models_own_k_and_threshold_hold_unless_others_are_given(
    client_of: Any, tmp_path: Path
):
    tagger = Tagger("knn", k=3, threshold=0.01).fit(*tagged_texts())
    tagger.save(tmp_path / "model")
    client = client_of(tmp_path / "model")
    text = "roses and harbour"
    assert names(client, text=text) == [name for name, _ in tagger.tag(text)]
    assert names(client, text=text, threshold=0.2) == [
        name for name, _ in tagger.tag(text, threshold=0.2)
    ]
    assert len(names(client, text=text, k=1)) == 1


def test_a_model_of_features_knows_them_and_its_labels_by_name(client_of: Any, tmp_path: Path):
    texts, labels = tagged_texts()
    features = TextFeatures()
    X = features.fit_transform(texts)
    words = features.get_feature_names_out().tolist()
    tagger = Tagger("one-vs-all", random_state=0).fit(NamedColumns(X, words), labels)
    tagger.save(tmp_path / "model")
    client = client_of(tmp_path / "model")
    answer = tag(client, features={"roses": 1.0, "unheard of": 1.0}, k=1, explain=True)
    assert answer["labels"][0]["name"] in ("gardening", "outdoors")
    assert answer["labels"][0]["why"][0]["name"] == "roses"
    assert answer["unknown_features"] == 1


def test_a_model_of_features_takes_features_only(client_of: Any, tmp_path: Path):
    X, Y = planted_corpus()
    model = NearestNeighbors(n_neighbors=5).fit(X, Y)
    model.save(tmp_path / "model")
    client = client_of(tmp_path / "model")
    row = {str(column): float(value) for column, value in zip(X[0].indices, X[0].data, strict=True)}
    given = [label["label"] for label in tag(client, features=row, k=3)["labels"]]
    expected = model.predict_topk(X[0], k=3).labels[0]
    assert given == expected[expected >= 0].tolist()
    refused = client.post("/v1/tag", json={"text": "words"})
    assert refused.status_code == 422
    assert "features" in refused.json()["error"]
    described = client.get("/openapi.json").json()["components"]["schemas"]
    assert "text" not in described["TagRequest"]["properties"]


def test_a_text_without_known_words_is_answered(client: Any):
    assert isinstance(tag(client, text="")["labels"], list)
    assert isinstance(tag(client, text="zzz qqq")["labels"], list)


def test_the_model_is_described(client: Any):
    told = client.get("/v1/model").json()
    assert told["method"] == "knn"
    assert told["n_examples"] == 240
    assert told["takes_text"]
    assert told["can_learn"]
    assert told["learning"]
    assert np.isscalar(told["parameters"]["n_neighbors"])


def test_counters_tell_what_happened(client: Any):
    tag(client, text="roses")
    client.post("/v1/tag", json={"txt": "roses"})
    lines = client.get("/metrics").text.splitlines()
    assert 'labelspace_requests_total{route="/v1/tag",status="200"} 1.0' in lines
    assert 'labelspace_requests_total{route="/v1/tag",status="422"} 1.0' in lines
    assert "labelspace_rows_tagged_total 1.0" in lines
    assert any(line.startswith("labelspace_request_seconds_bucket") for line in lines)


@pytest.mark.skipif(not Path("/proc/stat").exists(), reason="prometheus_client reads /proc")
def test_memory_and_processor_time_are_told(client: Any):
    names = {line.partition(" ")[0] for line in client.get("/metrics").text.splitlines()}
    assert {"process_resident_memory_bytes", "process_cpu_seconds_total"} <= names


def test_addresses_that_are_made_up_share_one_series(client: Any):
    for number in range(3):
        client.get(f"/no/such/{number}")
    lines = client.get("/metrics").text.splitlines()
    assert 'labelspace_requests_total{route="other",status="404"} 3.0' in lines


def test_alive_and_ready(client: Any):
    assert client.get("/healthz").json() == {"status": "alive"}
    assert client.get("/readyz").json() == {"status": "ready"}


def test_a_request_is_no_stage_of_work_to_report(client: Any, monkeypatch: pytest.MonkeyPatch):
    stages: list[str] = []
    listener = progress.task

    def noted(description: str, *more: Any) -> Any:
        stages.append(description)
        return listener(description, *more)

    monkeypatch.setattr(progress, "task", noted)
    tag(client, text="roses and harbour", explain=True)
    assert stages == []


def test_few_rules_may_go_through_all_labels(client):
    many = [f"pattern:*{letter}*" for letter in "abcdefghijklmnopqrst"]
    for where in ("allow", "exclude"):
        told = client.post("/v1/tag", json={"text": "roses", where: many})
        assert told.status_code == 422
        assert "more than 16 rules" in told.json()["error"]
    # The same rule again costs nothing.
    again = {"text": "roses", "allow": ["pattern:*e*"] * 9_999}
    assert client.post("/v1/tag", json=again).status_code == 200
    lines = "".join(f'{{"text": "roses", "allow": ["pattern:{one}*"]}}\n' for one in "ggc")
    headers = {"Content-Type": "application/x-ndjson"}
    answers = client.post("/v1/tag/batch", content=lines, headers=headers).text.splitlines()
    first, same, other = ({one["name"] for one in json.loads(a)["labels"]} for a in answers)
    assert first == same == {"gardening"}
    assert other == {"chess", "cooking"}
