"""The commands that are killed: what is there before, what they make of it, and how to tell.

Each works in a folder of its own, on a corpus of a few rows.
"""

from __future__ import annotations

import hashlib
import json
import random
from pathlib import Path
from typing import Any, ClassVar

import labelspace
from labelspace.errors import ModelFileError
from labelspace.store.manifest import read_manifest, verify_files
from tests.kill.zygote import Zygote

COLOURS = ("red", "green", "blue")
SHAPES = ("ball", "cube", "cone", "ring")
# What a model says of its making, and how long it took.
OF_ITS_MAKING = ("sha256", "provenance_", "seconds", "cpu_seconds", "checkpoint")


class Verb:
    """A command in a folder.

    Attributes
    ----------
    variant : str
        What tells it from other forms of the same verb.
    is_done_twice : bool
        Whether a second run, on top of one that came to its end, gives something else.
    small : dict
        What makes the work small: see ``zygote``.
    """

    variant = ""
    is_done_twice = False
    small: ClassVar[dict[str, int]] = {}

    def prepare(self, folder: Path, zygote: Zygote) -> None:
        """Fill the folder with what is there before."""
        raise NotImplementedError

    def argv(self, folder: Path) -> list[str]:
        """Return the command."""
        raise NotImplementedError

    def state(self, folder: Path) -> str:
        """Return what tells one outcome from others; raise if it is not whole."""
        raise NotImplementedError


class Train(Verb):
    """A model that is trained where another one is."""

    def __init__(self, method: str = "knn", *settings: str) -> None:
        self.variant = method
        self._options = ["--method", method, "--threads", "1"]
        for setting in settings:
            self._options += ["--set", setting]

    def prepare(self, folder: Path, zygote: Zygote) -> None:
        write_rows(folder / "old.tsv", 20, seed=1)
        write_rows(folder / "train.tsv", 40)
        zygote.run_here(self._argv(folder, "old.tsv"))

    def argv(self, folder: Path) -> list[str]:
        return self._argv(folder, "train.tsv")

    def _argv(self, folder: Path, name: str) -> list[str]:
        return ["train", str(folder / name), "--out", str(folder / "model"), *self._options]

    def state(self, folder: Path) -> str:
        return model_state(folder / "model")


class Checkpoints(Train):
    """A training that keeps what it has learned after each epoch, with no model there before."""

    def __init__(self, method: str) -> None:
        super().__init__(method, "n_epochs=3", "dim=8", "batch_size=2")

    def prepare(self, folder: Path, zygote: Zygote) -> None:
        write_rows(folder / "train.tsv", 40)

    def argv(self, folder: Path) -> list[str]:
        return [*super().argv(folder), "--set", f"checkpoint={folder / 'state'}"]

    def state(self, folder: Path) -> str:
        return super().state(folder) if (folder / "model").exists() else "no model"


class Update(Verb):
    """A model that learns more rows."""

    is_done_twice = True

    def prepare(self, folder: Path, zygote: Zygote) -> None:
        write_rows(folder / "more.tsv", 10, seed=2)
        write_rows(folder / "train.tsv", 40)
        train = ["train", str(folder / "train.tsv"), "--out", str(folder / "model")]
        zygote.run_here([*train, "--method", "knn", "--threads", "1"])

    def argv(self, folder: Path) -> list[str]:
        return ["update", str(folder / "model"), str(folder / "more.tsv"), "--threads", "1"]

    def state(self, folder: Path) -> str:
        return model_state(folder / "model")


class Convert(Verb):
    """A corpus that is written in another format, where another one is."""

    def __init__(self, name: str) -> None:
        self.variant = name

    def prepare(self, folder: Path, zygote: Zygote) -> None:
        (folder / "out").mkdir()
        (folder / "in").mkdir()
        write_rows(folder / "in" / "texts.tsv", 40)
        rows = "".join(f"{row % 4} {row % 5}:1 {5 + row % 3}:0.5\n" for row in range(40))
        (folder / "in" / "features.txt").write_text("".join(f"word {n}\n" for n in range(8)))
        (folder / "in" / "labels.txt").write_text("".join(f"{name}\n" for name in SHAPES))
        (folder / "in" / "rows.txt").write_text("40 8 4\n" + rows)
        if not self.variant.endswith(".txt"):
            write_rows(folder / "in" / "old.tsv", 10, seed=1)
            old = str(folder / "in" / "old.tsv")
            place = folder / "out" / self.variant
            if self.variant.endswith(".npz"):
                place.write_bytes(b"what was there before")
            else:
                zygote.run_here(["convert", old, str(place)])

    def argv(self, folder: Path) -> list[str]:
        source = "rows.txt" if self.variant.endswith((".txt", ".npz")) else "texts.tsv"
        return ["convert", str(folder / "in" / source), str(folder / "out" / self.variant)]

    def state(self, folder: Path) -> str:
        target = folder / "out" / self.variant
        if not target.exists():
            return "no corpus"
        if target.read_bytes() == b"what was there before":
            return "something else"
        corpus = labelspace.read_corpus(target)
        return f"{len(corpus)} {corpus.label_names} {digest(target.read_bytes())}"


