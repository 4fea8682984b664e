"""Corpora and vocabularies that were changed: read, looked at, written again and tagged.

``python -m tests.fuzz.corpus_cases FORMAT,FORMAT SEED FIRST LAST`` prints what comes of each case.
"""

from __future__ import annotations

import bz2
import gzip
import io
import itertools
import lzma
import os
import shutil
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from labelspace.data import Corpus, Fields, describe, read_corpus, write_corpus
from labelspace.data.formats.vocabulary_file import read_vocabulary
from labelspace.data.read import stream_table
from labelspace.data.tagged import TaggedRow, tagged_format
from labelspace.errors import LabelspaceError, LabelspaceWarning
from tests.fuzz.containers import changed_content
from tests.fuzz.mutations import Random, changed_bytes
from tests.fuzz.processes import addresses, run
from tests.fuzz.samples import CORPORA, VOCABULARIES, Sample

MORE_BYTES = 1 << 30
_TO_MEMORY = "does not fit into memory"
_PACK: tuple[Callable[[bytes], bytes], ...] = (
    *(gzip.compress, bz2.compress),
    lambda content: lzma.compress(content, preset=0),
)


def main(formats: str, seed: int, first: int, last: int) -> None:
    """Print what comes of the cases of some formats in turn."""
    warnings.simplefilter("error")
    warnings.simplefilter("ignore", LabelspaceWarning)
    warnings.filterwarnings("ignore", category=DeprecationWarning, module="rdflib")
    names, numbers = formats.split(","), itertools.count(first)
    samples = {name: (CORPORA | VOCABULARIES)[name]() for name in names}
    with tempfile.TemporaryDirectory() as place:
        for name in names:  # imports and compiles what cases run
            path = written(samples[name], Path(place) / "sample")
            came = attempt(path, name, {}, np.random.default_rng(0), everything=True)
            assert came == "answered", f"{name}: {came}"

        def make(random: Random) -> tuple[str, Callable[[], str]]:
            name = names[next(numbers) % len(names)]
            sample, what = changed(samples[name], name, random)
            path = written(sample, Path(place) / "case", random)
            options = chosen_options(random)
            return f"{name} {what} {options}", lambda: attempt(path, name, options, random)

        run(make, seed, first, last, addresses() + MORE_BYTES)


def changed(sample: Sample, name: str, random: Random) -> tuple[Sample, str]:
    """Return a sample with one of its files changed, perhaps compressed, and which."""
    files = dict(sample)
    main_file = next(iter(files))
    if name not in ("xc-json", "folder"):
        beside = [file for file in files if file != main_file]
        for file in beside:
            if random.random() < 0.6:
                del files[file]
    which = main_file if random.random() < 0.7 else str(random.choice(list(files)))
    if random.random() < 0.97:
        files[which] = changed_content(files[which], name, random)
    how = "plain"
    if name not in ("parquet", "feather", "xlsx", "folder") and random.random() < 0.4:
        pack = _PACK[random.integers(len(_PACK))]
        files[which] = pack(files[which])
        if random.random() < 0.3:
            files[which] += pack(files[which])
        how = "packed"
        if random.random() < 0.4:
            files[which] = changed_bytes(files[which], random)
    return files, f"{which} {how} {files[which][:60]!r}"


def written(sample: Sample, folder: Path, random: Random | None = None) -> Path:
    """Write a sample into a folder of its own; return what is to be read."""
    shutil.rmtree(folder, ignore_errors=True)
    for name, content in sample.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    first = folder / next(iter(sample))
    if first.parent == folder:
        return first
    if random is not None and random.random() < 0.5:
        _odd_entry(first.parent, random)
    return first.parent


def _odd_entry(folder: Path, random: Random) -> None:
    """Put what is no plain file where documents and their subjects are looked for."""
    name = ["1.txt", "1.tsv", "2.key", "4.txt", "labels.txt"][random.integers(5)]
    path = folder / name
    path.unlink(missing_ok=True)
    way = random.integers(5)
    if way == 0:
        path.mkdir()
    elif way == 1:
        os.mkfifo(path)
    elif way == 2:
        path.symlink_to("nowhere")
    elif way == 3:
        path.symlink_to(path.name)
    else:
        Path(os.fsdecode(os.fsencode(folder) + b"/\xff\xfe.txt")).write_bytes(b"a text")


