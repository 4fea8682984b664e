"""A vocabulary in, keys and names in a language out, on the command line."""

from __future__ import annotations

import csv
import json

import pytest
from typer.testing import CliRunner

from labelspace import Tagger
from labelspace.cli.app import app

GARDEN = """\
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix ex: <http://example.org/> .
ex:plant a skos:Concept ; skos:prefLabel "Pflanze"@de, "plant"@en .
ex:rose a skos:Concept ; skos:prefLabel "Rose"@de, "rose"@en ; skos:altLabel "Rosen"@de ;
    skos:broader ex:plant .
ex:book a skos:Concept ; skos:prefLabel "Buch"@de, "book"@en .
ex:tulip a skos:Concept ; skos:prefLabel "Tulpe"@de, "tulip"@en ; skos:broader ex:plant .
"""
# A semicolon CSV with BOM; labels go by German, English and other names, and by URI.
TABLE = """\
\ufeffnr;titel;subjects
a1;Rosen im Garten;Rose|plant
a2;Wilde Rosen im Garten;Rosen|Pflanze
a3;Geschichte der alten Bücher;http://example.org/book
a4;Alte Bücher;book
a5;Rosen schneiden;Rosen
"""


def run(*arguments, code=0):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result.stdout if code == 0 else result.output


@pytest.fixture
def garden(tmp_path):
    pytest.importorskip("rdflib")
    (tmp_path / "garden.ttl").write_text(GARDEN, encoding="utf-8")
    (tmp_path / "train.csv").write_text(TABLE, encoding="utf-8")
    columns = ("--text", "titel", "--labels", "subjects", "--id", "nr")
    model = tmp_path / "model"
    told = run(
        "train", tmp_path / "train.csv", *columns, "--vocabulary", tmp_path / "garden.ttl",
        "--method", "knn", "--out", model, "--json",
    )  # fmt: skip
    return model, json.loads(told)


def test_labels_by_any_of_their_names_are_one_label(garden):
    model, told = garden
    assert (told["n_labels"], told["n_vocabulary"], told["n_vocabulary_without_rows"]) == (3, 4, 1)
    card = json.loads(run("info", model, "--json"))["vocabulary"]
    assert card == {"n_labels": 4, "n_used": 3}
    tagger = Tagger.load(model)
    assert sorted(tagger.catalog.key(label) for label in range(3)) == [
        "http://example.org/book",
        "http://example.org/plant",
        "http://example.org/rose",
    ]


def test_a_csv_comes_back_with_ids_keys_and_german_names(garden, tmp_path):
    model, _ = garden
    (tmp_path / "new.csv").write_text(
        "\ufeffnr;titel\nb1;Ein Garten voller Rosen\nb2;Von alten Büchern und Bücher\n",
        encoding="utf-8",
    )
    out = tmp_path / "tagged.csv"
    run("predict", model, tmp_path / "new.csv", "-k", 2, "--language", "de", "--out", out)
    with open(out, encoding="utf-8-sig", newline="") as file:
        first, second = csv.DictReader(file, delimiter=";")
    assert (first["nr"], first["titel"]) == ("b1", "Ein Garten voller Rosen")
    assert set(first["tags"].split("|")) == {"Rose", "Pflanze"}
    assert set(first["tag_ids"].split("|")) == {
        "http://example.org/rose",
        "http://example.org/plant",
    }
    assert (second["tags"], second["tag_ids"]) == ("Buch", "http://example.org/book")


def test_predict_gives_keys_hides_broader_labels_and_adds_them(garden, tmp_path):
    model, _ = garden
    train = tmp_path / "train.csv"
    hidden = run("predict", model, train, "-k", 2, "--hide-broader", "--language", "en")
    assert hidden.splitlines()[0] == "rose <http://example.org/rose>\t1.0000"
    added = json.loads(
        run("predict", model, train, "-k", 1, "--add-broader", "--language", "de", "--json")
    )
    row = [(label["name"], label["key"]) for label in added["predictions"][4]]
    assert sorted(row) == [
        ("Pflanze", "http://example.org/plant"),
        ("Rose", "http://example.org/rose"),
    ]
    both = ("--hide-broader", "--add-broader")
    assert "contradict each other" in run("predict", model, train, *both, code=2)
    assert "no names in 'fi': it has" in run("predict", model, train, "--language", "fi", code=2)


def test_other_names_in_a_test_corpus_are_the_models_labels(garden, tmp_path):
    model, _ = garden
    test = tmp_path / "test.csv"
    test.write_text("titel;subjects\nRosen im Garten;Rosen\n", encoding="utf-8")
    assert json.loads(run("evaluate", model, test, "--json"))["P@5"] == 20.0


def test_update_takes_labels_that_only_the_vocabulary_knew(garden, tmp_path):
    model, _ = garden
    more = tmp_path / "more.csv"
    more.write_text("titel;subjects\nGeschichte im Garten;Tulpe\n", encoding="utf-8")
    run("update", model, more)
    told = json.loads(run("predict", model, more, "-k", 1, "--language", "en", "--json"))
    [[label]] = told["predictions"]
    assert (label["name"], label["key"]) == ("tulip", "http://example.org/tulip")


def test_a_model_learned_without_a_vocabulary_can_be_given_one(tmp_path):
    (tmp_path / "train.tsv").write_text("red ball\tred\nred cube\tred,cube\n")
    run("train", tmp_path / "train.tsv", "--method", "knn", "--out", tmp_path / "model")
    (tmp_path / "colours.csv").write_text("key,name\nc1,red\nc2,cube\n")
    run("update", tmp_path / "model", tmp_path / "train.tsv",
        "--vocabulary", tmp_path / "colours.csv")  # fmt: skip
    assert Tagger.load(tmp_path / "model").tag("red ball", k=1)[0].key == "c1"


