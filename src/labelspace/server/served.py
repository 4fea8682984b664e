"""The tagger that is being served, with the version of the folder that it came from."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from labelspace import store, threads
from labelspace.base import LabelRanker
from labelspace.errors import AmbiguousLabel, UnknownLabel, UsageError
from labelspace.label_catalog import LabelCatalog
from labelspace.label_choice import LabelChoice
from labelspace.label_rules import is_searched
from labelspace.registry import method_name
from labelspace.server.refusal import Refusal
from labelspace.server.row_reader import RowReader
from labelspace.server.schemas import Row, TagRequest
from labelspace.store import folders
from labelspace.tagger import Tagger
from labelspace.topk import TopK

# Made-up rows that a model ranks when it is loaded.
PROBES = 32
# Rules of a request for which all labels are gone through.
MAX_RULES = 16

Identity = tuple[int, int, int]


@dataclass
class Ranked:
    """The answer to some rows, with the model that gave it: the next batch may have another."""

    served: Served
    top: TopK
    n_unknown: list[int]
    missing_shards: list[int] = field(default_factory=list)


class Served:
    """A tagger with what requests need to know of it.

    Parameters
    ----------
    tagger : Tagger
    version : str
        Changes when the model folder does.
    identity : tuple
        Tells whether the folder is still the one that was loaded.

    Attributes
    ----------
    lineage : object
        The same in copies, which differ by what was learned only.
    """

    def __init__(
        self, tagger: Tagger, version: str = "0", identity: Identity | None = None
    ) -> None:
        self.tagger = tagger
        self.version = version
        self.identity = identity
        self.lineage = object()
        self._reader = RowReader(tagger)
        self._last_choice: Any = None, None  # with rules: what was asked, and what came of it

    @staticmethod
    def load(folder: Path, n_threads: int = 1, encoder: str | None = None) -> Served:
        """Load a model folder and let it rank once, so that the first request does not wait."""
        store.read_manifest(folder)  # says in a sentence what is wrong with a folder
        identity, version = identity_of(folder), version_of(folder)
        served = Served(Tagger.load(folder, encoder=encoder), version, identity)
        served.estimator.n_threads = None  # the batcher sets them once, for its whole thread
        if served.estimator.random_state is None:
            served.estimator.random_state = 0  # so that all workers learn a row alike, and again
        with threads.limit(n_threads):
            served.warm_up()
        return served

    def copy(self) -> Served:
        """Return one that can learn while this one answers; they share what stays as it is."""
        made = Served(store.snapshot(self.tagger), self.version, self.identity)
        made.lineage = self.lineage
        return made

    def warm_up(self) -> None:
        """Rank made-up rows, many and one: compiles what has to be."""
        rng = np.random.default_rng(0)
        columns = rng.integers(self.estimator.n_features_in_, size=(PROBES, 4))
        rows = [Row(features=[(int(column), 0.5) for column in row]) for row in columns]
        self.rank(rows, 5)
        self.rank(rows[:1], 5)
        if self.tagger.takes_text:
            self.tagger.features_of([""])  # loads what it needs, such as an encoder

    @property
    def estimator(self) -> LabelRanker:
        """The method inside the tagger."""
        return self.tagger.estimator_

    @property
    def n_labels(self) -> int:
        """Number of labels known now; learning may add some."""
        return self.estimator.n_labels_

    @property
    def method(self) -> str:
        """Name of the method, as on the command line where it has one."""
        return method_name(type(self.estimator))

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameters of the method that are plain values."""
        plain = (str, int, float, bool, type(None))
        given = self.estimator.get_params(deep=False)
        return {name: value for name, value in given.items() if isinstance(value, plain)}

    @property
    def takes_partial_labels(self) -> bool:
        """Whether it learns rows of which only some labels are known."""
        return self.estimator.takes_partial_labels

    @property
    def scores(self) -> str:
        """What scores are: ``"probability"``, or ``"score"`` for anything else."""
        return "probability" if self.estimator.gives_probabilities else "score"

    def probability(self, score: float) -> float:
        """Return a score on a scale of 0 to 1."""
        if getattr(self.estimator, "method_", self.method) == "one-vs-all":
            # What the squared hinge loss aims at: a margin of 2p - 1 for probability p.
            score = (1.0 + score) / 2.0
        return min(1.0, max(0.0, score))

    @property
    def catalog(self) -> LabelCatalog:
        """The labels by key and name, and what is broader."""
        return self.tagger.catalog

    def name(self, label: int) -> str:
        """Return the name of a label, or its number as text."""
        return self.catalog.name(label)

    def about(self, label: int, language: str | None = None) -> dict[str, Any]:
        """Return number and name of a label, and its key where it has one."""
        key, name = self.catalog.key(label), self.catalog.name(label, language)
        return {"label": label, "name": name} | ({} if key is None else {"key": key})

    def found(self, label: int | str) -> int | None:
        """Return the number of a label, given by key, name or number, if it is there."""
        try:
            return self.catalog.find(label)
        except AmbiguousLabel as error:
            raise Refusal(422, str(error)) from None

    def choice(self, asked: TagRequest) -> LabelChoice:
        """Return which labels a request wants.

        A label that is not there is a 404, a name that several have a 422 that tells them, and
        what this model cannot do a 409.
        """
        k = asked.k if "k" in asked.model_fields_set else None
        shown = (asked.language, asked.broader, asked.allow, asked.exclude, asked.thresholds)
        rules = rules_of(asked)
        if len(rules) > MAX_RULES:
            raise Refusal(
                422,
                f"There are more than {MAX_RULES} rules such as pattern: or below: in 'allow' and "
                "'exclude': give fewer, or the labels themselves.",
            )
        told = (k, asked.threshold, *shown)
        known, choice = self._last_choice
        if rules and known == told:  # as the lines of a batch often have
            return choice
        try:
            choice = self.tagger.choice(*told)
            if rules:
                self._last_choice = told, choice
            return choice
        except UnknownLabel as error:
            raise Refusal(404, f"{str(error)[:-1]}; GET /v1/labels?q= finds some.") from None
        except AmbiguousLabel as error:
            raise Refusal(422, str(error)) from None
        except UsageError as error:
            raise Refusal(409, str(error)) from None

    def example(self, row: int) -> tuple[str | None, list[int]]:
        """Return the beginning of a training text and its labels, as far as they are kept."""
        texts, Y = self.tagger.excerpts_, getattr(self.estimator, "Y_", None)
        labels = [] if Y is None else Y.indices[Y.indptr[row] : Y.indptr[row + 1]].tolist()
        return (None if texts is None or row >= len(texts) else texts[row]), labels

    def rank(self, rows: Sequence[Row], k: int) -> Ranked:
        """Return the ``k`` best labels of each row."""
        X, n_unknown = self.features(rows)
        top = self.rank_features(X, k)
        return Ranked(self, top, n_unknown, getattr(self.estimator, "missing_shards_", []))

    def rank_features(self, X: csr_matrix, k: int) -> TopK:
        """Return the ``k`` best labels of rows of features, without a word of progress."""
        return TopK.stack(list(self.tagger.ranked(X, k)))

    def features(self, rows: Sequence[Row]) -> tuple[csr_matrix, list[int]]:
        """Return the rows as the estimator takes them, and how many features each lost."""
        return self._reader.read(rows)


def rules_of(asked: TagRequest) -> set[str]:
    """Return the rules of a request for which all labels have to be gone through."""
    given = (*(asked.allow or ()), *asked.exclude)
    return {str(rule) for rule in given if is_searched(rule)}


def identity_of(folder: Path) -> Identity:
    """Return what changes when a folder's model is replaced."""
    found = os.stat(folder / folders.MANIFEST)
    return found.st_ino, found.st_mtime_ns, found.st_size


def version_of(folder: Path) -> str:
    """Return a short name for the model in a folder, the same for the same model."""
    return hashlib.sha256((folder / folders.MANIFEST).read_bytes()).hexdigest()[:12]
