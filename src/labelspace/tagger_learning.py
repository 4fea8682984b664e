"""How a tagger learns on: more rows, and labels by their names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sklearn.utils.validation import check_is_fitted

from labelspace import store
from labelspace import tagger_setup as setup
from labelspace.data.rows import count_rows, is_matrix
from labelspace.data.text.excerpts import Excerpts
from labelspace.errors import UsageError
from labelspace.frames import given_labels, rows_of
from labelspace.label_holder import LabelHolder


class LearningTagger(LabelHolder):
    """What a fitted ``Tagger`` does with more rows and labels; it has a tagger's attributes."""

    excerpts_: Excerpts | None
    fit: Callable[..., Any]
    features_of: Callable[[Any], Any]

    def partial_fit(self, rows: Any, labels: Any, label_names: Iterable[str] | None = None) -> Any:
        """Learn more tagged rows, which may have new labels; the first call is ``fit``.

        Words that were in none of the first texts stay unknown: hashing
        (``TextFeatures(n_hashes=...)``) takes in every word.
        """
        if not hasattr(self, "estimator_"):
            return self.fit(rows, labels, label_names)
        if why := self.why_it_cannot_learn():
            raise UsageError(why)
        rows = rows_of(rows)
        texts = None if is_matrix(rows) or isinstance(rows, str) else list(rows)
        X = self.features_of(rows if texts is None else texts)
        return self.learn_rows(X, labels, label_names, texts)

    def learn_rows(
        self,
        X: Any,
        labels: Any,
        label_names: Iterable[str] | None = None,
        texts: Sequence[str | None] | None = None,
    ) -> Any:
        """Learn more rows of features, as ``features_of`` gives them, like ``partial_fit``.

        ``texts`` are those that the rows were made from, where there are any. If anything goes
        wrong, the tagger is as it was.
        """
        given = given_labels(labels, label_names)
        excerpts = store.snapshot(self.excerpts_)
        if excerpts is not None:
            excerpts.extend(text or "" for text in texts or [None] * (count_rows(X) or 0))
        Y = self.catalog.resolved(given)  # they go by key, too
        self.estimator_.partial_fit(X, Y, **setup.new_names(self, Y))
        self.excerpts_ = excerpts
        return self

    def add_labels(self, names: Iterable[str]) -> Any:
        """Take in labels that no text has yet, by their names alone: they can be given at once.

        Only methods that go by names do, such as the default.
        """
        check_is_fitted(self, "estimator_")
        setup.add_labels(self, [str(name).strip() for name in names])
        return self

    def why_it_cannot_learn(self) -> str | None:
        """Return what keeps the tagger from learning on, such as its method, if anything does."""
        return setup.why_it_cannot_learn(self.estimator_)
