"""Models are the same bytes, whichever engine trains them and on however many workers."""

from __future__ import annotations

from pathlib import Path

import pytest

from labelspace import engine, models
from tests.planted import planted_corpus
from tests.small import small

# All that hand blocks to engines.
CUT = ["labelspace", "one-vs-all", "annexml", "hyperbolic", "parabel", "sleec", "fastxml", "lpsr"]


def bytes_of(model, folder: Path) -> dict[str, bytes]:
    model.save(folder)
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@pytest.mark.parametrize("name", CUT)
def test_threads_and_blocks_give_the_same_bytes(name, tmp_path) -> None:
    X, Y = planted_corpus()
    kind = models.find(name)
    alone = bytes_of(small(kind, n_threads=1).fit(X, Y), tmp_path / "alone")
    with engine.using("threads", n_workers=3) as used:
        blocks = bytes_of(small(kind, n_threads=1).fit(X, Y), tmp_path / "blocks")
    assert used.log
    assert blocks == alone


@pytest.mark.parametrize("name", ["dxml", "glas"])
def test_networks_are_blocks_each_and_give_the_same_bytes(name, tmp_path) -> None:
    pytest.importorskip("torch", reason="needs the extra deep")
    X, Y = planted_corpus(120)
    how = {"n_learners": 2, "n_epochs": 1, "n_threads": 1}
    alone = bytes_of(small(models.find(name), **how).fit(X, Y), tmp_path / "alone")
    with engine.using("threads", n_workers=2) as used:
        blocks = bytes_of(small(models.find(name), **how).fit(X, Y), tmp_path / "blocks")
    assert [line["stage"] for line in used.log].count("training networks") == 2
    assert blocks == alone


@pytest.mark.parametrize("exact", [True, False])
def test_processes_give_the_same_bytes(exact, tmp_path) -> None:
    X, Y = planted_corpus()
    settings = {"n_threads": 1, "settings": {"exact": exact}}
    alone = bytes_of(small(models.LabelSpace, **settings).fit(X, Y), tmp_path / "alone")
    with engine.using("processes", n_workers=2, workdir=tmp_path / "work") as used:
        blocks = bytes_of(small(models.LabelSpace, **settings).fit(X, Y), tmp_path / "blocks")
    stages = {line["stage"] for line in used.log}
    expected = {"label graph", "learning the space", "training classifiers"}
    assert stages == expected | (set() if exact else {"neighbours"})
    assert blocks == alone
    with engine.using("threads", workdir=tmp_path / "work") as again:
        assert bytes_of(small(models.LabelSpace, **settings).fit(X, Y), tmp_path / "b") == alone
    assert again.log == []
