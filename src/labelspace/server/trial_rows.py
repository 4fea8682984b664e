"""Rows whose labels are known, on which a lesson is measured before it goes live.

They are those of ``--held-out FILE``. Without it they are some of the texts that the model learned
from, as far as it keeps them: it is too good on these, but what a lesson changes is seen.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelspace.data.read import read_corpus
from labelspace.errors import DataError
from labelspace.server.served import Served
from labelspace.topk import TopK

N_ROWS = 300
N_RANKED = 5


class TrialRows:
    """Some rows with their labels.

    Parameters
    ----------
    path : path of a corpus, optional
    served : Served
        The model whose labels they have.
    """

    def __init__(self, path: Path | None, served: Served) -> None:
        self.kind = "training" if path is None else "held out"
        self._rows: Any = []
        self._labels: list[set[int]] = []
        self._known: tuple[Served, TopK] | None = None
        if path is not None:
            self._read(path, served)
        elif served.tagger.excerpts_ is not None and served.tagger.takes_text:
            for row in _spread(len(served.tagger.excerpts_)):
                text, labels = served.example(int(row))
                if text and labels:
                    self._rows.append(text)
                    self._labels.append(set(labels))

    def changes(self, before: Served, after: Served) -> dict[str, Any] | None:
        """Return what differs between two states of a model; None where there are no rows."""
        if not self._labels:
            return None
        if self._known is None or self._known[0] is not before:
            self._known = before, self._ranked(before)
        old, new = self._known[1], self._ranked(after)
        return {
            "rows": self.kind,
            "n": len(self._labels),
            "n_other_first": int((old.labels[:, 0] != new.labels[:, 0]).sum()),
            "before": self._figures(old),
            "after": self._figures(new),
        }

    def _ranked(self, served: Served) -> TopK:
        return TopK.stack(list(served.tagger.ranked(self._rows, N_RANKED)))

    def _figures(self, top: TopK) -> dict[str, float]:
        hits = np.array(
            [
                [label in truth for label in labels]
                for truth, labels in zip(self._labels, top.labels.tolist(), strict=True)
            ]
        )
        figures = {f"P@{k}": 100 * float(hits[:, :k].mean()) for k in (1, N_RANKED)}
        return {name: round(value, 2) for name, value in figures.items()}

    def _read(self, path: Path, served: Served) -> None:
        tagger = served.tagger
        corpus = read_corpus(
            path,
            n_features=None if tagger.takes_text else tagger.estimator_.n_features_in_,
            n_labels=served.n_labels,
            label_names=tagger.label_names_,
            kept_fields=tagger.fields_,
            labels_by_number=tagger.label_names_ is None,
        )
        if (corpus.texts is None) == tagger.takes_text:
            kinds = ("text", "features") if tagger.takes_text else ("features", "text")
            raise DataError(f"{path} has {kinds[1]}, but the model learned from {kinds[0]}.")
        rows = _spread(len(corpus))
        X: Any = corpus.X
        self._rows = X[rows] if corpus.texts is None else [corpus.texts[row] for row in rows]
        Y = corpus.Y
        self._labels = [set(Y.indices[Y.indptr[r] : Y.indptr[r + 1]].tolist()) for r in rows]


def _spread(n_rows: int) -> NDArray[np.int64]:
    """Return some rows, from the first to the last."""
    return np.unique(np.linspace(0, max(n_rows - 1, 0), min(N_ROWS, n_rows)).astype(np.int64))
