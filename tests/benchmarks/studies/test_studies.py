"""Every study: its lines are all alike, its page shows them, and its parts can be measured."""

from __future__ import annotations

import doctest
import json
from pathlib import Path

import pytest

import benchmarks.studies.lines
import benchmarks.studies.tables
from benchmarks.studies import find, lines, names
from benchmarks.studies.label_trees.run import STUDY as LABEL_TREES
from benchmarks.studies.source import Source, Split
from benchmarks.studies.study import Trial
from tests.planted import planted_corpus

KEYS = ["study", "part", "corpus", "variant", "parameters", "seed"]
KEYS += ["figures", "version", "date", "machine"]
OWN_DATA = ("encoders", "text_features", "server")
"""Studies that read texts, and no features."""
OWN_TEXTS = (("neuralxc", "texts"),)
"""Parts of the others that do."""


@pytest.mark.parametrize("name", names())
def test_all_lines_have_the_same_keys_and_belong_to_a_part(name: str) -> None:
    parts = find(name).parts
    texts = (lines.FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    for line in map(json.loads, texts):
        assert list(line) == KEYS
        assert line["study"] == name
        assert line["part"] in parts
        assert isinstance(line["figures"], dict)


@pytest.mark.parametrize("name", names())
def test_trials_are_different_and_in_their_own_part(name: str) -> None:
    study = find(name)
    trials = [trial for part in study.parts.values() for trial in part.trials]
    assert len({trial.identity() for trial in trials}) == len(trials)
    for part, one in study.parts.items():
        assert {trial.part for trial in one.trials} == {part}


@pytest.mark.parametrize("name", names())
def test_pages_show_the_recorded_lines(name: str) -> None:
    # Whoever adds a line and does not render, or mends a figure by hand, is told here.
    study = find(name)
    page = study.page.read_text(encoding="utf-8")
    tables = study.tables(lines.read(name))
    assert tables
    for mark, text in tables.items():
        shown = f"<!-- {mark} -->\n\n{text}\n\n<!-- {mark}: end -->"
        assert shown in page, f"run python -m benchmarks study {name} --render"


def test_pictures_are_drawn_from_the_lines(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    assert LABEL_TREES.draw is not None
    LABEL_TREES.draw(lines.read("label_trees"), tmp_path)
    once = (tmp_path / "label-trees.svg").read_bytes()
    LABEL_TREES.draw(lines.read("label_trees"), tmp_path)
    assert (tmp_path / "label-trees.svg").read_bytes() == once


def test_a_model_is_asked_with_each_beam_and_the_trial_itself_comes_last() -> None:
    trial = LABEL_TREES.parts["systems"].trials[0]
    assert (trial.corpus, trial.variant) == ("digits", "random tree")
    found = list(LABEL_TREES.parts["systems"].measure(trial, Source(quick=True)))
    assert [one.parameters["beam"] for one, _ in found] == [1, 10]
    assert found[-1][0] == trial
    assert all(figures["P@1"] > 60 for _, figures in found)


def test_a_trial_of_glas_watches_test_rows_at_every_epoch() -> None:
    pytest.importorskip("torch")
    part = find("glas").parts["parts"]
    [(_, figures)] = part.measure(part.trials[0], Planted(quick=True))
    assert len(figures["train_curve"]) == len(figures["test_curve"]) > 0
    assert figures["test_curve"][-1] == pytest.approx(figures["test"]["P@1"], abs=2.0)


def test_the_linear_map_of_glas_is_asked_alone() -> None:
    pytest.importorskip("torch")
    from benchmarks.studies.glas.page import MAP_ALONE

    part = find("glas").parts["sources"]
    of = {trial.variant: trial for trial in part.trials if trial.seed == 0}
    found = {
        name: next(iter(part.measure(of[name], Planted(quick=True))))[1]["test"]
        for name in (MAP_ALONE, "the default")
    }
    assert found[MAP_ALONE]["P@1"] > 60.0
    assert found[MAP_ALONE] != found["the default"]


def test_peers_stand_beside_glas_by_psp_and_their_runs_have_no_psp_of_test_labels() -> None:
    from benchmarks.studies.glas import page

    figures = dict.fromkeys(("P@1", "P@5", "PSP@1", "PSP@3", "PSP@5"), 1.0)
    of_test = {f"PSP@{k} by test labels": 2.0 for k in (1, 3, 5)}
    line = lines.Measured("tail", "bibtex", "GLaS", figures={"test": figures | of_test})
    rows = page.tables([line])["tail"].splitlines()
    [own] = [row for row in rows if row.startswith("| bibtex | GLaS |")]
    assert own.endswith("| 1.00 | 1.00 | 2.00 | 2.00 | 2.00 |")
    for peer in ("PECOS XR-Linear", "omikuji (Parabel)"):
        [row] = [row for row in rows if row.startswith(f"| bibtex | {peer} |")]
        assert row.endswith("| – | – | – |")
        assert row.count("–") == 3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "part"),
    [
        (name, part)
        for name in names()
        if name not in OWN_DATA
        for part in find(name).parts
        if (name, part) not in OWN_TEXTS
    ],
)
def test_every_part_can_be_measured(name: str, part: str) -> None:
    study = find(name).parts[part]
    found = list(study.measure(study.trials[0], Planted(quick=True)))
    assert found[-1][0].identity() == study.trials[0].identity()
    json.dumps([figures for _, figures in found], default=float)


class Planted(Source):
    """Gives the same small corpus whatever is asked for."""

    def split(self, corpus: str) -> Split:
        X, Y = planted_corpus(n_examples=400)
        return Split(X[:300], Y[:300], X[300:], Y[300:])


def test_a_draw_keeps_the_order_of_the_files_and_holding_out_takes_training_rows() -> None:
    split = Planted(quick=True).split("any")
    drawn = split.drawn(50, 20)
    assert (drawn.X.shape[0], drawn.Y_test.shape[0]) == (50, 20)
    rows = split.X.toarray().tolist()
    places = [rows.index(row) for row in drawn.X.toarray().tolist()]
    assert places == sorted(places)
    held = split.held_out(most_rows=100)
    assert (held.X.shape[0], held.X_test.shape[0]) == (80, 20)
    assert all(row in rows for row in held.X_test.toarray().tolist())


def test_quick_sources_write_nowhere_else() -> None:
    quick, whole = Source(quick=True), Source()
    assert quick.cache != whole.cache
    assert quick.pictures != whole.pictures
    assert (quick.at_most(10**6), whole.at_most(10**6)) == (300, 10**6)


def test_parameters_are_the_same_after_a_way_through_json() -> None:
    trial = Trial("parts", parameters={"hidden": (8,)})
    again = Trial("parts", parameters=json.loads(json.dumps({"hidden": (8,)})))
    assert trial.identity() == again.identity()


@pytest.mark.parametrize("module", [benchmarks.studies.lines, benchmarks.studies.tables])
def test_the_examples_in_docstrings_run(module: object) -> None:
    assert doctest.testmod(module).failed == 0  # type: ignore[arg-type]
