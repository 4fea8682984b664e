"""Prediction with linear classifiers by NumPy alone; this file goes into what is exported.

There is a classifier for each label, or one for each node of label trees. It must import nothing of
labelspace: beside it stand ``tokens.py``, which cuts texts into words, and ``model.npz``.
"""

from __future__ import annotations

import io
import json
import pkgutil
import sys
from typing import Any

import numpy as np

try:
    from tokens import tokenize  # type: ignore[import-not-found]  # as in the exported file
except ImportError:
    from labelspace.data.text.tokens import tokenize


class Predictor:
    """Ranks labels for texts, or for features by name or number."""

    def __init__(self, content: bytes) -> None:
        arrays = np.load(io.BytesIO(content), allow_pickle=False)
        about = json.loads(arrays["about"].tobytes())
        self.labels: list[str] = about["labels"]
        self.norm: bool = about["norm"]
        words = about["words"]
        self.takes_text: bool = words is not None
        self.columns = {word: column for column, word in enumerate(words or ())}
        self.idf = arrays["idf"]
        self.feature_weights = arrays["feature_weights"]
        self.n_features: int = about["n_features"]
        ranker = Trees if about["trees"] else FlatModel
        self.ranker: Any = ranker(arrays, about["trees"], len(self.labels))

    def tag(self, row: Any, k: int = 5) -> list[tuple[str, float]]:
        """Return the ``k`` best labels of a text, or of a dict of features, with their scores."""
        columns, values = self._of_text(row) if isinstance(row, str) else self._of_features(row)
        if self.feature_weights.size:
            values = values * self.feature_weights[columns]
        if self.norm and (length := np.sqrt(np.square(values, dtype=np.float64).sum())) > 0:
            values = values * np.float32(1.0 / length)
        found, scores = self.ranker.scores(columns, values, k)
        best = np.lexsort((found, -scores))[:k]
        return [(self.labels[found[at]], float(scores[at])) for at in best]

    def _of_text(self, text: str) -> tuple[np.ndarray, np.ndarray]:
        if not self.takes_text:
            raise ValueError("This model takes features: give a dict such as {3: 0.5}.")
        counts: dict[int, int] = {}
        for word in tokenize(text):
            column = self.columns.get(word)
            if column is not None:
                counts[column] = counts.get(column, 0) + 1
        columns = np.array(sorted(counts), dtype=np.int64)
        values = np.array([counts[one] for one in columns.tolist()], dtype=np.float32)
        values = (np.log(values) + 1) * self.idf[columns]  # as tf-idf with sublinear counts
        length = np.sqrt(np.square(values).sum())
        return columns, values / length if length > 0 else values

    def _of_features(self, row: dict[Any, float]) -> tuple[np.ndarray, np.ndarray]:
        known = {self.columns.get(key, key): value for key, value in row.items()}
        last = self.n_features
        columns = sorted(one for one in known if isinstance(one, int) and 0 <= one < last)
        return np.array(columns, dtype=np.int64), np.array(
            [known[one] for one in columns], dtype=np.float32
        )


class FlatModel:
    """A linear classifier for each label; weights lie by feature."""

    def __init__(self, arrays: Any, _: None, n_labels: int) -> None:
        self.labels = np.arange(n_labels)
        self.indptr, self.indices = arrays["indptr"], arrays["indices"]
        self.data, self.offsets = arrays["data"], arrays["offsets"]

    def scores(self, columns: Any, values: Any, _: int) -> tuple[Any, Any]:
        """Return all labels and their scores."""
        scores = self.offsets.astype(np.float32).copy()
        for column, value in zip(columns.tolist(), values, strict=True):
            part = slice(self.indptr[column], self.indptr[column + 1])
            scores[self.indices[part]] += value * self.data[part]
        return self.labels, scores


class Trees:
    """Label trees with a linear classifier at each node, walked from the root with a beam."""

    def __init__(self, arrays: Any, told: dict[str, Any], n_labels: int) -> None:
        self.arrays = {name: arrays[name] for name in arrays.files}
        self.n_labels = n_labels
        self.links: list[tuple[str, float]] = told["links"]
        self.beam: int = told["beam"]
        self.least_found: int = told["least_found"]

    def scores(self, columns: Any, values: Any, k: int) -> tuple[Any, Any]:
        """Return the labels that are found, with the mean of their probabilities in all trees."""
        n_found = min(max(k, self.least_found), self.n_labels)
        total: dict[int, float] = {}
        for tree in range(len(self.links)):
            found = sorted(self._walk(tree, columns, values).items(), key=lambda one: -one[1])
            for label, score in found[:n_found]:
                total[label] = total.get(label, 0.0) + max(float(np.exp(score)), 1.2e-38)
        scores = np.array(list(total.values())) / len(self.links)
        return np.array(list(total), dtype=np.int64), scores

    def _walk(self, tree: int, columns: Any, values: Any) -> dict[int, float]:
        """Return the log probability of every label that a tree's beam comes to."""
        first_child = self.arrays[f"first_child_{tree}"]
        leaf_labels = self.arrays[f"leaf_labels_{tree}"]
        found: dict[int, float] = {}
        front = [(0.0, 0)]
        while front:
            nodes = []
            for before, parent in front:
                first = int(first_child[parent])
                steps = self._steps(tree, parent, columns, values)
                for child, step in enumerate(steps.tolist(), first):
                    label = int(leaf_labels[child])
                    if label < 0:
                        nodes.append((before + step, child))
                    else:
                        found[label] = max(found.get(label, -np.inf), before + step)
            front = sorted(nodes, key=lambda one: -one[0])[: self.beam]
        return found

    def _steps(self, tree: int, parent: int, columns: Any, values: Any) -> Any:
        """Return the log probabilities of a node's children."""
        first, last = self.arrays[f"first_child_{tree}"][parent : parent + 2]
        scores = self.arrays[f"biases_{tree}"][first:last].astype(np.float64)
        low, high = self.arrays[f"chunk_ptr_{tree}"][parent : parent + 2]
        features = self.arrays[f"features_{tree}"][low:high]
        places = np.searchsorted(features, columns)
        entry_ptr, nodes = self.arrays[f"entry_ptr_{tree}"], self.arrays[f"nodes_{tree}"]
        for column, value, place in zip(columns, values, places, strict=True):
            if place < len(features) and features[place] == column:
                part = slice(*entry_ptr[low + place : low + place + 2])
                scores[nodes[part] - first] += value * self.arrays[f"values_{tree}"][part]
        link, sharpness = self.links[tree]
        scores *= sharpness
        if link == "logistic":
            return -np.logaddexp(0.0, -scores)
        if link == "squared_hinge":
            return -np.square(np.maximum(1.0 - scores, 0.0))
        return scores - np.logaddexp.reduce(scores)


def load() -> Predictor:
    """Return the predictor of the model that stands beside this file."""
    content = pkgutil.get_data(__name__, "model.npz")
    assert content is not None
    return Predictor(content)


def main() -> None:
    """Tag the lines of stdin: label, tab, score, and so on."""
    k = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    predictor = load()
    for line in sys.stdin:
        row = line.rstrip("\n") if predictor.takes_text else _numbered(json.loads(line))
        print("\t".join(f"{name}\t{score:.4f}" for name, score in predictor.tag(row, k)))  # noqa: T201


def _numbered(row: dict[str, float]) -> dict[Any, float]:
    return {int(key) if key.isdigit() else key: value for key, value in row.items()}
