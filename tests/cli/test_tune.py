"""``labelspace tune`` as a user meets it."""

from __future__ import annotations

import inspect
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner, Result

import labelspace
from labelspace import Tagger, Tuner
from labelspace.cli.app import app
from labelspace.cli.leaderboard import Board
from labelspace.data import Corpus, write_corpus
from labelspace.tuning.journal import JOURNAL
from tests.planted import planted_corpus

WORDS = ["spline", "matrix", "kernel", "forest", "cluster", "signal"]
QUICK = ("--methods", "knn,most-common", "--budget", "15s", "--threads", "1")


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpora")
    for name, seed in (("train", 0), ("valid", 1)):
        X, Y = planted_corpus(120, seed=seed)
        write_corpus(Corpus(X=X, Y=Y), folder / f"{name}.txt")
    rows = [f"{n};about {word} and {word}s;{word}|all" for n in range(20) for word in WORDS]
    table = "\n".join(["record;title;subjects", *rows]) + "\n"
    (folder / "table.csv").write_text("\ufeff" + table, encoding="utf-8")
    return folder


@pytest.fixture
def few_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the budget be as it is said, but end after three trials."""
    set_up = Tuner.__init__

    def limited(self: Tuner, *arguments: object, **options: object) -> None:
        set_up(self, *arguments, **options)  # type: ignore[arg-type]
        self.n_trials = 3

    limited.__signature__ = inspect.signature(set_up)  # type: ignore[attr-defined]
    monkeypatch.setattr(Tuner, "__init__", limited)


@pytest.mark.usefixtures("few_trials")
def test_a_model_a_report_and_one_json_object_are_left(corpora: Path, tmp_path: Path) -> None:
    out = tmp_path / "tuned"
    options = ("--methods", "knn,one-vs-all", "--metric", "P@3", "--threads", 1)
    result = run("tune", corpora / "train.txt", *options, "--out", out, "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert told["metric"] == "P@3"
    assert told["n_trials"] == 3
    assert told["figures"]["P@3"] >= told["default_figures"]["P@3"]
    assert labelspace.load(out / "model").n_examples_ == 120
    report = (out / "report.md").read_text(encoding="utf-8")
    assert "| 2 | one-vs-all | 96 |" in report
    assert (out / "report.svg").exists() == ("report.svg" in report)
    # Other verbs find the model in the folder.
    scored = run("evaluate", out, corpora / "valid.txt", "--json")
    assert scored.exit_code == 0, scored.output
    card = run("info", out)
    assert "rows held out" in card.output


@pytest.mark.usefixtures("few_trials")
def test_rows_to_choose_by_are_learned_from_in_the_end(corpora: Path, tmp_path: Path) -> None:
    train, valid = corpora / "train.txt", corpora / "valid.txt"
    result = run("tune", train, "--valid", valid, *QUICK, "--out", tmp_path / "tuned")
    assert result.exit_code == 0, result.output
    assert "On 120 rows held out" in result.stdout
    assert labelspace.load(tmp_path / "tuned" / "model").n_examples_ == 240


@pytest.mark.usefixtures("few_trials")
def test_a_spreadsheet_is_tuned_and_its_columns_are_kept(corpora: Path, tmp_path: Path) -> None:
    columns = ("--text", "title", "--labels", "subjects", "--id", "record")
    out = tmp_path / "tuned"
    result = run("tune", corpora / "table.csv", *columns, *QUICK, "--out", out)
    assert result.exit_code == 0, result.output
    assert "Trial 0 (" in result.stderr
    assert "labelspace, 96 rows: P@5" in result.stderr
    tagged = run("predict", out, corpora / "table.csv", "-k", 2, "--out", tmp_path / "tagged.csv")
    assert tagged.exit_code == 0, tagged.output
    assert "spline" in (tmp_path / "tagged.csv").read_text(encoding="utf-8").splitlines()[1]


@pytest.mark.usefixtures("few_trials")
def test_vectors_beside_both_corpora_are_used(tmp_path: Path) -> None:
    for name in ("train", "valid"):
        lines = [f"about {word} number {n}\t{word}" for n in range(8) for word in WORDS]
        (tmp_path / f"{name}.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
        np.save(tmp_path / f"{name}.embeddings.npy", np.tile(np.eye(len(WORDS)), (8, 1)))
    corpora = (tmp_path / "train.tsv", "--valid", tmp_path / "valid.tsv")
    result = run(
        "tune", *corpora, "--encoder", "precomputed", *QUICK, "--out", tmp_path / "tuned", "--json"
    )
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert told["default_figures"]["P@1"] == 100.0
    assert Tagger.load(tmp_path / "tuned" / "model").features_.name == "precomputed"


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (("--budget", "soon"), "no span of time: write it as 10m, 90s or 1h30m"),
        (("--methods", "knnn"), "There is no method 'knnn': did you mean 'knn'?"),
        (("--methods", ","), "names no method"),
        (("--metric", "P5"), "There is no figure 'P5': did you mean 'P@5'?"),
        (("--features", "ngrams=2"), "--features is for texts"),
        (("--valid", "nowhere.txt"), "nowhere.txt"),
    ],
)
def test_wrong_options_end_in_one_sentence(
    corpora: Path, tmp_path: Path, options: tuple[str, ...], what: str
) -> None:
    result = run("tune", corpora / "train.txt", "--out", tmp_path / "tuned", *options)
    assert result.exit_code in (1, 2)
    assert what in result.stderr
    assert "Traceback" not in result.output
    assert not (tmp_path / "tuned" / JOURNAL).exists()


def test_another_corpus_in_the_same_folder_is_refused(corpora: Path, tmp_path: Path) -> None:
    (tmp_path / JOURNAL).write_text(
        json.dumps({"format": 1, "version": labelspace.__version__, "corpus": "x"}) + "\n"
    )
    result = run("tune", corpora / "train.txt", *QUICK, "--out", tmp_path)
    assert result.exit_code == 2
    assert "was begun with another corpus" in result.stderr


@pytest.mark.usefixtures("few_trials")
def test_ctrl_c_ends_with_one_sentence_and_the_same_command_goes_on(
    corpora: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import labelspace.cli.leaderboard as board

    say = board._say

    def stop(tuner: Tuner) -> None:
        say(tuner)
        raise KeyboardInterrupt

    monkeypatch.setattr(board, "_say", stop)
    command = ("tune", corpora / "train.txt", *QUICK, "--out", tmp_path / "tuned")
    result = run(*command)
    assert result.exit_code == 130
    assert result.stderr.strip().splitlines()[-1] == (
        "Stopped by Ctrl-C after 1 trials: the same command goes on from there."
    )
    monkeypatch.setattr(board, "_say", say)
    again = run(*command)
    assert again.exit_code == 0, again.output
    assert "Trial 0 " not in again.stderr
    assert (tmp_path / "tuned" / "model").exists()


def test_a_killed_search_goes_on_where_it_stopped(corpora: Path, tmp_path: Path) -> None:
    out = tmp_path / "tuned"
    command = [sys.executable, "-m", "labelspace", "tune", str(corpora / "train.txt")]
    command += ["--methods", "knn,most-common", "--budget", "5m", "--threads", "1"]
    process = subprocess.Popen(
        [*command, "--out", str(out)], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 120
    while _n_lines(out) < 4 and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    lines = (out / JOURNAL).read_bytes().splitlines()
    before = [json.loads(line) for line in lines[1:] if line.endswith(b"}")]
    assert len(before) >= 2
    n_trials = len(before) + 1
    read = labelspace.read_corpus(corpora / "train.txt")
    tuner = Tuner("5m", methods=["knn", "most-common"], folder=out, n_trials=n_trials)
    tuner.fit(read.rows, read.Y, read.label_names)
    fresh = Tuner("5m", methods=["knn", "most-common"], n_trials=n_trials, n_threads=1)
    fresh.fit(read.rows, read.Y, read.label_names)
    assert [one.spent for one in tuner.outcomes_[: len(before)]] == [
        line["spent"] for line in before
    ]
    told = [(str(one.configuration), one.rung, one.figures) for one in tuner.outcomes_]
    assert told == [(str(one.configuration), one.rung, one.figures) for one in fresh.outcomes_]


def _n_lines(folder: Path) -> int:
    path = folder / JOURNAL
    return path.read_bytes().count(b"\n") if path.exists() else 0


def test_the_live_board_fits_into_80_columns() -> None:
    X, Y = planted_corpus(80)
    tuner = Tuner("5m", methods=["knn", "most-common"], n_trials=3, n_threads=1).fit(X, Y)
    board = Board(tuner)
    board.started("Trial 3: knn power=2.0 and a name that is longer than any terminal " * 2, None)
    console = Console(width=80, record=True, file=open(os.devnull, "w"))  # noqa: SIM115
    console.print(board)
    text = console.export_text()
    assert max(map(len, text.splitlines())) <= 80
    assert "3 trials" in text
    assert "labelspace" in text
    assert "P@5" in text
    assert "Trial 3: knn" in text
