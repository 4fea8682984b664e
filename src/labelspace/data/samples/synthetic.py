"""Corpora of any size, made up, with a label hierarchy to be found in them.

Labels are the places of a tree in which every topic has ``branching`` parts. The first place of a
topic is the label of the topic as a whole, so that some labels stand above others, and these are
the frequent ones: frequencies follow Zipf's law. The labels of a row are near each other in the
tree. Its words come from its labels and from the topics above them, each of which has some
words of its own, and from a background that also follows Zipf's law.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace import progress
from labelspace.data.corpus import Corpus, build_csr
from labelspace.errors import UsageError

Split = Literal["train", "test"]

# Spread (of the logarithm) of the number of features in a row.
_SPREAD = 0.5
_NUMBERS_PER_BLOCK = 500_000


@dataclass(frozen=True)
class SyntheticCorpus:
    """A corpus that is made as it is read, row by row.

    Parameters
    ----------
    n_examples, n_features, n_labels : int
        Shape of the training split.
    n_test : int, default=0
        Rows of the test split.
    labels_per_row, features_per_row : float
        Means.
    zipf : float, default=0.6
        How steep label frequencies fall: the label of rank r is drawn in proportion to r^-zipf.
    branching : int, default=16
        Parts of a topic.
    climb : float, default=0.4
        Chance that a further label of a row comes from one level higher up the tree: 0 keeps all
        labels of a row within a topic, 1 draws them from everywhere.
    noise : float, default=0.4
        Share of words that say nothing about the labels.
    n_topic_words : int, default=12
        Words of each label and of each topic.
    seed : int, default=0
        The same seed gives the same rows.

    Examples
    --------
    >>> corpus = SyntheticCorpus(1000, n_features=500, n_labels=200, n_test=100)
    >>> train, test = corpus.sample(), corpus.sample(split="test")
    >>> train.X.shape, test.Y.shape
    ((1000, 500), (100, 200))
    >>> int(train.Y.sum(axis=0).min()) >= 1
    True
    """

    n_examples: int
    n_features: int
    n_labels: int
    n_test: int = 0
    labels_per_row: float = 5.0
    features_per_row: float = 75.0
    zipf: float = 0.6
    branching: int = 16
    climb: float = 0.4
    noise: float = 0.4
    n_topic_words: int = 12
    seed: int = 0

    def __post_init__(self) -> None:
        for name, least in (
            ("n_examples", 1),
            ("n_features", 1),
            ("n_labels", 1),
            ("n_test", 0),
            ("labels_per_row", 1),
            ("features_per_row", 1),
            ("zipf", 0),
            ("branching", 2),
            ("climb", 0),
            ("noise", 0),
            ("n_topic_words", 1),
        ):
            if getattr(self, name) < least:
                raise UsageError(f"{name} is {getattr(self, name)}, but must be {least} or more.")
        if self.n_labels > self.n_examples * self.labels_per_row:
            raise UsageError(
                f"{self.n_examples} rows of {self.labels_per_row} labels cannot have all of "
                f"{self.n_labels} labels: give more rows, or fewer labels."
            )

    @classmethod
    def preset(cls, name: str, *, scale: float = 1.0, seed: int = 0) -> SyntheticCorpus:
        """Return a corpus shaped like a well-known one, or smaller by ``scale``.

        >>> SyntheticCorpus.preset("amazon-670k", scale=0.01).n_labels
        6701
        """
        if name not in PRESETS:
            raise UsageError(f"There is no preset '{name}': choose one of {', '.join(PRESETS)}.")
        full = PRESETS[name]
        sizes = {
            size: max(1, round(scale * getattr(full, size)))
            for size in ("n_examples", "n_features", "n_labels", "n_test")
        }
        return replace(full, seed=seed, **sizes)

    def iter_blocks(self, split: Split = "train", rows: int | None = None) -> Iterator[Corpus]:
        """Yield the rows of a split in blocks, of ``rows`` each or of a few megabytes."""
        n_rows = self._n_rows(split)
        if rows is None:
            rows = max(1, int(_NUMBERS_PER_BLOCK / (self.features_per_row + self.labels_per_row)))
        for first in range(0, n_rows, rows):
            yield self._make(split, first, min(rows, n_rows - first))

    def sample(self, n_rows: int | None = None, split: Split = "train") -> Corpus:
        """Return the first rows of a split, all of them by default.

        Rows are in no order, so that the first are as good a sample as any.
        """
        n_all = self._n_rows(split)
        return self._make(split, 0, n_all if n_rows is None else min(n_rows, n_all))

    def write(self, path: str | os.PathLike[str], split: Split = "train") -> None:
        """Write a split: XC text (also compressed) block by block, ``.npz`` in one piece."""
        from labelspace.data.formats.xc_write import write_blocks
        from labelspace.data.write import format_of_name, write_corpus

        target = Path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        n_rows = self._n_rows(split)
        form = format_of_name(target)
        with progress.task(f"Writing {target}", n_rows) as advance:
            if form not in ("xc", "svmlight"):
                write_corpus(self.sample(split=split), target)
                advance(n_rows)
                return

            def blocks() -> Iterator[tuple[Any, csr_matrix]]:
                for block in self.iter_blocks(split):
                    yield block.X, block.Y
                    advance(len(block))

            shape = (n_rows, self.n_features, self.n_labels)
            write_blocks(target, blocks(), shape if form == "xc" else None)

    def topics(self, label: int) -> list[int]:
        """Return the labels that stand above a label, nearest first.

        >>> corpus = SyntheticCorpus(10, 10, 40, branching=3)
        >>> [len(corpus.topics(label)) <= 4 for label in range(40)] == [True] * 40
        True
        """
        position = int(np.flatnonzero(self._label_at == label)[0])
        above = []
        for level in range(1, self._n_levels + 1):
            head = position // self.branching**level * self.branching**level
            if head != position:
                above.append(int(self._label_at[head]))
        return list(dict.fromkeys(above))

    def _n_rows(self, split: str) -> int:
        if split not in ("train", "test"):
            raise UsageError(f"There is no split '{split}': choose train or test.")
        return self.n_examples if split == "train" else self.n_test

    def _make(self, split: Split, first: int, n_rows: int) -> Corpus:
        from labelspace.data.samples import _synthetic_kernels as kernels

        key = self._key(split)
        shares = self._shares(split, first, n_rows)
        label_sizes, sizes = kernels.draw_sizes(
            key, first, shares, self.n_examples, self.labels_per_row, self.features_per_row,
            _SPREAD, (self.n_labels, self.n_features),
        )  # fmt: skip
        label_indptr, indptr = _ends(label_sizes), _ends(sizes)
        positions = np.empty(label_indptr[-1], dtype=np.int64)
        kernels.draw_labels(
            key, first, shares, self.n_examples, self.climb, self.branching, self._cumulative,
            label_indptr, positions,
        )  # fmt: skip
        words = np.empty(indptr[-1], dtype=np.int32)
        counts = np.empty(indptr[-1], dtype=np.int32)
        kernels.draw_features(
            key, self._key("topics"), first, self.branching, self._n_levels, self.n_topic_words,
            self.noise, self.n_features, label_indptr, positions, indptr, words, counts,
        )  # fmt: skip
        values = np.empty(indptr[-1], dtype=np.float32)
        kernels.weigh_and_sort(indptr, words, counts, self._idf, self._feature_at, values)
        Y = build_csr(
            np.ones(len(positions), dtype=np.float32),
            self._label_at[positions],
            label_indptr,
            self.n_labels,
        )
        Y.sort_indices()
        return Corpus(X=build_csr(values, words, indptr, self.n_features), Y=Y)

    def _shares(self, split: Split, first: int, n_rows: int) -> NDArray[np.int64]:
        """Return which part of all labels each row has for certain.

        Training rows share all labels out among them, so that each occurs; a test row has the
        share of some training row.
        """
        rows = np.arange(first, first + n_rows, dtype=np.int64)
        if split == "train":
            return rows * self._step % self.n_examples
        return _scattered(rows, self._key("test")) % self.n_examples

    def _key(self, use: str) -> np.uint64:
        entropy = (self.seed, ("train", "test", "topics", "order").index(use))
        return np.random.SeedSequence(entropy).generate_state(1, dtype=np.uint64)[0]

    @cached_property
    def _n_levels(self) -> int:
        """How often a label's place can be divided until all labels are one topic."""
        level, width = 0, 1
        while width < self.n_labels:
            level, width = level + 1, width * self.branching
        return level

    @cached_property
    def _step(self) -> int:
        """A step that visits every row's share of the labels once, far from the one before."""
        step = max(1, int(0.618 * self.n_examples))
        while math.gcd(step, self.n_examples) > 1:
            step += 1
        return step

    @cached_property
    def _label_at(self) -> NDArray[np.int32]:
        """The label of each place in the tree: numbers tell nothing about neighbourhood."""
        return self._order(0).permutation(self.n_labels).astype(np.int32)

    @cached_property
    def _feature_at(self) -> NDArray[np.int32]:
        """The column of the word of each rank of frequency."""
        return self._order(1).permutation(self.n_features).astype(np.int32)

    @cached_property
    def _cumulative(self) -> NDArray[np.float64]:
        """Sums of the weights of all places before each; whole topics come first in rank."""
        places = np.arange(self.n_labels)
        level = np.zeros(self.n_labels, dtype=np.int64)
        for at in range(1, self._n_levels + 1):
            level += places % self.branching**at == 0
        ranked = np.lexsort((self._order(2).random(self.n_labels), -level))
        weights = np.empty(self.n_labels)
        weights[ranked] = np.arange(1.0, self.n_labels + 1) ** -self.zipf
        return np.concatenate(([0.0], np.cumsum(weights)))

    @cached_property
    def _idf(self) -> NDArray[np.float64]:
        """Inverse document frequency of each rank, as expected from how words are drawn."""
        rank = np.arange(1.0, self.n_features + 1)
        background = np.log1p(1 / rank) / np.log1p(self.n_features)
        topical = np.diff(np.sqrt(np.arange(self.n_features + 1) / self.n_features))
        drawn = self.features_per_row * (self.noise * background + (1 - self.noise) * topical)
        return 1.0 - np.log(-np.expm1(-drawn))

    def _order(self, use: int) -> np.random.Generator:
        return np.random.default_rng((int(self._key("order")), use))


