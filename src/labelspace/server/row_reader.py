"""The rows of requests as an estimator takes them: texts, features by number or by word, or both.

A model of texts takes features as well, by the words that it knows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, vstack

from labelspace.data.corpus import build_csr
from labelspace.server.refusal import Refusal
from labelspace.server.schemas import Row
from labelspace.tagger import Tagger


class RowReader:
    """Turns rows into features.

    Parameters
    ----------
    tagger : Tagger
    """

    def __init__(self, tagger: Tagger) -> None:
        self._tagger = tagger
        self._columns: dict[str, int] | None = None

    def read(self, rows: Sequence[Row]) -> tuple[csr_matrix, list[int]]:
        """Return the rows as the estimator takes them, and how many features each lost."""
        n_unknown = [0] * len(rows)
        texts = [at for at, row in enumerate(rows) if row.text is not None]
        if len(texts) == len(rows):
            return self._from_texts([row.text for row in rows]), n_unknown
        others = [at for at, row in enumerate(rows) if row.text is None]
        made, lost = self._from_features([rows[at].features for at in others])
        for at, n in zip(others, lost, strict=True):
            n_unknown[at] = n
        if not texts:
            return made, n_unknown
        stacked = csr_matrix(vstack([self._from_texts([rows[at].text for at in texts]), made]))
        order: Any = np.argsort(np.concatenate((texts, others)), kind="stable")
        return stacked[order], n_unknown

    def _from_texts(self, texts: list[str]) -> csr_matrix:
        if not self._tagger.takes_text:
            raise Refusal(422, "This model was trained on features: give 'features', not 'text'.")
        return self._tagger.features_of(texts)

    def _from_features(self, rows: list[Any]) -> tuple[csr_matrix, list[int]]:
        n_features = self._tagger.estimator_.n_features_in_
        columns: list[int] = []
        values: list[float] = []
        ends, lost = [0], []
        for row in rows:
            n_unknown = 0
            for key, value in row.items() if isinstance(row, dict) else row:
                column = self._column(key)
                if column is None or column >= n_features:
                    n_unknown += 1
                else:
                    columns.append(column)
                    values.append(value)
            ends.append(len(columns))
            lost.append(n_unknown)
        X = build_csr(
            np.array(values, dtype=np.float32),
            np.array(columns, dtype=np.int32),
            np.array(ends, dtype=np.int64),
            n_features,
        )
        X.sum_duplicates()
        return X, lost

    def _column(self, key: int | str) -> int | None:
        if isinstance(key, int):
            return key
        if self._columns is None:
            self._columns = self._named_columns()
        column = self._columns.get(key)
        is_number = key.isascii() and key.isdigit() and len(key) < 11
        return int(key) if column is None and is_number else column

    def _named_columns(self) -> dict[str, int]:
        if self._tagger.features_ is not None:
            return getattr(self._tagger.features_, "vocabulary_", {})
        names = self._tagger.estimator_.feature_names_
        return {str(name): column for column, name in enumerate(names or ())}
