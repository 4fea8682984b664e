"""A corpus that is on every machine: the documentation of the packages around us.

The documents are the docstrings of the scientific packages that are installed and of Python's own
library. A document's labels are

- the modules (and class) that it is in: ``scipy``, ``scipy.signal``;
- the parameters that it takes: ``axis=``;
- the names under *See Also*: ``fftshift``.

What gives a label away is taken out of the text, so that it has to be inferred from what the
docstring says.
"""

from __future__ import annotations

import os
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

from labelspace import progress
from labelspace.data.corpus import Corpus
from labelspace.data.samples.docstrings import (
    Docstring,
    installed,
    package_docstrings,
    prose,
    see_also,
    standard_library,
)
from labelspace.data.write import write_corpus
from labelspace.errors import DataError

PACKAGES = (
    "numpy", "scipy", "sklearn", "numba", "faiss", "joblib", "networkx", "pandas", "matplotlib",
    "statsmodels", "skimage", "xarray", "torch",
)  # fmt: skip

# What a Python user might type.
SENTENCES = (
    "fit a smoothing spline through noisy points",
    "eigenvalues of a large sparse symmetric matrix",
    "draw random numbers from a normal distribution",
    "test whether two independent samples have equal means",
    "cluster points by density and leave outliers out",
    "low-pass filter for a noisy signal",
    "parse the fields of a CSV file",
    "compile a Python function to fast machine code",
    "find the k nearest neighbors of each point",
    "choose the best hyper-parameters by cross-validation",
)

# Every document whose name falls into this share of all hashes is for testing.
TEST_SHARE = 0.2
_SHORTEST, _LONGEST = 6, 300


class _Document(NamedTuple):
    name: str
    text: str
    labels: list[str]


def build_demo_corpus(packages: Sequence[str] | None = None) -> tuple[Corpus, Corpus]:
    """Return a corpus to train on and one to test on, made from installed documentation.

    The same packages always give the same corpora, whatever else is installed.

    Parameters
    ----------
    packages : sequence of str, optional
        Packages to read; the known scientific ones that are installed and the standard library,
        unless given.

    Examples
    --------
    >>> train, test = build_demo_corpus(["json", "email", "logging"])
    >>> len(train) > len(test) > 0
    True
    >>> train.label_names == test.label_names
    True
    """
    documents = _documents(_all_docstrings(packages))
    label_names = sorted({label for document in documents for label in document.labels})
    column = {name: at for at, name in enumerate(label_names)}
    rows = [[column[label] for label in document.labels] for document in documents]
    is_test = np.array([_hash(document.name) < TEST_SHARE for document in documents], dtype=bool)
    if is_test.all() or not is_test.any():
        raise DataError(
            "There is too little documentation to make a corpus of: name other packages to read."
        )
    indptr = np.concatenate(([0], np.cumsum([len(row) for row in rows])))
    indices = np.fromiter(chain.from_iterable(rows), dtype=np.int32, count=indptr[-1])
    ones = np.ones(len(indices), dtype=np.float32)
    whole = Corpus(
        X=None,
        Y=csr_matrix((ones, indices, indptr), shape=(len(rows), len(label_names))),
        texts=[document.text for document in documents],
        label_names=label_names,
    )
    return whole.take(np.flatnonzero(~is_test)), whole.take(np.flatnonzero(is_test))


def write_demo_corpus(
    folder: str | os.PathLike[str], packages: Sequence[str] | None = None, suffix: str = ".tsv"
) -> tuple[Path, Path]:
    """Write the demo corpus to ``train.tsv`` and ``test.tsv`` (or ``.jsonl``) in a folder."""
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    paths = target / f"train{suffix}", target / f"test{suffix}"
    for corpus, path in zip(build_demo_corpus(packages), paths, strict=True):
        write_corpus(corpus, path)
    return paths


def _all_docstrings(packages: Sequence[str] | None) -> Iterator[Docstring]:
    chosen = installed(PACKAGES) if packages is None else list(packages)
    for package in progress.track(chosen, "Reading documentation"):
        yield from package_docstrings(package)
    if packages is None:
        yield from standard_library()


def _documents(docstrings: Iterable[Docstring]) -> list[_Document]:
    """Return the documents in the order of their names.

    The same text in several places is one document with the labels that all of them share: it
    cannot be told from the text which of them is meant. Labels of one document only are left out,
    since nothing can be learned about them and then tested.
    """
    by_text: dict[str, tuple[str, set[str]]] = {}
    for docstring in docstrings:
        text = " ".join(prose(docstring.text).split()[:_LONGEST])
        if text.count(" ") < _SHORTEST - 1:
            continue
        labels = _labels(docstring)
        name, known = by_text.get(text, (docstring.name, labels))
        by_text[text] = min(name, docstring.name), known & labels
    counts = Counter(label for _, labels in by_text.values() for label in labels)
    documents = [
        _Document(name, text, sorted(label for label in labels if counts[label] > 1))
        for text, (name, labels) in by_text.items()
    ]
    return sorted(document for document in documents if document.labels)


def _labels(docstring: Docstring) -> set[str]:
    parts = docstring.name.split(".")
    depth = len(parts) if docstring.is_class else len(parts) - 1
    modules = {".".join(parts[:end]) for end in range(1, depth + 1)}
    parameters = {f"{name}=" for name in docstring.parameters}
    return modules | parameters | set(see_also(docstring.text))


def _hash(name: str) -> float:
    """Return a number from 0 to 1 that depends on the name only."""
    return zlib.crc32(name.encode()) / 2**32
