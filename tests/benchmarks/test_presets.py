"""The table of presets has every method, and no cell that is empty without a note."""

from __future__ import annotations

from benchmarks.render.presets import (
    FIGURES,
    NO_PAPER,
    NO_REPAIR,
    NOT_RUN,
    ONE_RUN,
    PROGRAM,
    presets_of,
    presets_table,
)
from labelspace.models import METHODS
from tests.benchmarks.test_render import a_line


def cells(table: str, method: str, corpus: str) -> list[str]:
    (line,) = [one for one in table.splitlines() if one.startswith(f"| `{method}` | {corpus} |")]
    return [cell.strip() for cell in line.strip("|").split("|")][2:]


def test_every_method_has_a_line_for_each_corpus_and_every_empty_cell_a_note() -> None:
    table = presets_table([])
    for method in METHODS:
        for corpus in ("bibtex", "delicious"):
            for cell in cells(table, method, corpus):
                assert not cell.startswith("–") or cell[2:].startswith("[") or "/" in cell


def test_a_cell_without_a_repaired_preset_says_why() -> None:
    table = presets_table([])
    notes = dict(note.split("] ", 1) for note in table.splitlines()[-1].split("<br>"))
    for method, why in (("most-common", NO_PAPER), ("glas", NO_REPAIR)):
        mark = cells(table, method, "bibtex")[2].removeprefix("– ").removesuffix("]")
        assert notes[mark] == f"{why}."


def test_ten_splits_are_taken_before_one_run_which_is_marked() -> None:
    paper = {"parameters": {"preset": "paper"}, "date": "2027-01-01T00:00:00Z"}
    lines = [a_line("glas", 50.0, **paper), a_line("glas", 61.0)]
    lines += [a_line("glas", 60.0 + at, split=f"random-{at}") for at in range(10)]
    table = presets_table(lines)
    printed, as_printed, _, default = cells(table, "glas", "bibtex")
    assert default.startswith("64.50 ± 3.03 / ")
    assert as_printed.startswith("50.00 / 50.00 / 50.00 [")
    assert ONE_RUN in table
    assert NOT_RUN in table
    assert printed.startswith("–")


def test_what_was_measured_before_a_preset_was_what_it_says_does_not_count() -> None:
    old = a_line("annexml", 63.0, parameters={"preset": "paper"}, date="2026-11-16T00:00:00Z")
    assert cells(presets_table([old]), "annexml", "bibtex")[1].startswith("–")


def test_a_run_with_fewer_learners_is_not_the_preset() -> None:
    short = a_line(
        "hyperbolic",
        59.0,
        corpus="delicious",
        parameters={"preset": "paper", "n_learners": 3},
        date="2026-11-18T00:00:00Z",
    )
    assert cells(presets_table([short]), "hyperbolic", "delicious")[1].startswith("–")


def test_some_splits_are_enough_and_are_counted() -> None:
    lines = [a_line("glas", 60.0 + at, split=f"random-{at}") for at in range(3)]
    two, three = (presets_table(lines[:n]) for n in (2, 3))
    assert cells(two, "glas", "bibtex")[3].startswith("–")
    assert cells(three, "glas", "bibtex")[3].startswith("61.00 ± 1.00 / ")
    assert "3 random splits" in three


def test_the_original_program_stands_where_its_paper_has_no_figure() -> None:
    table = presets_table([])
    assert cells(table, "annexml", "bibtex")[0].startswith("59.84 / 36.10 / 26.32 [")
    assert PROGRAM in table


def test_a_papers_own_figure_stands_beside_ours() -> None:
    assert cells(presets_table([]), "dxml", "bibtex")[0] == "66.03 / 40.21 / 27.51"
    assert cells(presets_table([]), "hierarchicalxc", "bibtex")[0] == "– / – / 4.10"


def test_presets_are_those_of_the_constructor() -> None:
    assert presets_of("neuralxc") == ("best", "paper", "repaired")
    assert presets_of("knn") == ()
    assert NO_PAPER in presets_table([])
    assert len(FIGURES) == 3
