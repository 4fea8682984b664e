"""Tables on the command line: read by column, kept by the model, given back with tags."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from labelspace.cli.app import app
from labelspace.data import read_corpus
from labelspace.tagger import Tagger

WORDS = ["spline", "matrix", "kernel", "forest"]
OPTIONS = ("--text", "TIT,AB", "--labels", "SW", "--label-separator", "/", "--id", "PPN")


def run(*arguments: object, text: str | None = None) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=text)


def run_well(*arguments: object, text: str | None = None) -> Result:
    result = run(*arguments, text=text)
    assert result.exit_code == 0, result.output
    return result


def table(n_rows: int = 24) -> str:
    lines = ["\ufeffPPN;TIT;AB;SW;Jahr"]
    for n in range(n_rows):
        word = WORDS[n % len(WORDS)]
        lines.append(f'{100 + n}X;About the {word};"one; {word}, and {word}s";{word}/all;1999')
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tables")
    (folder / "train.csv").write_text(table(), encoding="utf-8")
    run_well("train", folder / "train.csv", *OPTIONS, "--method", "knn", "--out", folder / "model")
    return folder


def read_back(path: Path, delimiter: str = ";") -> list[dict[str, Any]]:
    content = io.StringIO(path.read_text(encoding="utf-8-sig"), newline="")
    return list(csv.DictReader(content, delimiter=delimiter))


def test_the_model_keeps_how_its_table_was_read(folder: Path) -> None:
    kept = Tagger.load(folder / "model").fields_
    assert (kept.text, kept.labels, kept.id) == (("TIT", "AB"), "SW", "PPN")
    assert kept.label_separator == "/"
    about = json.loads(run_well("info", folder / "model", "--json").stdout)["table"]
    assert about == {"text": "TIT, AB", "labels": "SW", "label_separator": "/", "id": "PPN"}
    figures = json.loads(
        run_well("evaluate", folder / "model", folder / "train.csv", "--json").stdout
    )
    assert figures["P@1"] == 100


def test_out_gives_all_columns_back_and_the_tags(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "tagged.csv"
    result = run_well("predict", folder / "model", folder / "train.csv", "-k", 2, "--out", out)
    assert "24 rows" in result.stdout
    assert out.read_bytes().startswith(b"\xef\xbb\xbf")  # as the table itself begins
    rows = read_back(out)
    before = read_back(folder / "train.csv")
    assert [{name: row[name] for name in before[0]} for row in rows] == before
    assert {tuple(sorted(row["tags"].split(";"))) for row in rows} == {
        tuple(sorted(("all", word))) for word in WORDS
    }
    assert all(len(row["scores"].split(";")) == len(row["tag_ids"].split(";")) == 2 for row in rows)
    assert not list(tmp_path.glob(".*"))


def test_out_goes_by_its_ending(folder: Path, tmp_path: Path) -> None:
    source = folder / "train.csv"
    run_well("predict", folder / "model", source, "-k", 1, "--out", tmp_path / "a.jsonl")
    first = json.loads((tmp_path / "a.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert first["PPN"] == "100X"
    assert first["tags"] == ["all"]
    run_well("predict", folder / "model", source, "-k", 1, "--out", tmp_path / "a.tsv")
    assert read_back(tmp_path / "a.tsv", "\t")[0]["tags"] == "all"
    refused = run("predict", folder / "model", source, "--out", tmp_path / "a.docx")
    assert refused.exit_code == 1
    assert "end its name in .csv, .tsv, .xlsx, .jsonl or .parquet" in refused.output


def test_out_as_parquet_keeps_types_and_many_parts(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    monkeypatch.setattr("labelspace.cli.tagged_table.ROWS", 10)
    rows = [{"PPN": n, "TIT": "About the matrix", "AB": None, "tags": ["x"]} for n in range(24)]
    parquet.write_table(arrow.Table.from_pylist(rows), tmp_path / "a.parquet")
    out = tmp_path / "b.parquet"
    run_well("predict", folder / "model", tmp_path / "a.parquet", "-k", 2, "--out", out)
    back = parquet.read_table(out)
    assert back.schema.field("PPN").type == arrow.int64()
    assert back.column_names == ["PPN", "TIT", "AB", "tags", "predicted_tags", "tag_ids", "scores"]
    assert back.num_rows == 24
    assert back["PPN"].to_pylist() == list(range(24))
    assert set(back["predicted_tags"].to_pylist()[0]) == {"all", "matrix"}


def test_a_killed_run_goes_on_where_it_stopped(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("labelspace.cli.tagged_table.ROWS", 10)
    arguments = ("predict", folder / "model", folder / "train.csv", "-k", "2", "--out")
    run_well(*arguments, tmp_path / "whole.csv")
    ranked, calls = Tagger.ranked, []

    def killed(self: Tagger, rows: Any, *more: Any, **others: Any) -> Any:
        calls.append(len(rows))
        if len(calls) == 2:
            raise KeyboardInterrupt
        return ranked(self, rows, *more, **others)

    monkeypatch.setattr(Tagger, "ranked", killed)
    assert run(*arguments, tmp_path / "b.csv").exit_code != 0
    assert not (tmp_path / "b.csv").exists()
    result = run_well(*arguments, tmp_path / "b.csv")
    assert "Going on after 10 rows" in result.stderr
    assert calls == [10, 10, 10, 4]  # the part that was complete is not tagged again
    assert (tmp_path / "b.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()


@pytest.mark.parametrize(
    ("text", "n_rows"),
    [
        (table(4), 4),
        ('{"PPN": 1, "TIT": "About the matrix", "AB": "matrixs", "SW": "forest"}\n' * 2, 2),
        ('{"text": "About the matrix", "labels": ["forest"]}\n', 1),
        ("About the matrix\tforest,all\nOne matrix\tforest\n", 2),
        ("__label__forest __label__kernel About the matrix\n", 1),
    ],
    ids=["csv", "json", "our json", "tsv", "fasttext"],
)
def test_a_corpus_piped_in_does_not_give_its_labels_away(
    folder: Path, text: str, n_rows: int
) -> None:
    result = run_well("predict", folder / "model", "-", "-k", 2, "--json", text=text)
    found = json.loads(result.stdout)
    assert found["n"] == n_rows
    assert "is read as a corpus" in result.stderr
    if n_rows < 4:
        assert all("forest" not in {label["name"] for label in row} for row in found["predictions"])


@pytest.mark.parametrize(
    "text",
    ["title, text and labels\n", "About the\tforest fire\nof a\tkernel panic\n", "{a} matrix\n"],
    ids=["words of a header", "tabs", "brace"],
)
def test_lines_piped_in_are_texts(folder: Path, text: str) -> None:
    result = run_well("predict", folder / "model", "-", "--json", text=text)
    assert json.loads(result.stdout)["n"] == text.count("\n")
    assert "corpus" not in result.stderr


def test_ids_come_back_as_json(folder: Path) -> None:
    result = run_well("predict", folder / "model", folder / "train.csv", "-k", 1, "--json")
    assert json.loads(result.stdout)["ids"][:2] == ["100X", "101X"]


def test_info_shows_how_a_file_was_understood(folder: Path) -> None:
    found = json.loads(run_well("info", folder / "train.csv", *OPTIONS, "--json").stdout)
    assert found["read_as"] == 'CSV, ";" between cells, UTF-8'
    assert found["text_columns"] == "TIT, AB"
    assert len(found["first_rows"]) == 3
    assert found["first_rows"][0] == {
        "id": "100X",
        "text": "About the spline one; spline, and splines",
        "labels": "all | spline",
    }


def test_columns_that_are_guessed_are_said_once(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("title,tags\nroses,a;b\nbooks,c\n")
    result = run_well(
        "train", tmp_path / "a.csv", "--method", "most-common", "--out", tmp_path / "m"
    )
    lines = [line for line in result.stderr.splitlines() if "text from title" in line]
    assert len(lines) == 1
    assert 'labels from tags; ";" between labels' in lines[0]
    again = run_well("predict", tmp_path / "m", tmp_path / "a.csv")
    assert "from" not in again.stderr


def test_convert_update_and_compare_take_the_options(folder: Path, tmp_path: Path) -> None:
    source = folder / "train.csv"
    run_well("convert", source, tmp_path / "a.jsonl", *OPTIONS)
    assert json.loads((tmp_path / "a.jsonl").read_text(encoding="utf-8").splitlines()[0]) == {
        "id": "100X",
        "text": "About the spline\none; spline, and splines",
        "labels": ["all", "spline"],
    }
    assert (read_corpus(tmp_path / "a.jsonl").ids or [])[:2] == ["100X", "101X"]
    compared = run_well("compare", source, source, *OPTIONS, "--methods", "knn", "--json")
    assert json.loads(compared.stdout)["methods"][0]["P@1"] == 100
    run_well("train", source, *OPTIONS, "--method", "knn", "--out", tmp_path / "m")
    updated = run_well("update", tmp_path / "m", source, "--json")
    assert json.loads(updated.stdout)["n_examples"] == 48


def test_a_model_reads_the_xc_repositorys_test_file_without_its_labels(tmp_path: Path) -> None:
    rows = [
        {"uid": f"r{n}", "title": f"the {WORDS[n % 4]}", "target_ind": [n % 4]} for n in range(8)
    ]
    lines = "\n".join(json.dumps(row) for row in rows)
    train, other = tmp_path / "train", tmp_path / "test"
    train.mkdir(), other.mkdir()
    # A title may be a number, and two may be the same: the key tells them apart.
    titles = ["1984", "matrix", "same", "same"]
    labels = (json.dumps({"uid": f"u{at}", "title": name}) for at, name in enumerate(titles))
    (train / "lbl.json").write_text("\n".join(labels))
    (train / "trn.json").write_text(lines)
    (other / "tst.json").write_text(lines)
    run_well("train", train / "trn.json", "--method", "knn", "--out", tmp_path / "m")
    figures = run_well("evaluate", tmp_path / "m", other / "tst.json", "--json")
    assert json.loads(figures.stdout)["P@1"] == 100
    given = run_well("predict", tmp_path / "m", other / "tst.json", "-k", "1").stdout.splitlines()
    assert [line.split("\t")[0] for line in given[:4]] == [
        f"{title} <u{at}>" for at, title in enumerate(titles)
    ]
    refused = run("train", other / "tst.json", "--out", tmp_path / "n")
    assert refused.exit_code == 1
    assert "which are lines of lbl.json: put that file beside it" in refused.stderr


@pytest.mark.parametrize("verb", ["update", "evaluate"])
@pytest.mark.parametrize(
    "content",
    [
        '{"features": [[0, 1.0]], "labels": ["rose"]}\n',
        '{"id": "a", "text": "rose", "labels": ["rose"]}\n',
    ],
)
def test_words_are_no_labels_of_a_model_that_has_numbers(
    tmp_path: Path, verb: str, content: str
) -> None:
    if '"text"' in content:
        Tagger("knn").fit(["a rose", "a book"], [[0], [1]]).save(tmp_path / "m")
    else:
        (tmp_path / "a.txt").write_text("2 2 2\n0 0:1\n1 1:1\n")
        run_well("train", tmp_path / "a.txt", "--method", "knn", "--out", tmp_path / "m")
    (tmp_path / "words.jsonl").write_text(content)
    refused = run(verb, tmp_path / "m", tmp_path / "words.jsonl")
    assert refused.exit_code == 1
    assert "such as 'rose', but the model was trained on labels by number" in refused.stderr
    (tmp_path / "words.jsonl").write_text(content.replace('["rose"]', "[1]"))
    run_well(verb, tmp_path / "m", tmp_path / "words.jsonl")


def test_compare_takes_text_features(folder: Path, tmp_path: Path) -> None:
    source = folder / "train.csv"
    given = ("--methods", "knn", "--features", "ngrams=2", "--out", tmp_path / "c")
    run_well("compare", source, source, *OPTIONS, *given)
    assert Tagger.load(tmp_path / "c" / "knn").features_.ngrams == 2
    (tmp_path / "a.txt").write_text("1 1 1\n0 0:1\n")
    refused = run("compare", tmp_path / "a.txt", tmp_path / "a.txt", *given[:4])
    assert refused.exit_code == 2
    assert "--features is for texts" in refused.stderr
