"""The command line as a user meets it: real processes' worth of commands, on small corpora."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner, Result

import labelspace
from labelspace import models, progress, store
from labelspace.cli import output
from labelspace.cli.app import app
from labelspace.data import Corpus, write_corpus
from labelspace.labels import LabelEncoder
from labelspace.store.manifest import write_manifest
from tests.planted import planted_corpus

WORDS = ["spline", "matrix", "kernel", "forest", "cluster", "signal"]


def run(*arguments: object, text: str | None = None) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=text)


def run_json(*arguments: object, text: str | None = None) -> dict[str, Any]:
    result = run(*arguments, "--json", text=text)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)  # fails if anything else is on stdout


@pytest.fixture(scope="module")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpora")
    for name, seed in (("train", 0), ("test", 1)):
        X, Y = planted_corpus(200, seed=seed)
        write_corpus(Corpus(X=X, Y=Y), folder / f"{name}.txt")
    lines = [f"about {word} and {word}s number {n}\t{word}" for n in range(8) for word in WORDS]
    (folder / "texts.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def model(corpora: Path) -> Path:
    run_json("train", corpora / "train.txt", "--method", "one-vs-all", "--out", corpora / "model")
    return corpora / "model"


@pytest.fixture(scope="module")
def text_model(corpora: Path) -> Path:
    run_json("train", corpora / "texts.tsv", "--method", "knn", "--out", corpora / "text-model")
    return corpora / "text-model"


def test_train_reports_cost(corpora: Path, tmp_path: Path) -> None:
    cost = run_json("train", corpora / "train.txt", "--method", "knn", "--out", tmp_path / "m")
    assert cost["method"] == "knn"
    assert cost["n_examples"] == 200
    assert {"train_seconds", "cpu_seconds", "peak_rss_mib", "model_mib"} <= cost.keys()
    assert cost["model_mib"] > 0
    assert cost["peak_rss_mib"] > 10


def test_train_uses_the_default_method_seed_threads_and_settings(
    corpora: Path, tmp_path: Path
) -> None:
    train = corpora / "train.txt"
    cost = run_json("train", train, "--out", tmp_path / "m", "--seed", 7, "--threads", 1)
    assert cost["method"] == labelspace.models.DEFAULT_METHOD
    loaded = labelspace.load(tmp_path / "m")
    assert loaded.random_state == 7
    assert loaded.n_threads == 1
    arguments = ("--method", "one-vs-all", "--set", "C=0.5", "--out", tmp_path / "n")
    run_json("train", train, *arguments)
    assert labelspace.load(tmp_path / "n").C == 0.5


def test_train_evaluates_on_a_validation_corpus(corpora: Path, tmp_path: Path) -> None:
    arguments = ("--method", "knn", "--valid", corpora / "test.txt", "--out", tmp_path / "m")
    assert run_json("train", corpora / "train.txt", *arguments)["valid"]["P@1"] > 80


def test_evaluate_gives_every_figure_of_the_contract(model: Path, corpora: Path) -> None:
    figures = run_json("evaluate", model, corpora / "test.txt")
    names = [f"{name}@{k}" for name in ("P", "nDCG", "PSP", "PSnDCG") for k in (1, 3, 5)]
    assert set(figures) == {*names, "n", "predict_seconds"}
    assert figures["P@1"] > 95
    assert figures["n"] == 200


def test_evaluate_shows_a_table_and_bands(model: Path, corpora: Path) -> None:
    shown = run("evaluate", model, corpora / "test.txt", "--by-frequency").stdout
    assert "nDCG" in shown
    assert "recall@5" in shown


def test_predict_ranks_labels_of_a_corpus(model: Path, corpora: Path) -> None:
    answer = run_json("predict", model, corpora / "test.txt", "-k", 2)
    _, Y = planted_corpus(200, seed=1)
    assert answer["n"] == 200
    right = [Y[row, labels[0]["label"]] for row, labels in enumerate(answer["predictions"])]
    assert np.mean(right) > 0.95
    assert all(len(labels) == 2 for labels in answer["predictions"])
    lines = run("predict", model, corpora / "test.txt", "-k", 2).stdout.splitlines()
    assert len(lines) == 200
    assert lines[0].split("\t")[0] == str(answer["predictions"][0][0]["label"])


def test_predict_takes_a_threshold_by_its_goal(corpora: Path, tmp_path: Path) -> None:
    folder, test = tmp_path / "probable", corpora / "test.txt"
    run_json("train", corpora / "train.txt", "--method", "labelspace", "--out", folder)
    answer = run_json("predict", folder, test, "--threshold", "f1")
    least = labelspace.load(folder).limits(threshold="f1")[1]
    assert answer["threshold"] == pytest.approx(least)
    Y = labelspace.data.read_corpus(test).Y
    right = [
        Y[row, one["label"]] for row, row_of in enumerate(answer["predictions"]) for one in row_of
    ]
    assert np.mean(right) > 0.9
    assert len(right) > 0.9 * Y.nnz
    sure = run_json("predict", folder, test, "--threshold", "precision=0.5", "-k", 1)
    assert all(len(labels) <= 1 for labels in sure["predictions"])
    assert run_json("evaluate", folder, test)["ECE"] < 25.0
    assert run_json("info", folder)["calibration_rows"] == 60
    assert "calibration error" in run("evaluate", folder, test).stdout


def test_predict_takes_text_from_standard_input(text_model: Path) -> None:
    lines = run("predict", text_model, "-", "-k", 1, text="a spline\nthe forest\n").stdout
    assert [line.split("\t")[0] for line in lines.splitlines()] == ["spline", "forest"]
    answer = run_json("predict", text_model, "-", "-k", 1, text="a cluster")
    assert answer["predictions"][0][0]["name"] == "cluster"


@pytest.fixture(scope="module")
def named(corpora: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model of features whose labels and features have names, and its corpus."""
    folder = tmp_path_factory.mktemp("named")
    X, Y = planted_corpus(200)
    write_corpus(Corpus(X=X, Y=Y), folder / "train.txt")
    lines = {"labels": Y.shape[1], "features": X.shape[1]}
    for kind, n in lines.items():
        names = "".join(f"{at}\t{kind[:-1]} {at}\n" for at in range(n))
        (folder / f"{kind}.txt").write_text(names, encoding="utf-8")
    run_json("train", folder / "train.txt", "--method", "knn", "--out", folder / "model")
    return folder


