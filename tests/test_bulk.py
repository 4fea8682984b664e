"""Huge files are tagged in parts: no row is lost, none is tagged twice."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from labelspace import Tagger, bulk, engine
from labelspace.errors import DataError

TEXTS = [f"{colour} {thing}" for colour in ("red", "green") for thing in ("ball", "cube")]


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("bulk") / "model"
    Tagger("most-common").fit(TEXTS, [text.split() for text in TEXTS]).save(folder)
    return folder


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch) -> None:
    monkeypatch.setattr(bulk, "LEAST_PART", 400)


def lines(n: int = 50) -> list[str]:
    return [json.dumps({"text": TEXTS[i % 4], "n": i}) for i in range(n)]


def tag(model: Path, source: Path, out: Path, name: str = "threads", **how: Any) -> dict[str, Any]:
    with engine.using(name, workdir=bulk.own_workdir(out), n_workers=2) as used:
        done = bulk.tag_file(model, source, out, k=2, **how)
    return {**done, "n_done": len(used.log)}


def tagged(out: Path) -> list[dict[str, Any]]:
    parts = sorted(out.glob("part-*.jsonl"))
    return [json.loads(line) for part in parts for line in part.read_text().splitlines()]


def test_parts_hold_all_rows_in_order_with_their_tags(model, tmp_path) -> None:
    source, out = tmp_path / "big.jsonl", tmp_path / "out"
    source.write_text("\n".join(lines()) + "\n")
    done = tag(model, source, out)
    rows = tagged(out)
    assert [row["n"] for row in rows] == list(range(50))
    loaded = Tagger.load(model)
    assert [row["tags"] for row in rows[:4]] == [
        [name for name, _ in loaded.tag(text, k=2)] for text in TEXTS
    ]
    assert (done["rows"], done["poison"]) == (50, 0)
    assert len(done["parts"]) > 3
    assert json.loads((out / "manifest.json").read_text())["parts"] == done["parts"]


def test_rows_that_cannot_be_read_go_to_a_side_file_with_the_reason(model, tmp_path) -> None:
    source, out = tmp_path / "big.jsonl", tmp_path / "out"
    rows: list[Any] = lines(130)
    rows[110], rows[125] = '{"text": broken', "[1]"
    source.write_text("\n".join(rows) + "\n")
    done = tag(model, source, out)
    assert [row["n"] for row in tagged(out)] == [n for n in range(130) if n not in (110, 125)]
    poison = [
        json.loads(line)
        for file in sorted(out.glob("poison-*.jsonl"))
        for line in file.read_text().splitlines()
    ]
    assert [source.read_bytes()[slice(*one["range"])].decode() for one in poison] == [
        '{"text": broken\n',
        "[1]\n",
    ]
    assert "not JSON" in poison[0]["reason"]
    assert done["poison"] == 2


def test_a_folder_of_many_files_is_tagged_as_one(model, tmp_path) -> None:
    source, out = tmp_path / "many", tmp_path / "out"
    source.mkdir()
    rows = lines(300)
    rows[280] = '{"text": '
    for number in range(2):
        part = rows[150 * number : 150 * number + 150]
        (source / f"part-{number}.jsonl").write_text("\n".join(part) + "\n")
    done = tag(model, source, out)
    assert [row["n"] for row in tagged(out)] == [n for n in range(300) if n != 280]
    assert (done["rows"], done["poison"]) == (299, 1)
    assert tag(model, source, out)["n_done"] == 0


def test_a_second_run_does_only_what_is_missing(model, tmp_path) -> None:
    source, out = tmp_path / "big.jsonl", tmp_path / "out"
    source.write_text("\n".join(lines()) + "\n")
    first = tag(model, source, out)
    assert tag(model, source, out)["n_done"] == 0
    whole = tagged(out)
    (out / first["parts"][1]["file"]).unlink()
    again = tag(model, source, out)
    assert again["n_done"] == 1
    assert again["parts"] == first["parts"]
    assert tagged(out) == whole


def test_parts_of_other_rows_are_not_mixed(model, tmp_path) -> None:
    source, out = tmp_path / "big.jsonl", tmp_path / "out"
    source.write_text("\n".join(lines()) + "\n")
    tag(model, source, out)
    source.write_text("\n".join(lines(51)) + "\n")
    with pytest.raises(DataError, match="parts of another model, file or choice"):
        tag(model, source, out)


def test_csv_and_parquet_come_out_as_they_went_in(model, tmp_path) -> None:
    table = tmp_path / "big.csv"
    table.write_text("text,n\n" + "".join(f"{TEXTS[i % 4]},{i}\n" for i in range(100)))
    done = tag(model, table, tmp_path / "csv")
    heads = {(tmp_path / "csv" / p["file"]).read_text().splitlines()[0] for p in done["parts"]}
    assert heads == {"text,n,tags,tag_ids,scores"}
    assert done["rows"] == 100
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    rows = arrow.table({"text": TEXTS * 5, "n": list(range(20))})
    parquet.write_table(rows, tmp_path / "big.parquet", row_group_size=4)
    done = tag(model, tmp_path / "big.parquet", tmp_path / "parquet")
    parts = [parquet.read_table(tmp_path / "parquet" / part["file"]) for part in done["parts"]]
    assert [n for part in parts for n in part["n"].to_pylist()] == list(range(20))
    assert len(parts[0]["tags"][0]) == 2


def test_features_are_refused(model, tmp_path) -> None:
    source = tmp_path / "a.txt"
    source.write_text("1 2 2\n0 0:1.0 1:2.0\n")
    with pytest.raises(DataError, match="holds features"):
        tag(model, source, tmp_path / "out")


@pytest.mark.parametrize("content", [b"{", b"\xff\xfe", b"[" * 100_000, None])
def test_a_damaged_note_of_the_job_is_not_mixed_with(content, model, tmp_path) -> None:
    source, out = tmp_path / "big.jsonl", tmp_path / "out"
    source.write_text("\n".join(lines()) + "\n")
    out.mkdir()
    if content is None:
        os.mkfifo(out / "job.json")
    else:
        (out / "job.json").write_bytes(content)
    with pytest.raises(DataError, match="give an empty folder"):
        tag(model, source, out)