class Predict(Verb):
    """A table that is tagged part by part, where an older file is."""

    small: ClassVar[dict[str, int]] = {"rows_of_a_part": 7}

    def __init__(self, suffix: str) -> None:
        self.variant = suffix

    def prepare(self, folder: Path, zygote: Zygote) -> None:
        write_rows(folder / "train.tsv", 40)
        write_rows(folder / "new.tsv", 50, seed=3)
        (folder / f"tagged{self.variant}").write_text("what was there before")
        train = ["train", str(folder / "train.tsv"), "--out", str(folder / "model")]
        zygote.run_here([*train, "--method", "knn", "--threads", "1"])

    def argv(self, folder: Path) -> list[str]:
        out = ["--out", str(folder / f"tagged{self.variant}")]
        return ["predict", str(folder / "model"), str(folder / "new.tsv"), "--threads", "1", *out]

    def state(self, folder: Path) -> str:
        return digest((folder / f"tagged{self.variant}").read_bytes())


class Tune(Verb):
    """A search for what suits a corpus, with no folder there before."""

    small: ClassVar[dict[str, int]] = {"n_trials": 3}

    def prepare(self, folder: Path, zygote: Zygote) -> None:
        write_rows(folder / "train.tsv", 40)

    def argv(self, folder: Path) -> list[str]:
        how = ["--methods", "knn", "--budget", "10h", "--threads", "1"]
        return ["tune", str(folder / "train.tsv"), "--out", str(folder / "tuned"), *how]

    def state(self, folder: Path) -> str:
        model = folder / "tuned" / "model"
        return model_state(model) if model.exists() else "no model"


VERBS: dict[str, list[Verb]] = {
    "train": [Train()],
    "update": [Update()],
    "convert": [
        Convert("out.jsonl"),
        Convert("out.tsv.gz"),
        Convert("out.txt"),
        Convert("out.npz"),
    ],
    "predict --out": [Predict(".csv"), Predict(".jsonl"), Predict(".parquet")],
    "tune": [Tune()],
    "train with checkpoints": [Checkpoints("glas"), Checkpoints("neuralxc")],
}


def write_rows(path: Path, n_rows: int, seed: int = 0) -> None:
    """Write a corpus of colours and shapes."""
    rng = random.Random(seed)
    lines = []
    for number in range(n_rows):
        colour, shape = rng.choice(COLOURS), rng.choice(SHAPES)
        lines.append(f"a {colour} {shape} number {number}\t{colour},{shape}\n")
    path.write_text("".join(lines))


def model_state(folder: Path) -> str:
    """Return what a model is, but for when and how long it was made; it has to be whole."""
    manifest = read_manifest(folder)
    verify_files(folder, manifest)
    if not hasattr(labelspace.load(folder), "save"):
        raise ModelFileError(f"{folder} holds no model")
    return digest(json.dumps(_without(manifest)).encode())


def digest(content: bytes) -> str:
    """Return a short name of what a file holds."""
    return hashlib.sha256(content).hexdigest()[:16]


def _without(value: Any) -> Any:
    """Return a part of a manifest without what differs from run to run."""
    if isinstance(value, dict):
        return {
            name: _without(part) if name != "$dict" else _without_pairs(part)
            for name, part in value.items()
            if name not in OF_ITS_MAKING or "bytes" in value
        }
    return [_without(part) for part in value] if isinstance(value, list) else value


def _without_pairs(pairs: list[Any]) -> list[Any]:
    return [[name, _without(part)] for name, part in pairs if name not in OF_ITS_MAKING]
