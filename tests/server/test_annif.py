"""Annif's door: the server answers as Annif does, to Annif itself where it can be had."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from labelspace import Tagger
from labelspace.vocabulary import Entry, LabelName, Vocabulary
from tests.server.running import Running
from tests.server.texts import tagged_texts

ANNIF = os.environ.get("LABELSPACE_ANNIF", "")
PROBLEM = "application/problem+json"
TEXT = "prune the roses and mind the tide"


def uri(name: str) -> str:
    return f"http://example.org/subjects/{name}"


@pytest.fixture(scope="module")
def subjects() -> Tagger:
    """A tagger whose labels have URIs and names in two languages."""
    texts, labels = tagged_texts()
    names = sorted({label for row in labels for label in row if label.isalpha()})
    entries = [
        Entry(uri(name), [LabelName(name, "en"), LabelName(f"{name} auf Deutsch", "de")])
        for name in names
    ]
    keys = [[uri(label) for label in row if label.isalpha()] for row in labels]
    return Tagger("knn").fit(texts, keys, vocabulary=Vocabulary(entries))


@pytest.fixture
def client(client_of: Callable[..., Any], subjects: Tagger, tmp_path: Path) -> Any:
    subjects.save(tmp_path / "my subjects")
    return client_of(tmp_path / "my subjects")


def suggest(client: Any, at: str = "my-subjects", **form: Any) -> Any:
    return client.post(f"/v1/projects/{at}/suggest", data=form)


def test_the_model_is_listed_as_a_project(client: Any):
    (project,) = client.get("/v1/projects").json()["projects"]
    assert project["project_id"] == "my-subjects"
    assert project["backend"] == {"backend_id": "labelspace-knn"}
    assert project["is_trained"] is True
    assert project["vocab"]["size"] == 7
    assert set(project["vocab"]["languages"]) == {"en", "de"}
    assert client.get("/v1/projects/my-subjects").json() == project


def test_suggestions_are_the_tags_of_the_library(client: Any, subjects: Tagger):
    answer = suggest(client, text=TEXT, limit=3)
    assert answer.status_code == 200
    expected = [
        (tag.key, tag.name, pytest.approx(tag.score, abs=1e-5)) for tag in subjects.tag(TEXT, k=3)
    ]
    told = answer.json()["results"]
    assert [(one["uri"], one["label"], one["score"]) for one in told] == expected
    assert all(one["notation"] is None for one in told)


def test_limit_threshold_and_language_are_heeded(client: Any):
    everything = suggest(client, text=TEXT).json()["results"]
    assert len(everything) > 2
    assert suggest(client, text=TEXT, limit=0).json() == {"results": []}
    least = everything[1]["score"]
    above = suggest(client, text=TEXT, threshold=least).json()["results"]
    assert above == [one for one in everything if one["score"] >= least]
    german = suggest(client, text=TEXT, language="de").json()["results"]
    assert [one["label"] for one in german] == [f"{one['label']} auf Deutsch" for one in everything]
    assert suggest(client, text=TEXT, limit=100_000).status_code == 200


def test_what_else_a_form_holds_is_left_out(client: Any):
    given = suggest(client, text=TEXT, project="other", metadata_title="chess").json()
    assert given == suggest(client, text=TEXT).json()


def test_a_batch_gives_each_document_its_suggestions(client: Any):
    documents = [{"text": TEXT, "document_id": "a", "metadata": {"title": "x"}}, {"text": "rook"}]
    answer = client.post(
        "/v1/projects/my-subjects/suggest-batch?limit=2", json={"documents": documents}
    )
    first, second = answer.json()
    assert first == {**suggest(client, text=TEXT, limit=2).json(), "document_id": "a"}
    assert second == {**suggest(client, text="rook", limit=2).json(), "document_id": None}
    empty = client.post("/v1/projects/my-subjects/suggest-batch", json={"documents": []})
    assert empty.json() == []


@pytest.mark.parametrize(
    ("form", "status", "word"),
    [
        ({"limit": 3}, 400, "text"),
        ({"text": TEXT, "limit": "many"}, 400, "limit"),
        ({"text": TEXT, "limit": -1}, 400, "limit"),
        ({"text": TEXT, "threshold": 1.5}, 400, "threshold"),
        ({"text": TEXT, "threshold": "nan"}, 400, "threshold"),
        ({"text": TEXT, "language": "fr"}, 400, "fr"),
        ({"text": TEXT, "language": "e n"}, 400, "language"),
        ({"text": TEXT, **{f"metadata_{n}": "x" for n in range(300)}}, 400, "form"),
        ({"text": "x" * (2 << 20)}, 413, "larger"),
    ],
)
def test_a_wrong_form_is_a_problem_as_annif_tells_it(
    client: Any, form: dict[str, Any], status: int, word: str
):
    answer = suggest(client, **form)
    assert (answer.status_code, answer.headers["content-type"]) == (status, PROBLEM)
    told = answer.json()
    assert told["status"] == status
    assert told["title"]
    assert word in told["detail"]


def test_bytes_that_are_no_form_are_refused(client: Any):
    for raw in (b"text=%ff", b"\xff", b"text=\xc3\xa4"):
        answer = client.post(
            "/v1/projects/my-subjects/suggest",
            content=raw,
            headers={"Content-Type": "application/x-www-form-urlencoded"},
        )
        assert answer.status_code == 400


def test_an_unknown_project_and_a_batch_of_too_many_are_refused(client: Any):
    assert suggest(client, "other", text=TEXT).status_code == 404
    assert client.get("/v1/projects/other").json()["title"] == "Project not found"
    assert "'a b' not found" in client.get("/v1/projects/a%0Ab").json()["detail"]
    many = {"documents": [{"text": "x"}] * 33}
    answer = client.post("/v1/projects/my-subjects/suggest-batch", json=many)
    assert answer.status_code == 400
    wrong = client.post("/v1/projects/my-subjects/suggest-batch?limit=x", json={"documents": []})
    assert wrong.status_code == 400


def test_without_a_vocabulary_names_stand_for_uris(
    client_of: Callable[..., Any], trained: Tagger, tmp_path: Path
):
    trained.save(tmp_path / "plain")
    client = client_of(tmp_path / "plain")
    told = suggest(client, "plain", text=TEXT, limit=1).json()["results"][0]
    assert told["uri"] == told["label"] == trained.tag(TEXT, k=1)[0].name
    assert client.get("/v1/projects/plain").json()["language"] == "und"
    assert suggest(client, "plain", text=TEXT, language="und").status_code == 200
    assert suggest(client, "plain", text=TEXT, language="en").status_code == 400


@pytest.fixture
def served(subjects: Tagger, tmp_path: Path) -> Iterator[Running]:
    subjects.save(tmp_path / "subjects")
    server = Running(tmp_path / "subjects")
    yield server
    server.kill()


@pytest.mark.skipif(not shutil.which(ANNIF), reason="LABELSPACE_ANNIF names no annif to ask with")
def test_annif_itself_asks_a_model_through_its_http_backend(
    served: Running, subjects: Tagger, tmp_path: Path
):
    home = tmp_path / "annif"
    home.mkdir()
    rows = [f"<{tag.key}>\t{tag.name}\n" for tag in subjects.tag(TEXT, k=7)]
    (home / "subjects.tsv").write_text("".join(rows))
    (home / "projects.cfg").write_text(
        "[remote]\nname=remote\nlanguage=en\nbackend=http\nvocab=subjects\nlimit=100\n"
        f"endpoint={served.address}/v1/projects/subjects/suggest\n"
    )

    def annif(*words: str, text: str = "") -> str:
        done = subprocess.run(
            [ANNIF, *words], cwd=home, input=text, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert "failed" not in done.stderr
        return done.stdout

    annif("load-vocab", "--language", "en", "subjects", "subjects.tsv")
    shown = annif("show-project", "remote")
    assert "True" in next(line for line in shown.splitlines() if line.startswith("Trained"))
    lines = annif("suggest", "--limit", "3", "remote", text=TEXT).splitlines()
    found = [line.split("\t") for line in lines]
    expected = [(f"<{tag.key}>", tag.name) for tag in subjects.tag(TEXT, k=3)]
    assert [(one[0], one[1]) for one in found] == expected
    scores = [tag.score for tag in subjects.tag(TEXT, k=3)]
    assert [float(one[2]) for one in found] == pytest.approx(scores, abs=1e-3)
