"""What a command line means, and how corpora are split."""

from __future__ import annotations

import doctest
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import benchmarks.measure
import benchmarks.plan
import benchmarks.render.page
import benchmarks.render.tables
import benchmarks.subjects.subject
from benchmarks import corpora
from benchmarks.corpora import prepare, split_again, splits_of
from benchmarks.peers import PEERS, version_of
from benchmarks.plan import choose, parse_setting, plan, sitting
from labelspace.data import Corpus


def test_peers_run_once_whatever_the_seeds_and_parameters_of_ours() -> None:
    runs = plan(["knn"], ["omikuji-bonsai"], ["bibtex"], seeds=(0, 1, 2), parameters={"k": 3})
    assert [run.seed for run in runs if run.method == "knn"] == [0, 1, 2]
    assert [run.parameters for run in runs if run.method == "omikuji-bonsai"] == [{}]


def test_the_default_sitting_holds_ten_splits_of_the_small_corpora_only() -> None:
    random = [run for run in sitting(["bibtex", "tibkat"]) if run.split != "given"]
    assert {run.corpus for run in random} == {"bibtex"}
    assert {run.split for run in random} == {f"random-{seed}" for seed in range(10)}


def test_every_peer_has_a_locked_version() -> None:
    for peer in PEERS.values():
        assert version_of(peer.package).startswith(f"{peer.package} ")


def test_wrong_names_and_settings_are_told() -> None:
    with pytest.raises(SystemExit, match="no peer 'omikuj'"):
        choose("omikuj", PEERS, "peer")
    with pytest.raises(SystemExit, match="name=value"):
        parse_setting("dim")
    assert parse_setting("threshold=None") == ("threshold", None)


def test_random_splits_keep_sizes_and_rows_and_differ_by_seed() -> None:
    X = csr_matrix(np.arange(1, 21, dtype=np.float32).reshape(10, 2))
    train, test = Corpus(X=X[:7], Y=X[:7]), Corpus(X=X[7:], Y=X[7:])
    (first, _), (rest, _) = split_again(train, test, seed=0)
    assert (first.shape[0], rest.shape[0]) == (7, 3)
    rows = np.concatenate([first.toarray(), rest.toarray()])
    assert sorted(rows[:, 0]) == sorted(X.toarray()[:, 0])
    again = split_again(train, test, seed=0)[0][0]
    other = split_again(train, test, seed=1)[0][0]
    assert np.array_equal(first.toarray(), again.toarray())
    assert not np.array_equal(first.toarray(), other.toarray())


def test_splits_are_named() -> None:
    assert splits_of("given") == ("given",)
    assert len(splits_of("ten")) == 10
    assert splits_of("random-3,given") == ("random-3", "given")


def test_a_corpus_is_laid_out_once_and_again_when_its_files_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "data" / "tiny"
    home.mkdir(parents=True)
    (home / "train.txt").write_text("2 3 2\n0 0:1 2:0.5\n0,1 1:1\n")
    (home / "test.txt").write_text("1 3 2\n1 0:1\n")
    monkeypatch.setenv("LABELSPACE_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(corpora, "CACHE", tmp_path / "cache")
    assert corpora.available() == ["tiny"]
    prepared = prepare("tiny", text=True)
    assert (prepared.n_train, prepared.n_test, prepared.n_features, prepared.n_labels) == (
        2,
        1,
        3,
        2,
    )
    assert (prepared.folder / "train.txt").read_text().splitlines()[0] == "2 3 2"
    stamp = (prepared.folder / "about.json").stat().st_mtime_ns
    prepare("tiny")
    assert (prepared.folder / "about.json").stat().st_mtime_ns == stamp
    (home / "test.txt").write_text("2 3 2\n1 0:1\n0 1:1\n")
    assert prepare("tiny").n_test == 2
    assert prepare("tiny", "random-0", text=True).n_train == 2


def test_a_missing_corpus_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LABELSPACE_DATA", str(tmp_path))
    assert corpora.available() == []
    with pytest.raises(SystemExit, match="LABELSPACE_DATA"):
        prepare("nothing")


@pytest.mark.parametrize(
    "module",
    [
        benchmarks.measure,
        benchmarks.plan,
        benchmarks.render.page,
        benchmarks.render.tables,
        benchmarks.subjects.subject,
    ],
)
def test_the_examples_in_docstrings_run(module: object) -> None:
    assert doctest.testmod(module).failed == 0  # type: ignore[arg-type]