def test_keys_in_labels_txt_tell_equal_names_apart(tmp_path):
    (tmp_path / "labels.txt").write_text("k1\tbank\nk2\tbank\n")
    (tmp_path / "train.txt").write_text("2 2 2\n0 0:1\n1 1:1\n")
    run("train", tmp_path / "train.txt", "--method", "knn", "--out", tmp_path / "model")
    told = run("predict", tmp_path / "model", tmp_path / "train.txt", "-k", 1)
    assert told.splitlines() == ["bank <k1>\t1.0000", "bank <k2>\t1.0000"]
    err = run("predict", tmp_path / "model", tmp_path / "train.txt", "--hide-broader", code=2)
    assert "no broader labels" in err


def test_predict_gives_only_labels_that_are_allowed(garden, tmp_path):
    model, _ = garden
    (tmp_path / "only.txt").write_text("Buch\n\nhttp://example.org/plant\n", encoding="utf-8")
    new = tmp_path / "new.csv"
    new.write_text("nr;titel\nb1;Rosen und Bücher im Garten\n", encoding="utf-8")
    rows = json.loads(run("predict", model, new, "--allow", f"@{tmp_path}/only.txt", "--json"))
    keys = {one["key"].rpartition("/")[2] for one in rows["predictions"][0]}
    assert keys == {"book", "plant"}
    excluded = ("--exclude", "Rose <http://example.org/rose>", "--exclude", "plant")
    rows = json.loads(run("predict", model, new, *excluded, "--json"))
    assert [one["name"] for one in rows["predictions"][0]] == ["book"]
    assert "There is no label 'Baum'" in run("predict", model, new, "--allow", "Baum", code=2)
    out = tmp_path / "tagged.csv"
    run("predict", model, new, "--allow", "book", "--language", "de", "--out", out)
    with out.open(encoding="utf-8") as file:
        assert [row["tags"] for row in csv.DictReader(file, delimiter=";")] == ["Buch"]


def test_rules_and_thresholds_of_single_labels(garden, tmp_path):
    model, _ = garden
    new = tmp_path / "new.csv"
    new.write_text("nr;titel\nb1;Rosen und Bücher im Garten\n", encoding="utf-8")

    def keys(*options):
        told = json.loads(run("predict", model, new, *options, "--json"))["predictions"][0]
        return {one["key"].rpartition("/")[2] for one in told}

    assert keys("--allow", "below:plant") == {"plant", "rose"}
    assert keys("--exclude", "pattern:*/R*") == {"book", "plant"}
    assert keys("--label-threshold", "rose=2", "--label-threshold", "plant=2") == {"book"}
    wrong = run("predict", model, new, "--label-threshold", "rose", code=2)
    assert "write LABEL=SCORE" in wrong


def test_train_leaves_out_what_rules_exclude(garden, tmp_path):
    columns = ("--text", "titel", "--labels", "subjects", "--id", "nr")
    run(
        "train", tmp_path / "train.csv", *columns, "--vocabulary", tmp_path / "garden.ttl",
        "--method", "knn", "--out", tmp_path / "books", "--exclude", "below:plant", "--json",
    )  # fmt: skip
    new = tmp_path / "new.csv"
    new.write_text("nr;titel\nb1;Rosen und Bücher im Garten\n", encoding="utf-8")
    told = json.loads(run("predict", tmp_path / "books", new, "--json"))["predictions"][0]
    assert [one["name"] for one in told] == ["book"]


def test_every_verb_that_reads_takes_a_vocabulary(garden, tmp_path):
    _, _ = garden
    vocabulary = ("--vocabulary", tmp_path / "garden.ttl")
    (tmp_path / "plain.tsv").write_text("Rosen im Garten\tRose\nAlte Bücher\tBuch\n", "utf-8")
    model, test = tmp_path / "plain", tmp_path / "test.tsv"
    run("train", tmp_path / "plain.tsv", "--method", "knn", "--out", model)
    test.write_text("Rosen im Garten\trose\nAlte Bücher\tbook\n", "utf-8")
    assert json.loads(run("evaluate", model, test, "--json"))["P@1"] == 0
    assert json.loads(run("evaluate", model, test, *vocabulary, "--json"))["P@1"] == 100
    english = run("predict", model, test, *vocabulary, "--language", "en", "-k", "1")
    assert english.splitlines()[0].startswith("rose <http://example.org/rose>")
    covered = {"n_labels": 4, "n_found": 2, "n_not_found": 0, "n_ambiguous": 0}
    assert json.loads(run("info", test, *vocabulary, "--json"))["vocabulary"] == covered
    assert json.loads(run("info", model, *vocabulary, "--json"))["given_vocabulary"] == covered
    run("convert", test, tmp_path / "keys.jsonl", *vocabulary)
    first = json.loads((tmp_path / "keys.jsonl").read_text("utf-8").splitlines()[0])
    assert first["labels"] == ["http://example.org/rose"]
    run("convert", test, tmp_path / "german.jsonl", *vocabulary, "--language", "de")
    assert '"Rose"' in (tmp_path / "german.jsonl").read_text("utf-8")
    assert "--vocabulary" in run("convert", test, tmp_path / "x.tsv", "--language", "de", code=2)


def test_info_describes_a_vocabulary(garden, tmp_path):
    told = json.loads(run("info", tmp_path / "garden.ttl", "--json"))
    assert (told["n_labels"], told["languages"], told["n_with_broader"]) == (4, "de, en", 2)
    assert {one["key"] for one in told["first_labels"]} <= {
        f"http://example.org/{name}" for name in ("plant", "rose", "book", "tulip")
    }
