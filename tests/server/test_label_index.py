"""GET /v1/labels and /v1/map: search, nearest labels, and where labels lie."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelspace import Tagger
from labelspace.models import NearestNeighbors
from labelspace.server.label_search import LabelSearch
from tests.planted import planted_corpus
from tests.server.texts import TRAP


def find(client: Any, **query: Any) -> Any:
    answer = client.get("/v1/labels", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_labels_are_found_by_a_part_of_their_name_whatever_the_case(client: Any):
    found = find(client, q="ARD")
    assert [label["name"] for label in found["labels"]] == ["gardening"]
    assert found["total"] == 1


def test_a_label_comes_with_its_frequency_and_nearest_labels(client: Any, trained: Tagger):
    label = find(client, q="outdoors")["labels"][0]
    number = trained.label_names_.index("outdoors")
    assert label["count"] == trained.estimator_.label_counts_[number]
    near = [other["name"] for other in label["nearest"]]
    assert set(near[:2]) == {"gardening", "sailing"}
    alike = [other["similarity"] for other in label["nearest"]]
    assert alike == sorted(alike, reverse=True)


def test_without_a_query_all_labels_are_listed_by_frequency_in_pages(client: Any):
    everything = find(client, limit=100)
    counts = [label["count"] for label in everything["labels"]]
    assert counts == sorted(counts, reverse=True)
    assert everything["total"] == len(counts)
    assert find(client, limit=2, offset=1)["labels"] == everything["labels"][1:3]
    assert find(client, limit=2, offset=1000)["labels"] == []


def test_html_in_a_name_is_only_text(client: Any):
    assert find(client, q="<img")["labels"][0]["name"] == TRAP


@pytest.mark.parametrize("query", [{"limit": 0}, {"limit": 1001}, {"offset": -1}, {"limit": "x"}])
def test_a_bad_page_is_refused(client: Any, query: Any):
    assert client.get("/v1/labels", params=query).status_code == 422


def test_the_best_match_comes_first():
    names = ["pineapple", "Apple tree", "big apple", "apple", "Äpple", "pear"]
    search = LabelSearch(names, np.array([9, 1, 5, 1, 2, 3]))
    assert search.find("apple") == [4, 3, 1, 2, 0]
    assert search.find("  ") == [0, 2, 5, 4, 1, 3]
    assert search.find("e\np") == []


@given(st.lists(st.text(max_size=8), max_size=20), st.text(max_size=3))
def test_search_finds_what_a_plain_loop_finds(names: list[str], query: str):
    plain = [name for name in names if name.isascii()]
    query = query if query.isascii() else "a"
    wanted = query.lower().replace("\n", "").strip()
    expected = {at for at, name in enumerate(plain) if wanted in name.lower().replace("\n", "")}
    found = LabelSearch(plain, np.ones(len(plain), dtype=np.int64)).find(query)
    assert set(found) == expected
    assert len(found) == len(expected)


def test_the_map_lists_the_most_frequent_labels_first(client: Any, trained: Tagger):
    told = client.get("/v1/map").json()
    assert told["total"] == len(told["label"]) == trained.estimator_.n_labels_
    assert told["count"] == sorted(told["count"], reverse=True)
    assert [trained.label_names_[label] for label in told["label"]] == told["name"]
    first = client.get("/v1/map", params={"limit": 2}).json()
    assert first["name"] == told["name"][:2]
    assert client.get("/v1/map", headers={"Accept-Encoding": "identity"}).json() == told


def test_models_without_names_show_numbers(client_of: Any, tmp_path: Path):
    X, Y = planted_corpus()
    NearestNeighbors().fit(X, Y).save(tmp_path / "model")
    client = client_of(tmp_path / "model")
    assert find(client, q="11")["labels"][0]["label"] == 11
    assert sorted(client.get("/v1/map").json()["name"], key=int) == [str(n) for n in range(12)]
