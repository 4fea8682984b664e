"""Find the real corpora, split them, and lay them out for workers.

They are other people's data and never part of the project: they are looked for in the folder that
``LABELSPACE_DATA`` names, or in ``../shared/data`` beside the checkout. A corpus is a folder with
``train.txt`` and ``test.txt``, compressed or not.

Splits: ``given`` is the files as they are; ``random-0`` … ``random-9`` pool both files and split
them again into the same sizes, as the papers do for bibtex and delicious.
"""

from __future__ import annotations

import json
import os
import shutil
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, load_npz, save_npz, vstack

from labelspace.data import Corpus, read_corpus, write_corpus
from labelspace.errors import LabelspaceWarning

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / "benchmarks" / ".cache"
BY_SIZE = ("bibtex", "delicious", "wordnet", "eurlex57k", "tibkat")
RANDOM_SPLITS = tuple(f"random-{seed}" for seed in range(10))


@dataclass(frozen=True)
class Prepared:
    """A corpus on disk as workers want it."""

    folder: Path
    n_train: int
    n_test: int
    n_features: int
    n_labels: int


def data_home() -> Path:
    """Return the folder of the corpora."""
    given = os.environ.get("LABELSPACE_DATA")
    return Path(given) if given else ROOT.parent / "shared" / "data"


def available() -> list[str]:
    """Return the names of the corpora that are there, small ones first."""
    home = data_home()
    if not home.is_dir():
        return []
    names = [
        folder.name
        for folder in home.iterdir()
        if folder.is_dir() and _file(folder, "train") and _file(folder, "test")
    ]
    return sorted(names, key=lambda name: (BY_SIZE.index(name) if name in BY_SIZE else 99, name))


def splits_of(choice: str) -> tuple[str, ...]:
    """Return the splits that ``--splits`` means: given, ten, or names separated by commas."""
    if choice == "ten":
        return RANDOM_SPLITS
    return tuple(choice.split(","))


def prepare(name: str, split: str = "given", *, text: bool = False) -> Prepared:
    """Return the corpus in the form of ``benchmarks.jobs``, made now if it is not there yet."""
    source = data_home() / name
    train_file, test_file = _file(source, "train"), _file(source, "test")
    if train_file is None or test_file is None:
        raise SystemExit(
            f"There is no corpus {name!r} in {data_home()}: set LABELSPACE_DATA to the folder that "
            f"holds {name}/train.txt and {name}/test.txt."
        )
    folder = CACHE / f"{name}-{split}"
    stamp = [train_file.stat().st_size, test_file.stat().st_size]
    about = _about(folder)
    if about.get("stamp") != stamp:
        about = {"stamp": stamp}
        about |= _lay_out(folder, _read(train_file), _read(test_file), split)
        (folder / "about.json").write_text(json.dumps(about))
    if text and not (folder / "train.txt").exists():
        _write_text(folder)
    sizes = {key: about[key] for key in ("n_train", "n_test", "n_features", "n_labels")}
    return Prepared(folder, **sizes)


def split_again(
    train: Corpus, test: Corpus, seed: int
) -> tuple[list[csr_matrix], list[csr_matrix]]:
    """Pool both parts and return [X, Y] of a new train and a new test part of the same sizes."""
    rows = np.random.default_rng(seed).permutation(train.Y.shape[0] + test.Y.shape[0])
    pooled = [
        csr_matrix(vstack([_features(train), _features(test)], format="csr")),
        csr_matrix(vstack([train.Y, test.Y], format="csr")),
    ]
    cut = train.Y.shape[0]
    return (
        [matrix[np.sort(rows[:cut])] for matrix in pooled],
        [matrix[np.sort(rows[cut:])] for matrix in pooled],
    )


def _lay_out(folder: Path, train: Corpus, test: Corpus, split: str) -> dict[str, int]:
    if split == "given":
        parts = {"train": [_features(train), train.Y], "test": [_features(test), test.Y]}
    else:
        seed = int(split.removeprefix("random-"))
        parts = dict(zip(("train", "test"), split_again(train, test, seed), strict=True))
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for part, (X, Y) in parts.items():
        save_npz(folder / f"{part}_X.npz", X.astype(np.float32), compressed=False)
        save_npz(folder / f"{part}_Y.npz", Y.astype(np.float32), compressed=False)
    X, Y = parts["train"]
    return {
        "n_train": X.shape[0],
        "n_test": parts["test"][0].shape[0],
        "n_features": X.shape[1],
        "n_labels": Y.shape[1],
    }


def _write_text(folder: Path) -> None:
    """Write the training rows as plain text for systems that read nothing else."""
    X, Y = (csr_matrix(load_npz(folder / f"train_{name}.npz")) for name in "XY")
    beside = folder / "train.part.txt"
    write_corpus(Corpus(X=X, Y=Y), beside, format="xc")
    os.replace(beside, folder / "train.txt")


def _read(path: Path) -> Corpus:
    with warnings.catch_warnings():
        # That some rows have no labels or no features is known of these corpora.
        warnings.simplefilter("ignore", LabelspaceWarning)
        return read_corpus(path)


def _features(corpus: Corpus) -> csr_matrix:
    if corpus.X is None:
        raise SystemExit("A benchmark corpus needs features: give it as XC text, not as raw text.")
    return corpus.X


def _about(folder: Path) -> dict[str, Any]:
    path = folder / "about.json"
    return json.loads(path.read_text()) if path.exists() else {}


def _file(folder: Path, part: str) -> Path | None:
    for suffix in (".txt", ".txt.xz", ".txt.gz", ".txt.bz2"):
        if (folder / f"{part}{suffix}").exists():
            return folder / f"{part}{suffix}"
    return None
