"""Corpora read by an engine, in parts, are the same as those read in order."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from labelspace import Tagger, engine
from labelspace.data import read_corpus
from labelspace.data.formats import row_blocks
from labelspace.data.formats.fields import Fields
from labelspace.errors import DataError
from tests.engine.test_models import bytes_of

ROWS = [
    (f"a {colour} {thing}, number {i}\nof {i % 7}", [colour, thing][: 1 + i % 2], f"id{i}")
    for i, (colour, thing) in enumerate(
        [("red", "ball"), ("green", "cube"), ("blue", "böx"), ("red", "cube")] * 50
    )
]


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(row_blocks, "LEAST_PART", 1000)


def written(folder: Path, name: str, rows=ROWS) -> Path:
    path = folder / name
    plain = [(text.replace("\n", " "), labels, id_) for text, labels, id_ in rows]
    if name.endswith(".csv"):
        with path.open("w", encoding="utf-8", newline="") as file:
            lines = csv.writer(file)
            lines.writerow(["id", "title", "tags"])
            lines.writerows((id_, text, ";".join(labels)) for text, labels, id_ in rows)
    elif name.endswith(".tsv"):
        path.write_text("".join(f"{text}\t{','.join(labels)}\n" for text, labels, _ in plain))
    elif name.endswith("fasttext.txt"):
        path.write_text(
            "".join(
                " ".join(f"__label__{one}" for one in labels) + f" {text}\n"
                for text, labels, _ in plain
            )
        )
    elif name.endswith(".parquet"):
        arrow = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        columns = {
            "text": [text for text, _, _ in rows],
            "labels": [labels for _, labels, _ in rows],
        }
        parquet.write_table(arrow.table(columns), path, row_group_size=40)
    elif name.startswith("other"):
        lines = ({"n": id_, "title": text, "tags": labels} for text, labels, id_ in rows)
        path.write_text("".join(json.dumps(one) + "\n" for one in lines))
    else:
        lines = ({"text": text, "labels": labels} for text, labels, _ in rows)
        path.write_text("".join(json.dumps(one) + "\n" for one in lines))
    return path


def assert_same(one, other) -> None:
    assert one.label_names == other.label_names
    assert (one.Y != other.Y).nnz == 0
    assert one.Y.indptr.dtype == other.Y.indptr.dtype
    if one.X is not None:
        assert (one.X != other.X).nnz == 0
    for column in ("texts", "ids"):
        ours, theirs = getattr(one, column), getattr(other, column)
        assert (ours is None) == (theirs is None)
        assert ours is None or list(ours) == list(theirs)
    assert one.reading == other.reading


@pytest.mark.parametrize(
    "name", ["a.csv", "a.tsv", "fasttext.txt", "a.parquet", "a.jsonl", "other.jsonl"]
)
def test_parts_give_the_same_corpus(name, tmp_path) -> None:
    path = written(tmp_path, name)
    fields = Fields.of(labels="tags") if name == "other.jsonl" else None
    alone = read_corpus(path, fields=fields)
    with engine.using("threads", n_workers=2) as used:
        read = read_corpus(path, fields=fields)
    assert len(used.log) > 3
    assert_same(read, alone)


def test_xc_text_in_parts_gives_the_same_corpus(tmp_path) -> None:
    random = np.random.default_rng(0)
    lines = []
    for i in range(300):
        labels = random.choice(30, i % 4, replace=False)
        features = random.choice(90, i % 9, replace=False)
        values = "".join(f" {column}:{random.random():.3f}" for column in features)
        lines.append(",".join(map(str, labels)) + values)
    for header in ("", "300 90 30\n"):
        path = tmp_path / "train.txt"
        path.write_text(header + "\n".join(lines) + "\n")
        with pytest.warns(match="without"):
            alone = read_corpus(path)
        with engine.using("threads", n_workers=2) as used, pytest.warns(match="without"):
            read = read_corpus(path)
        assert len(used.log) > 3
        assert_same(read, alone)


def test_processes_read_and_count_and_give_the_same_model(tmp_path) -> None:
    folder = tmp_path / "corpus"
    folder.mkdir()
    for number in range(4):
        written(folder, f"part-{number}.csv", ROWS[50 * number : 50 * number + 50])
    whole = read_corpus(written(tmp_path, "whole.csv"))
    alone = Tagger("one-vs-all", C=1.0, n_threads=1).fit(whole.texts, whole.Y, whole.label_names)
    with engine.using("processes", n_workers=2, workdir=tmp_path / "work") as used:
        read = read_corpus(folder)
        apart = Tagger("one-vs-all", C=1.0, n_threads=1).fit(read.texts, read.Y, read.label_names)
    assert {line["stage"].partition(" ")[0] for line in used.log} == {"Reading", "training"}
    assert bytes_of(apart, tmp_path / "apart") == bytes_of(alone, tmp_path / "alone")
    with engine.using("threads", workdir=tmp_path / "work") as again:
        assert list(read_corpus(folder).ids) == [id_ for *_, id_ in ROWS]
    assert again.log == []  # found, not read again


def test_a_folder_of_files_is_one_table_packed_or_not(tmp_path) -> None:
    folder = tmp_path / "corpus"
    folder.mkdir()
    written(folder, "part-0.csv", ROWS[:120])
    packed = written(tmp_path, "rest.csv", ROWS[120:])
    (folder / "part-1.csv.gz").write_bytes(gzip.compress(packed.read_bytes()))
    (folder / "_SUCCESS").touch()
    alone = read_corpus(folder)
    assert list(alone.texts) == [text for text, *_ in ROWS]
    assert alone.reading.how.startswith("2 files of CSV")
    with engine.using("threads", n_workers=2) as used:
        assert_same(read_corpus(folder), alone)
    assert len(used.log) > 3


def test_files_of_a_folder_have_the_same_columns(tmp_path) -> None:
    (tmp_path / "a.csv").write_text("title,tags\na ball,red\n")
    (tmp_path / "b.csv").write_text("title,subjects\na ball,red\n")
    with pytest.raises(DataError, match=r"b\.csv has the columns title, subjects, unlike a\.csv"):
        read_corpus(tmp_path)


def test_a_mistake_is_told_with_its_line(tmp_path) -> None:
    path = written(tmp_path, "a.jsonl")
    lines = path.read_text().splitlines()
    lines[150] = '{"text": 3, "labels": []}'
    path.write_text("\n".join(lines))
    with engine.using("threads"), pytest.raises(DataError, match=r"a\.jsonl, line 151: .text. is"):
        read_corpus(path)


def test_what_labels_look_like_is_told_by_the_first_of_the_whole_file(tmp_path) -> None:
    path = tmp_path / "annif.tsv"
    lines = [f"a ball number {i}\t<http://example.org/{i % 5}>" for i in range(100)]
    lines[60:] = [f"a ball number {i}\t" for i in range(40)]
    path.write_text("\n".join(lines) + "\n")
    with pytest.warns(match="without labels"):
        alone = read_corpus(path)
    with engine.using("threads") as used, pytest.warns(match="without labels"):
        assert_same(read_corpus(path), alone)
    assert len(used.log) > 3
