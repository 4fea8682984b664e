"""What the reader of a corpus already knows: the columns of a trained model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from labelspace.data.formats.fields import Fields


@dataclass(frozen=True)
class ColumnSpec:
    """Columns that a corpus has to fit; None where anything will do.

    Features are fixed by the model, so a corpus with others is an error. Labels are not: a test
    corpus may have labels that the model has never seen, and they get columns after its own.
    """

    n_features: int | None = None
    n_labels: int | None = None
    label_names: Sequence[str] | None = None
    feature_names: list[str] | None = None
    fields: Fields | None = None  # how the model's training table was read
    labels_by_number: bool = False  # a label that is a word has no column then

    @property
    def n_known_labels(self) -> int:
        """Number of labels that the model has, or that were asked for; 0 without a model."""
        return max(self.n_labels or 0, len(self.label_names or ()))
