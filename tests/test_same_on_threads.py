"""The same seed gives the same model on any number of threads, whatever the method."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest
from scipy.sparse import csr_matrix

from labelspace import models
from labelspace.data.samples.synthetic import SyntheticCorpus
from tests.small import small

# Networks take their time: fewer rows and one pass over them do.
NETWORKS = {"glas", "dxml", "neuralxc", "xml-cnn", "hierarchicalxc"}
FEW = 200


@functools.cache
def corpus() -> tuple[csr_matrix, csr_matrix]:
    """Return rows and labels that are enough for BLAS to share its work among threads."""
    made = SyntheticCorpus(700, 400, 150, labels_per_row=3, features_per_row=20).sample()
    return made.X, made.Y


def files_of(name: str, n_threads: int, folder: Path) -> dict[str, bytes]:
    X, Y = corpus()
    more = {"n_threads": n_threads}
    if name in NETWORKS:
        X, Y = X[:FEW], Y[:FEW]
        if "n_epochs" in models.find(name)().get_params():
            more["n_epochs"] = 1
    model = small(models.find(name), **more).fit(X, Y)
    model.save(folder)
    # The manifest has the parameters, and among them the number of threads.
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.suffix != ".json"}


@pytest.mark.parametrize("name", list(models.METHODS))
def test_the_same_model_on_one_thread_and_on_two(name, tmp_path) -> None:
    if name in NETWORKS:
        pytest.importorskip("torch", reason="needs the extra deep")
    one, two = (files_of(name, n, tmp_path / str(n)) for n in (1, 2))
    assert one.keys() == two.keys()
    assert [file for file in one if one[file] != two[file]] == []