def make_corpus(
    preset: str | SyntheticCorpus,
    folder: str | os.PathLike[str],
    *,
    scale: float = 1.0,
    seed: int = 0,
    suffix: str = ".txt",
) -> tuple[Path, Path]:
    """Write ``train.txt`` and ``test.txt`` (or another suffix) of a preset into a folder.

    Memory is bounded by a block of rows, whatever the size; see ``SyntheticCorpus.write``.
    """
    if isinstance(preset, SyntheticCorpus):
        corpus = preset
    else:
        corpus = SyntheticCorpus.preset(preset, scale=scale, seed=seed)
    train, test = Path(folder) / f"train{suffix}", Path(folder) / f"test{suffix}"
    corpus.write(train, "train")
    corpus.write(test, "test")
    return train, test


def _scattered(rows: NDArray[np.int64], key: np.uint64) -> NDArray[np.int64]:
    """Return a number for each row that looks random and depends on the row and the key only."""
    mixed = (rows.astype(np.uint64) + key) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    return (mixed >> np.uint64(2)).astype(np.int64)


def _ends(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(sizes)))


# Steepness and noise are set so that the most frequent labels are about as frequent, and k-NN about
# as accurate, as in the corpora that the presets are named after.
PRESETS = {
    "amazon-670k": SyntheticCorpus(
        n_examples=490_449,
        n_test=153_025,
        n_features=135_909,
        n_labels=670_091,
        labels_per_row=5.45,
        features_per_row=75.0,
        zipf=0.55,
        noise=0.6,
        n_topic_words=22,
    ),
    "wiki10-31k": SyntheticCorpus(
        n_examples=14_146,
        n_test=6_616,
        n_features=101_938,
        n_labels=30_938,
        labels_per_row=18.64,
        features_per_row=673.0,
        zipf=1.2,
        climb=0.75,
        noise=0.75,
        n_topic_words=100,
    ),
}