def test_names_beside_a_corpus_are_the_classes_of_its_model(named: Path) -> None:
    loaded = labelspace.load(named / "model")
    assert loaded.classes_.tolist() == [f"label {at}" for at in range(12)]
    assert loaded.feature_names_[7] == "feature 7"
    answer = run_json("predict", named / "model", named / "train.txt", "-k", 1)
    best = answer["predictions"][0][0]
    assert best["name"] == f"label {best['label']}"
    assert run_json("info", named / "model")["n_named_labels"] == 12


def test_predict_lists_the_names_once_for_all_rows(
    named: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = []
    names_of = labelspace.Tagger.label_names_.fget
    monkeypatch.setattr(
        labelspace.Tagger, "label_names_", property(lambda self: listed.append(1) or names_of(self))
    )
    assert run_json("predict", named / "model", named / "train.txt")["n"] == 200
    assert len(listed) == 1, "for reading the corpus"


def test_update_takes_new_names_for_a_model_of_features(named: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(named / "model", tmp_path / "m")
    more = tmp_path / "more.jsonl"
    row = {"features": {"feature 3": 5.0}, "labels": ["fresh", "label 2"]}
    more.write_text(json.dumps(row) + "\n", encoding="utf-8")
    assert run_json("update", copy, more)["n_new_labels"] == 1
    assert labelspace.load(copy).classes_[-1] == "fresh"


def test_predict_takes_the_models_own_k(corpora: Path, tmp_path: Path) -> None:
    settings = ("--method", "knn", "--set", "k=2", "--out", tmp_path / "m")
    run_json("train", corpora / "train.txt", *settings)
    answer = run_json("predict", tmp_path / "m", corpora / "test.txt")
    assert answer["k"] == 2
    assert all(len(labels) == 2 for labels in answer["predictions"])


def test_evaluate_maps_names_of_a_text_corpus(text_model: Path, tmp_path: Path) -> None:
    test = tmp_path / "test.tsv"
    test.write_text("signal signals\tsignal\nkernel kernels\tkernel,never seen\n", encoding="utf-8")
    figures = run_json("evaluate", text_model, test)
    assert figures["P@1"] == 100.0


@pytest.mark.parametrize("method", ["labelspace", "annexml"])
def test_update_goes_on_from_a_row_without_words(method: str, tmp_path: Path) -> None:
    train, more = tmp_path / "train.tsv", tmp_path / "more.tsv"
    lines = [f"about {word} and {word}s {n}\t{word}" for n in range(4) for word in WORDS]
    train.write_text("\n".join([*lines, "?\tc"]) + "\n", encoding="utf-8")
    more.write_text("about matrix and spline\tc\nabout kernel and matrix\tc\n", encoding="utf-8")
    run_json("train", train, "--method", method, "--out", tmp_path / "model")
    assert run_json("update", tmp_path / "model", more)["n_added"] == 2


def test_update_learns_new_rows_and_labels(text_model: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(text_model, tmp_path / "m")
    more = tmp_path / "more.tsv"
    more.write_text("about kernel and kernels of wheat\tcereal\n" * 9, encoding="utf-8")
    updated = run_json("update", copy, more)
    assert updated["n_new_labels"] == 1
    assert updated["n_added"] == 9
    answer = run_json("predict", copy, "-", "-k", 1, text="kernel and kernels of")
    assert answer["predictions"][0][0]["name"] == "cereal"


def test_compare_shows_a_leaderboard(corpora: Path, tmp_path: Path) -> None:
    train, test = corpora / "train.txt", corpora / "test.txt"
    result = run_json("compare", train, test, "--methods", "most-common,knn", "--out", tmp_path)
    assert [row["method"] for row in result["methods"]] == ["knn", "most-common"]
    assert (tmp_path / "leaderboard.json").exists()
    assert (tmp_path / "leaderboard.png").stat().st_size > 1000
    assert labelspace.load(tmp_path / "knn").n_labels_ == 12
    assert "most-common" in run("compare", train, test, "--methods", "most-common").stdout


def test_methods_are_listed() -> None:
    listed = run_json("methods")
    assert listed["default"] in listed["methods"]
    assert "one-vs-all" in run("methods").stdout


def test_info_describes_corpora_and_models(model: Path, corpora: Path) -> None:
    assert run_json("info", corpora / "train.txt")["n_examples"] == 200
    assert run_json("info", corpora / "train.txt")["format"] == "xc"
    assert run_json("info", model)["class"] == "one-vs-all"
    assert "200" in run("info", corpora / "train.txt").stdout
    assert "one-vs-all" in run("info", model).stdout


def test_info_is_a_model_card(corpora: Path, tmp_path: Path) -> None:
    texts, chosen = corpora / "texts.tsv", ("--features", "char_ngrams=3-4")
    run_json("train", texts, "--method", "knn", "--out", tmp_path / "m", "--valid", texts, *chosen)
    card = run_json("info", tmp_path / "m")
    assert card["method"] == "knn"
    assert card["corpus"] == card["held_out_corpus"] == "texts.tsv"
    assert card["trained"].endswith("UTC")
    assert (card["n_examples"], card["n_labels"]) == (48, 6)
    assert card["text_features"]["char_ngrams"] == "3-4"
    assert {"": "P", "@1": 100.0}.items() <= card["figures_on_it"][0].items()
    assert "files" not in card
    assert run_json("info", tmp_path / "m", "--files")["files"][0]["sha256"]
    shown = run("info", tmp_path / "m").stdout
    assert "texts.tsv" in shown
    assert "sha256" not in shown


def test_the_card_of_a_model_tells_of_its_vocabulary(tmp_path: Path) -> None:
    words = tmp_path / "vocabulary.tsv"
    words.write_text("key\tname\n1\tbooks\n2\troses\n3\tart\n", encoding="utf-8")
    tagger = labelspace.Tagger("knn").fit(
        ["old books", "a rose"], ["books", "roses"], vocabulary=words
    )
    tagger.save(tmp_path / "m")
    assert run_json("info", tmp_path / "m")["vocabulary"] == {"n_labels": 3, "n_used": 2}


def _without_state(manifest: dict[str, Any]) -> None:
    manifest["model"]["state"] = {"estimator_": 5}


def _array_elsewhere(manifest: dict[str, Any]) -> None:
    labels = manifest["model"]["state"]["estimator_"]["state"]["_labels"]["state"]
    labels["vocabulary"] = {"state": {"column_of": {"$array": "../elsewhere.npy"}}}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (_without_state, "does not say what a manifest says"),
        (_array_elsewhere, "names the file ../elsewhere.npy, which is not in it"),
    ],
)
def test_the_card_of_a_strangers_model_is_a_sentence(
    tmp_path: Path, change: Callable[[dict[str, Any]], None], told: str
) -> None:
    labelspace.Tagger("knn").fit(["old books", "a rose"], ["books", "roses"]).save(tmp_path / "m")
    np.save(tmp_path / "elsewhere.npy", np.zeros(3))
    manifest = json.loads((tmp_path / "m" / "manifest.json").read_text())
    del manifest["sha256"]
    change(manifest)
    write_manifest(manifest, tmp_path / "m")
    for options in ([], ["--json"]):
        result = run("info", tmp_path / "m", *options)
        assert result.exit_code == 1
        assert told in result.stderr


def test_the_card_of_a_model_with_a_broken_array_is_a_sentence(tmp_path: Path) -> None:
    words = tmp_path / "vocabulary.tsv"
    words.write_text("key\tname\n1\tbooks\n2\troses\n")
    tagger = labelspace.Tagger("knn").fit(["books", "a rose"], ["1", "2"], vocabulary=words)
    tagger.save(tmp_path / "m")
    array = tmp_path / "m" / "estimator_._labels.vocabulary.column_of.npy"
    array.write_bytes(array.read_bytes().replace(b"}", b"{"))  # what numpy cannot parse
    result = run("info", tmp_path / "m")
    assert result.exit_code == 1
    assert "does not say what a manifest says" in result.stderr


def test_names_are_shown_and_never_obeyed(tmp_path: Path) -> None:
    corpus = tmp_path / "a.tsv"
    corpus.write_text("[/b] roses \x1b]0;title\x07\t[red]\n[bold]a ball\t[red]\n")
    shown = run("info", corpus).stdout
    assert "[/b] roses \\x1b]0;title\\x07" in shown
    assert "[bold]a ball" in shown


def test_a_model_is_kept_though_the_other_corpus_is_spoiled(corpora: Path, tmp_path: Path) -> None:
    wrong = ("--out", tmp_path / "m", "--valid", corpora / "train.txt")
    result = run("train", corpora / "texts.tsv", "--method", "knn", *wrong)
    assert result.exit_code == 1
    assert "holds features" in result.stderr
    assert labelspace.load(tmp_path / "m").tag("spline", k=1)[0][0] == "spline"


def test_convert_keeps_the_corpus(corpora: Path, tmp_path: Path) -> None:
    run_json("convert", corpora / "train.txt", tmp_path / "train.npz")
    one = labelspace.read_corpus(corpora / "train.txt")
    other = labelspace.read_corpus(tmp_path / "train.npz")
    assert (one.X != other.X).nnz == 0
    assert (one.Y != other.Y).nnz == 0


def test_version() -> None:
    assert run("--version").stdout.strip() == f"labelspace {labelspace.__version__}"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["train", "{train}", "--method", "one-vs-al", "--out", "{new}"], 2, "'one-vs-all'"),
        (["train", "{train}", "--set", "Cc=1", "--method", "one-vs-all", "--out", "{new}"], 2, "C"),
        (["train", "{train}", "--set", "C", "--out", "{new}"], 2, "name=value"),
        (["train", "{train}", "--method", "one-vs-all", "--set", "C=-1", "--out", "{new}"], 2, "C"),
        (["train", "{train}", "--out", "{corpora}"], 1, "not a model"),
        (["train", "{train}", "--out", "{train}/model"], 1, "is a file"),
        (["train", "{train}", "--valid", "{missing}", "--out", "{new}"], 1, "missing.txt"),
        (["train", "{featureless}", "--out", "{new}"], 1, "no features"),
        (["train", "{missing}", "--out", "{new}"], 1, "missing.txt"),
        (["train", "{empty}", "--out", "{new}"], 1, "empty.txt"),
        (["train", "{broken}", "--out", "{new}"], 1, "line 3"),
        (["evaluate", "{missing}", "{train}"], 1, "does not exist"),
        (["evaluate", "{folder}", "{train}"], 1, "manifest.json"),
        (["evaluate", "{part}", "{train}"], 1, "ranks no labels"),
        (["evaluate", "{model}", "{texts}"], 1, "text"),
        (["evaluate", "{model}", "{narrow}"], 1, "feature"),
        (["predict", "{model}", "-"], 2, "features"),
        (["predict", "{model}", "{train}", "-k", "0"], 2, "equal to 1"),
        (["predict", "{model}", "{train}", "--threshold", "f1"], 2, "OneVsAll has not"),
        (["predict", "{model}", "{train}", "--threshold", "best"], 2, "precision=0.9"),
        (["update", "{model}", "{train}"], 2, "cannot learn on"),
        (["compare", "{train}", "{train}", "--methods", ","], 2, "no method"),
        (["compare", "{train}", "{train}", "--methods", "knnn"], 2, "'knn'"),
        (["compare", "{train}", "{missing}", "--methods", "knn"], 1, "missing.txt"),
        (["compare", "{train}", "{train}", "--methods", "knn", "--out", "{train}"], 1, "is a file"),
        (["map", "{model}", "--out", "{new}/map.html"], 1, "make the folder"),
        (["map", "{model}", "--out", "{new}/map.png"], 1, "No such file"),
        (["serve", "{part}"], 1, "ranks no labels"),
        (["info", "{missing}"], 1, "missing.txt"),
        (["convert", "{train}", "{corpora}/out.weird"], 1, "out.weird"),
        (["nonsense"], 2, "nonsense"),
    ],
)
def test_errors_are_one_sentence_with_an_exit_code(
    arguments: list[str], code: int, message: str, corpora: Path, model: Path, tmp_path: Path
) -> None:
    store.save(LabelEncoder(), tmp_path / "part")
    (tmp_path / "empty.txt").write_text("")
    (tmp_path / "broken.txt").write_text("2 3 2\n0 0:1\n1 zero:1\n")
    (tmp_path / "featureless.txt").write_text("2 0 2\n0\n1\n")
    (tmp_path / "narrow.txt").write_text("1 9999 12\n0 9998:1\n")
    places = {
        "train": corpora / "train.txt",
        "texts": corpora / "texts.tsv",
        "corpora": corpora,
        "model": model,
        "new": tmp_path / "new",
        "part": tmp_path / "part",
        "folder": tmp_path,
        "missing": tmp_path / "missing.txt",
        "empty": tmp_path / "empty.txt",
        "broken": tmp_path / "broken.txt",
        "narrow": tmp_path / "narrow.txt",
        "featureless": tmp_path / "featureless.txt",
    }
    result = run(*(argument.format(**places) for argument in arguments))
    assert result.exit_code == code, result.output
    assert message in result.stderr
    assert result.stdout == ""
    assert "Traceback" not in result.output
    assert not (tmp_path / "new").exists(), "something half-written is left"


