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

import numpy as np
from scipy.sparse import csr_matrix

from labelspace import progress
from labelspace.data.corpus import Corpus
from labelspace.data.docstrings import (
    Docstring,
    installed,
    package_docstrings,
    prose,
    see_also,
    standard_library,
)
from labelspace.data.formats import write_corpus
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
    "test whether two samples have the same mean",
    "cluster points into groups of similar density",
    "low-pass filter for a noisy signal",
    "read a comma separated file line by line",
    "compile a Python function to fast machine code",
    "find the nearest neighbours of a vector",
    "choose the best hyper-parameters by cross-validation",
)

# Every document whose name falls into this share of all hashes is for testing.
TEST_SHARE = 0.2
_SHORTEST, _LONGEST = 6, 300


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
    names, texts, label_lists = _documents(_all_docstrings(packages))
    label_names = _shared(label_lists)
    column = {name: at for at, name in enumerate(label_names)}
    rows = [sorted({column[label] for label in row if label in column}) for row in label_lists]
    is_test = np.array([_hash(name) < TEST_SHARE for name in names], dtype=bool)
    if not len(rows) or is_test.all() or not is_test.any():
        raise DataError(
            "There is too little documentation to make a corpus of: name other packages to read."
        )
    indptr = np.concatenate(([0], np.cumsum([len(row) for row in rows])))
    indices = np.fromiter(chain.from_iterable(rows), dtype=np.int32, count=indptr[-1])
    ones = np.ones(len(indices), dtype=np.float32)
    whole = Corpus(
        X=None,
        Y=csr_matrix((ones, indices, indptr), shape=(len(rows), len(label_names))),
        texts=texts,
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


def _documents(
    docstrings: Iterable[Docstring],
) -> tuple[list[str], list[str], list[list[str]]]:
    """Return names, texts and labels of the documents, in the order of their texts' names.

    The same text in several places is one document with the labels that all of them share: it
    cannot be told from the text which of them is meant.
    """
    by_text: dict[str, tuple[str, set[str]]] = {}
    for docstring in docstrings:
        text = " ".join(prose(docstring.text).split()[:_LONGEST])
        if text.count(" ") < _SHORTEST - 1:
            continue
        labels = _labels(docstring)
        name, known = by_text.get(text, (docstring.name, labels))
        by_text[text] = min(name, docstring.name), known & labels
    documents = sorted((name, text, sorted(labels)) for text, (name, labels) in by_text.items())
    documents = [document for document in documents if document[2]]
    return (
        [name for name, _, _ in documents],
        [text for _, text, _ in documents],
        [labels for _, _, labels in documents],
    )


def _labels(docstring: Docstring) -> set[str]:
    parts = docstring.name.split(".")
    depth = len(parts) if docstring.is_class else len(parts) - 1
    modules = {".".join(parts[:end]) for end in range(1, depth + 1)}
    parameters = {f"{name}=" for name in docstring.parameters}
    return modules | parameters | set(see_also(docstring.text))


def _shared(label_lists: list[list[str]]) -> list[str]:
    """Return the labels of at least two documents: of others nothing can be learned and tested."""
    counts = Counter(chain.from_iterable(label_lists))
    return sorted(label for label, count in counts.items() if count > 1)


def _hash(name: str) -> float:
    """Return a number from 0 to 1 that depends on the name only."""
    return zlib.crc32(name.encode()) / 2**32
