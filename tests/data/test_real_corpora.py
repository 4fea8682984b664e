"""The real corpora read as their README describes them."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from labelspace.data import describe, read_corpus
from labelspace.errors import LabelspaceWarning

pytestmark = pytest.mark.data

# rows of train and test, features, labels, labels per row of train, rows without labels
CORPORA = {
    "bibtex": (4880, 2515, 1836, 159, 2.38, 0),
    "delicious": (12920, 3185, 500, 983, 19.05, 14),
    "eurlex57k": (45000, 6000, 80031, 4271, 5.07, 0),
    "wordnet": (76195, 19046, 41993, 13564, 8.10, 0),
    "tibkat": (81937, 13666, 126855, 35613, 2.84, 0),
}


@pytest.mark.parametrize("name", CORPORA)
def test_shapes_and_labels_per_row(corpora: Path, name: str) -> None:
    n_train, n_test, n_features, n_labels, labels_per_row, n_unlabelled = CORPORA[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LabelspaceWarning)
        train = read_corpus(corpora / name / "train.txt.xz")
        test = read_corpus(corpora / name / "test.txt.xz", n_features=n_features)
    assert train.X.shape == (n_train, n_features)
    assert test.X.shape == (n_test, n_features)
    assert train.Y.shape == (n_train, n_labels)
    assert test.Y.shape == (n_test, n_labels)
    assert len(train.label_names or ()) == n_labels
    info = describe(train)
    assert info.labels_per_row == pytest.approx(labels_per_row, abs=0.006)
    assert info.rows_without_labels + describe(test).rows_without_labels == n_unlabelled


@pytest.mark.parametrize("name", ["eurlex57k", "wordnet", "tibkat"])
def test_text_and_features_have_the_same_labels(corpora: Path, name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LabelspaceWarning)
        features = read_corpus(corpora / name / "test.txt.xz")
        text = read_corpus(corpora / name / "test.tsv.xz")
    assert text.Y.shape == features.Y.shape
    assert (text.Y != features.Y).nnz == 0
    assert text.label_names == features.label_names


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_reading_needs_little_more_than_the_arrays(corpora: Path) -> None:
    """Peak memory grows by at most 1.6 times the CSR arrays, of a file ten times their size."""
    program = f"""
import warnings
from pathlib import Path
from labelspace.data import read_corpus
warnings.simplefilter("ignore")

def peak():
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith("VmHWM")).split()[1])

read_corpus({str(corpora / "bibtex" / "test.txt.xz")!r})
before = peak()
corpus = read_corpus({str(corpora / "eurlex57k" / "train.txt.xz")!r})
after = peak()
arrays = [a for m in (corpus.X, corpus.Y) for a in (m.data, m.indices, m.indptr)]
print((after - before) / sum(a.nbytes for a in arrays))
"""
    output = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout
    assert float(output) < 1.6
