"""Trials are made once, kept as lines, and shown on a page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.studies import find, lines
from benchmarks.studies.carry_out import Asked, carry_out, fill
from benchmarks.studies.source import Source
from benchmarks.studies.study import Figures, Part, Study, Trial


def measure(trial: Trial, source: Source) -> Iterator[tuple[Trial, Figures]]:
    """Answer with the dimension; the model is asked in two ways."""
    yield replace(trial, variant="halved"), {"P@1": trial.parameters["dim"] / 2}
    if trial.parameters["dim"] < 0:
        raise MemoryError
    yield trial, {"P@1": float(trial.parameters["dim"])}


def a_study(page: Path = Path(), dims: tuple[int, ...] = (8, 16)) -> Study:
    trials = [
        Trial("parts", corpus, parameters={"dim": dim}, seed=seed)
        for corpus in ("bibtex", "delicious")
        for dim in dims
        for seed in (0, 1)
    ]
    return Study(
        "made-up",
        {"parts": Part(trials, measure), "other": Part([Trial("other")], measure)},
        page,
        lambda found: {"parts": ", ".join(str(line.figures["P@1"]) for line in found)},
    )


PARTS = Asked(parts=["parts"])


def test_trials_that_are_there_are_not_made_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert carry_out(a_study(), PARTS, tmp_path) == 0
    kept = (tmp_path / "made-up.jsonl").read_text()
    assert len(kept.splitlines()) == 16
    carry_out(a_study(), PARTS, tmp_path)
    assert "0 trials to do" in capsys.readouterr().out
    assert (tmp_path / "made-up.jsonl").read_text() == kept


def test_corpora_and_seeds_can_be_chosen(tmp_path: Path) -> None:
    carry_out(a_study(), replace(PARTS, corpora=["delicious"], seeds=[1]), tmp_path)
    found = {(line.corpus, line.seed) for line in lines.read("made-up", tmp_path)}
    assert found == {("delicious", 1)}


def test_a_trial_that_was_stopped_half_way_is_made_again(tmp_path: Path) -> None:
    study = a_study(dims=(-8,))
    for _ in range(2):
        with pytest.raises(MemoryError):
            carry_out(study, PARTS, tmp_path)
    assert len((tmp_path / "made-up.jsonl").read_text().splitlines()) == 2
    assert [line.variant for line in lines.read("made-up", tmp_path)] == ["halved"]


def test_again_makes_lines_that_are_shown_in_place_of_the_old(tmp_path: Path) -> None:
    trial = a_study().parts["parts"].trials[0]
    lines.append("made-up", trial, {"P@1": 1.0}, tmp_path)
    carry_out(a_study(), replace(PARTS, again=True), tmp_path)
    first = lines.read("made-up", tmp_path)[0]
    assert (first.identity(), first.figures) == (trial.identity(), {"P@1": 8.0})


def test_a_quick_look_keeps_nothing_and_takes_the_first_corpus_and_seed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    carry_out(a_study(), replace(PARTS, quick=True), tmp_path)
    assert not (tmp_path / "made-up.jsonl").exists()
    told = capsys.readouterr().out
    assert "2 trials to do" in told
    assert "delicious" not in told


def test_when_the_time_is_over_the_rest_is_left(tmp_path: Path) -> None:
    assert carry_out(a_study(), replace(PARTS, budget_s=-1.0), tmp_path) == 8
    assert lines.read("made-up", tmp_path) == []


def test_wrong_names_are_told(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="no part 'prts': choose from parts, other"):
        carry_out(a_study(), Asked(parts=["prts"]), tmp_path)
    with pytest.raises(SystemExit, match="no study 'anexml'"):
        find("anexml")


def test_a_page_is_filled_from_the_lines(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- parts -->\n<!-- parts: end -->\nafter\n")
    lines.append("made-up", Trial("parts"), {"P@1": 12.3456789}, tmp_path)
    fill(a_study(page), tmp_path)
    assert page.read_text().splitlines()[:4] == ["before", "<!-- parts -->", "", "12.3457"]
