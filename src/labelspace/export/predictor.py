"""Prediction with linear classifiers by NumPy alone; this file goes into what is exported.

It must import nothing of labelspace: beside it stand ``tokens.py``, which cuts texts into words,
and ``model.npz``.
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
        self.indptr, self.indices = arrays["indptr"], arrays["indices"]
        self.data, self.offsets = arrays["data"], arrays["offsets"]

    def tag(self, row: Any, k: int = 5) -> list[tuple[str, float]]:
        """Return the ``k`` best labels of a text, or of a dict of features, with their scores."""
        columns, values = self._of_text(row) if isinstance(row, str) else self._of_features(row)
        if self.feature_weights.size:
            values = values * self.feature_weights[columns]
        if self.norm and (length := np.sqrt(np.square(values, dtype=np.float64).sum())) > 0:
            values = values * np.float32(1.0 / length)
        scores = self.offsets.astype(np.float32).copy()
        for column, value in zip(columns.tolist(), values, strict=True):
            part = slice(self.indptr[column], self.indptr[column + 1])
            scores[self.indices[part]] += value * self.data[part]
        best = np.lexsort((np.arange(len(scores)), -scores))[:k]
        return [(self.labels[label], float(scores[label])) for label in best]

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
        last = len(self.indptr) - 1
        columns = sorted(one for one in known if isinstance(one, int) and 0 <= one < last)
        return np.array(columns, dtype=np.int64), np.array(
            [known[one] for one in columns], dtype=np.float32
        )


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