def chosen_options(random: Random) -> dict[str, Any]:
    """Return options of reading as a user, or a model, may have them."""
    options: dict[str, Any] = {}
    if random.random() < 0.5:
        return options
    if random.random() < 0.35:
        some = ("title", "text", "tags", "labels", "subjects", "1", "2", "3", "id", "nowhere", "")

        def pick() -> str:
            return some[random.integers(len(some))]

        separators = (None, ";", ",", "|", "none", "list", " ", "", "tab", "ab")
        options["fields"] = Fields.of(
            text=f"{pick()},{pick()}" if random.random() < 0.3 else pick() or None,
            labels=pick() or None,
            label_separator=separators[random.integers(len(separators))],
            id=pick() if random.random() < 0.2 else None,
            label_columns="t*" if random.random() < 0.1 else None,
            header=bool(random.random() < 0.7),
        )
    if random.random() < 0.2:
        options["n_features"] = int(random.choice([0, 1, 5]))
    if random.random() < 0.2:
        options["n_labels"] = int(random.choice([0, 1, 3]))
    if random.random() < 0.2:
        options["label_names"] = [[], ["red"], ["red", "round", "red"], ["0", "1"]][
            random.integers(4)
        ]
    if random.random() < 0.1:
        options["feature_names"] = [["a"], ["a", "b", "c", "d", "e"]][random.integers(2)]
    if random.random() < 0.2:
        options["needs_labels"] = False
    return options


def attempt(
    path: Path, name: str, options: dict[str, Any], random: Random, everything: bool = False
) -> str:
    """Return what came of reading: anything but "refused" and "answered" is a fault."""
    try:
        if name in VOCABULARIES:
            vocabulary = read_vocabulary(path)
            for at in range(len(vocabulary)):
                assert isinstance(vocabulary.key(at), str)
                vocabulary.names_of(at)
            return "answered"
        corpus = read_corpus(path, **options)
        check(corpus)
        if everything or random.random() < 0.3:
            describe(corpus)
            write_again(corpus, path, random)
        if everything or random.random() < 0.3:
            tag(path, options.get("fields", Fields()), random)
        return "answered"
    except LabelspaceError as error:
        return problem_with(str(error)) or "refused"
    except BaseException as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        ours = [
            at for at in traceback.extract_tb(error.__traceback__) if "labelspace" in at.filename
        ]
        where = f"{Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else frame.name
        return f"raised {type(error).__name__} in {where}: {error}"


def problem_with(sentence: str) -> str | None:
    """Return what is wrong with a sentence of ours; None if nothing is."""
    if _TO_MEMORY in sentence:
        return f"memory: {sentence}"
    if "\n" in sentence or not 20 < len(sentence) < 2000:
        return f"no sentence: {sentence!r}"
    return None


def check(corpus: Corpus) -> None:
    """Raise if a corpus is not what it has to be."""
    for matrix in (corpus.X, corpus.Y):
        if matrix is None:
            continue
        assert matrix.shape[0] == len(corpus), "rows"
        assert matrix.indptr[0] == 0, "indptr begins late"
        assert matrix.indptr[-1] == matrix.nnz, "indptr ends early"
        assert np.all(np.diff(matrix.indptr) >= 0), "indptr falls"
        assert not matrix.nnz or matrix.indices.min() >= 0, "a column is negative"
        assert not matrix.nnz or matrix.indices.max() < matrix.shape[1], "a column is too large"
        assert np.isfinite(matrix.data).all(), "a value is not finite"
    assert corpus.X is not None or corpus.texts is not None, "neither features nor texts"
    for names in (corpus.label_names, corpus.feature_names, corpus.texts, corpus.ids):
        for name in names or ():
            assert isinstance(name, str), "a name is no text"
    for row in range(len(corpus)):
        for label in corpus.labels_of(row):
            label.encode()


def write_again(corpus: Corpus, path: Path, random: Random) -> None:
    """Write the corpus in another format, and read that: it has the same labels."""
    suffix = [".txt", ".svm", ".tsv", ".annif", ".jsonl", ".npz", ".jsonl.gz"][random.integers(7)]
    place = path.parent / "written"
    place.mkdir(exist_ok=True)
    try:
        write_corpus(corpus, place / f"b{suffix}")
    except LabelspaceError:
        return  # a format without texts, or without features
    found = read_corpus(place / f"b{suffix}", n_labels=corpus.n_labels)
    assert found.Y.nnz == corpus.Y.nnz, f"{suffix} has {found.Y.nnz} labels, not {corpus.Y.nnz}"


def tag(path: Path, fields: Fields, random: Random) -> None:
    """Write a table with tags."""
    table = stream_table(path, fields, None)
    if table is None:
        return
    target = Path(["a.csv", "a.tsv", "a.jsonl", "a.parquet"][random.integers(4)])
    form = tagged_format(target, table, ["red", "a;b"])
    rows = (TaggedRow(cells, ["red"], ["1"], [0.5]) for _, cells in table.rows())
    form.write_part(io.BytesIO(), rows)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:5]))
