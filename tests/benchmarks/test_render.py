"""Pages are filled from JSON lines alone, and say so where something is missing."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from benchmarks.render.marked import put
from benchmarks.render.page import PAGES, fill_page
from benchmarks.render.references import FOLDER, earlier, published
from benchmarks.render.rows import ACCURACY, COST, gather
from benchmarks.render.tables import accuracy_table, papers_table
from benchmarks.results import read_lines


def a_line(method: str, precision: float = 60.0, **changes: Any) -> dict[str, Any]:
    line = {
        "method": method,
        "corpus": "bibtex",
        "split": "given",
        "seed": 0,
        "parameters": {},
        "version": "labelspace 0.1.0",
        "status": "done",
        "date": "2026-01-01T00:00:00Z",
        "time_limit_s": 1200,
        "n_threads": 2,
        "machine": {"cpu": "a processor", "cores": 2, "load_average": 1.0},
        "metrics": dict.fromkeys(ACCURACY, precision),
        **dict.fromkeys(COST, 2.0),
    }
    return {**line, **changes}


def test_ours_come_before_peers_and_the_best_is_bold() -> None:
    lines = [a_line("omikuji-parabel", 61.0), a_line("one-vs-all", 63.5)]
    table = accuracy_table(gather(lines, "bibtex")).splitlines()
    assert table[2].startswith("| one-vs-all | **63.50** |")
    assert table[3].startswith("| omikuji (Parabel) | 61.00 |")


def test_ten_splits_become_mean_and_deviation_and_missing_ones_are_told() -> None:
    lines = [a_line("knn", 50.0, split="random-0"), a_line("knn", 52.0, split="random-1")]
    (row,) = gather(lines, "bibtex", "ten")
    assert row.figures["P@1"].mean == 51.0
    assert row.figures["P@1"].deviation == pytest.approx(2**0.5)
    assert row.note == "2 of 10 splits"
    assert "**51.00** ± 1.41" in accuracy_table([row])


def test_a_run_that_ended_early_has_dashes_and_a_note() -> None:
    early = a_line("napkinxc-br", status="ended early", stage="train")
    for name in ("metrics", *COST):
        del early[name]
    table = accuracy_table(gather([early], "bibtex"))
    assert "| napkinXC BR [1] | – |" in table
    assert "[1] ended early: stopped after 20 minutes while training." in table


def test_a_failed_run_is_told_until_it_is_done() -> None:
    failed = {**a_line("knn", status="failed", stage="train"), "train_cpu_s": 0.0}
    assert "[1] failed while training." in accuracy_table(gather([failed], "bibtex"))
    assert "failed" not in accuracy_table(gather([a_line("knn"), failed], "bibtex"))


def test_other_settings_appear_only_when_asked_for() -> None:
    lines = [a_line("knn"), a_line("knn", parameters={"n_neighbors": 3})]
    assert [row.title for row in gather(lines, "bibtex")] == ["knn"]
    assert "knn (n_neighbors=3)" in [row.title for row in gather(lines, "bibtex", variants=True)]


def test_a_page_keeps_its_prose_and_is_the_same_after_a_second_rendering(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "before\n<!-- benchmarks: accuracy corpus=bibtex -->\nold\n<!-- benchmarks: end -->\n"
        "between\n<!-- benchmarks: papers corpus=bibtex -->\n<!-- benchmarks: end -->\n"
        "<!-- benchmarks: published -->\n<!-- benchmarks: end -->\n"
        "<!-- benchmarks: machine -->\n<!-- benchmarks: end -->\nafter\n"
    )
    fill_page(page, [a_line("knn")])
    once = page.read_text()
    assert "old" not in once
    assert "| knn |" in once
    assert "*DiSMEC++* (reported earlier)" in once
    assert "| 1-vs-All → one-vs-all | 62.62 | – |" in once
    assert once.startswith("before\n")
    assert once.endswith("after\n")
    fill_page(page, [a_line("knn")])
    assert page.read_text() == once


def test_what_has_no_ten_splits_stands_beside_the_paper_with_a_note() -> None:
    figures = [one for one in published() if one.corpus == "bibtex" and one.ours == "knn"]
    given = gather([a_line("knn")], "bibtex")
    table = papers_table([], figures, "A paper:", given)
    assert "KNN → knn [1] | 57.04 | 60.00 |" in table
    assert table.endswith("[1] the files as given, not ten splits.")
    one_split = gather([a_line("knn", split="random-0")], "bibtex", "ten")
    assert papers_table(one_split, figures, "A paper:", given).endswith("[1] 1 of 10 splits.")


def test_a_plot_is_drawn_and_linked(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    page = tmp_path / "page.md"
    page.write_text("<!-- benchmarks: plot corpus=bibtex -->\n<!-- benchmarks: end -->\n")
    assert fill_page(page, [a_line("knn")]) == [page, tmp_path / "assets/benchmark-bibtex.svg"]
    assert "](assets/benchmark-bibtex.svg)" in page.read_text()
    assert (tmp_path / "assets/benchmark-bibtex.svg").stat().st_size > 1000


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_show_the_recorded_lines(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Whoever adds a line and does not render, or mends a figure by hand, is told here.
    monkeypatch.setattr("benchmarks.render.page.cost_plot", lambda *_: True)
    again = tmp_path / page.name
    again.write_text(page.read_text())
    fill_page(again, read_lines())
    assert again.read_text() == page.read_text(), "run python -m benchmarks render"


def test_a_summary_names_the_best_of_all_that_was_measured(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "<!-- benchmarks: summary figures=P@1,P@5 methods=knn best=all -->\n"
        "<!-- benchmarks: end -->\n"
    )
    fill_page(page, [a_line("knn"), a_line("annexml", 61.0), a_line("knn", corpus="tibkat")])
    assert page.read_text().splitlines()[5] == "| best of all | annexml | knn |"


def test_a_summary_has_a_column_for_each_corpus(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "<!-- benchmarks: summary figures=P@1,P@5 methods=omikuji-parabel,knn -->\n"
        "<!-- benchmarks: end -->\n"
    )
    fill_page(
        page, [a_line("knn"), a_line("omikuji-parabel", 61.0), a_line("knn", corpus="tibkat")]
    )
    assert page.read_text().splitlines()[2:6] == [
        "|  | bibtex | tibkat |",
        "|---|--:|--:|",
        "| omikuji (Parabel) | **61.00** / **61.00** | – / – |",
        "| knn | 60.00 / 60.00 | **60.00** / **60.00** |",
    ]


def test_a_method_has_its_figures_on_all_corpora(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("<!-- benchmarks: figures methods=leml,wsabie -->\n<!-- benchmarks: end -->\n")
    fill_page(page, [])
    assert "No runs yet." in page.read_text()
    lines = [
        a_line("leml"),
        a_line("leml", 61.0, split="random-0"),
        a_line("leml", corpus="tibkat"),
    ]
    fill_page(page, lines)
    first, published, last, *_ = page.read_text().splitlines()[4:]
    assert first.startswith("| `leml`, bibtex (random splits) [1] | 61.00 | 61.00 |")
    assert published.startswith("| published, bibtex | 62.54 | 38.41 | 28.21 | – |")
    assert last.startswith("| `leml`, tibkat | 60.00 |")
    assert "[1] 1 of 10 splits." in page.read_text()


def test_a_misspelt_block_is_named(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("<!-- benchmarks: acuracy corpus=bibtex -->\n<!-- benchmarks: end -->\n")
    with pytest.raises(SystemExit, match="acuracy"):
        fill_page(page, [])


def test_every_reference_figure_is_a_percentage() -> None:
    assert len(published()) > 100
    assert all(0 <= value <= 100 for one in published() for value in one.figures.values())
    with (FOLDER / "earlier.csv").open(newline="") as file:
        assert {line["corpus"] for line in csv.DictReader(file)} >= {"bibtex", "wordnet"}
    assert [row.kind for row in earlier("bibtex")] == ["earlier"] * 3


def test_a_text_is_put_between_its_marks_and_nowhere_else(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("a\n<!-- one -->\nold\n<!-- one: end -->\nb\n")
    put(page, "one", "new")
    assert page.read_text() == "a\n<!-- one -->\n\nnew\n\n<!-- one: end -->\nb\n"
    with pytest.raises(SystemExit, match="lacks the marks"):
        put(page, "other", "new")