@pytest.mark.parametrize(
    "error", [MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory: ...")]
)
def test_a_lack_of_memory_is_told_in_a_sentence(
    error: Exception, corpora: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*arguments: object) -> None:
        raise error

    monkeypatch.setattr("labelspace.models.baselines.most_common.MostCommon._fit", fails)
    result = run(
        "train", corpora / "train.txt", "--method", "most-common", "--out", tmp_path / "new"
    )
    assert result.exit_code == 1
    assert "not enough memory" in result.stderr
    assert not (tmp_path / "new").exists()


def test_tables_are_readable_at_80_columns(
    corpora: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "_width", lambda: 80)
    train, test = corpora / "train.txt", corpora / "test.txt"
    compared = run("compare", train, test, "--methods", "balanced-label-tree,knn").stdout
    assert compared.count("balanced-label-tree ") == 2  # figures, and what they cost
    for name in ("P@1", "nDCG@5", "PSP@5", "train s", "predict s"):
        assert name in compared
    trained = run("train", train, "--method", "knn", "--out", tmp_path / "m", "--valid", test)
    assert "nDCG" in trained.stdout
    assert "…" not in compared + trained.stdout
    listed = run("methods", "labelspace").stdout
    assert "n_neighbors" in listed
    assert max(map(len, listed.splitlines())) <= 80


def test_compare_reads_the_test_corpus_once(corpora: Path) -> None:
    result = run(
        "compare", corpora / "train.txt", corpora / "test.txt", "--methods", "most-common,random"
    )
    assert result.stderr.count("Reading") == 2


def test_methods_lists_the_parameters_of_one() -> None:
    told = run_json("methods", "labelspace")
    by_name = {one["name"]: one for one in told["parameters"] + told["settings"]}
    assert by_name["k"]["default"] == 5
    assert by_name["vote_gamma"]["default"] == 20.0
    assert all(one["about"] for one in by_name.values())
    assert run("methods", "labelspac").exit_code == 2


@pytest.mark.parametrize("method", models.METHODS)
def test_every_parameter_is_described(method: str) -> None:
    told = run_json("methods", method)
    missing = [one["name"] for one in told["parameters"] + told["settings"] if not one["about"]]
    assert not missing


def test_ctrl_c_ends_with_a_sentence(corpora: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*args: Any, **more: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("labelspace.data.read_corpus", stop)
    result = run("info", corpora / "train.txt")
    assert result.exit_code == 130
    assert result.stderr.strip().splitlines()[-1].startswith("Stopped by Ctrl-C")
    assert "Traceback" not in result.output


def test_text_features_are_chosen_and_remembered(corpora: Path, tmp_path: Path) -> None:
    chosen = ("--features", "ngrams=2,char-ngrams=3-4,min_df=1")
    run_json("train", corpora / "texts.tsv", "--method", "knn", "--out", tmp_path / "m", *chosen)
    features = labelspace.load(tmp_path / "m").features_
    assert features.get_params() | {"ngrams": 2, "char_ngrams": (3, 4)} == features.get_params()
    assert run_json("predict", tmp_path / "m", "-", text="splnie\n")["n"] == 1


@pytest.mark.parametrize(
    ("corpus", "features", "message"),
    [
        ("texts.tsv", "ngram=2", "did you mean 'ngrams'"),
        ("texts.tsv", "ngrams", "takes name=value"),
        ("texts.tsv", "ngrams=-1", "ngrams"),
        ("texts.tsv", "char_ngrams=5-3", "shortest and the longest"),
        ("texts.tsv", "no.such:module", "was not found"),
        ("train.txt", "ngrams=2", "is for texts"),
    ],
)
def test_mistakes_in_text_features(
    corpora: Path, tmp_path: Path, corpus: str, features: str, message: str
) -> None:
    result = run("train", corpora / corpus, "--out", tmp_path / "m", "--features", features)
    assert result.exit_code == 2
    assert message in result.stderr


def test_predict_explains(text_model: Path, model: Path, corpora: Path) -> None:
    text = "about spline and splines"
    given = run_json("predict", text_model, "-", "-k", 1, "--explain", text=text)
    label = given["predictions"][0][0]
    assert label["name"] == "spline"
    assert label["reasons"][0]["name"].startswith("about spline and splines number")
    shown = run("predict", text_model, "-", "-k", 1, "--explain", text=text).stdout.splitlines()
    assert shown[0].startswith("spline\t")
    assert "example  about spline" in shown[1]
    of_features = run_json("predict", model, corpora / "test.txt", "-k", 1, "--explain")
    assert of_features["n"] == 200
    assert of_features["predictions"][0][0]["reasons"][0]["kind"] == "feature"
    assert run("predict", model, "-", "--explain", "--out", "a.csv").exit_code == 2


def test_finished_bars_are_drawn_once() -> None:
    bars = output.Bars()
    drawn = io.StringIO()
    bars._bars.live.console = Console(file=drawn, force_terminal=True, width=80)
    with progress.listening(bars):
        for stage in ("first", "second", "third"):
            with progress.task(stage), progress.task("inner"):
                pass
            assert not bars._bars.tasks
    last = drawn.getvalue().rpartition("second")[2]
    assert "first" not in last
    assert "third" in last
