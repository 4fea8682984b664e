"""How a tagger learns on: more rows, and labels by their names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sklearn.utils.validation import check_is_fitted

from labelspace import store
from labelspace import tagger_setup as setup
from labelspace.csr import NamedColumns
from labelspace.data.rows import count_rows, is_matrix
from labelspace.data.text.excerpts import Excerpts
from labelspace.data.text.known_words import KnownWords, known_words
from labelspace.errors import UsageError
from labelspace.frames import given_labels, rows_of
from labelspace.label_holder import LabelHolder


class LearningTagger(LabelHolder):
    """What a fitted ``Tagger`` does with more rows and labels; it has a tagger's attributes."""

    excerpts_: Excerpts | None
    features_: Any
    fit: Callable[..., Any]
    features_of: Callable[[Any], Any]

    def partial_fit(
        self,
        rows: Any,
        labels: Any,
        label_names: Iterable[str] | None = None,
        *,
        rejected: Any = None,
    ) -> Any:
        """Learn more tagged rows, which may have new labels; the first call is ``fit``.

        Labels that are not given are wrong; but where ``rejected`` has those that are known to be
        wrong, in the form of ``labels``, all others are unknown, and rows say nothing of them.
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
        return self.learn_rows(X, labels, label_names, texts, rejected=rejected)

    def learn_rows(
        self,
        X: Any,
        labels: Any,
        label_names: Iterable[str] | None = None,
        texts: Sequence[str | None] | None = None,
        *,
        rejected: Any = None,
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
        more = setup.new_names(self, Y)
        if rejected is not None:
            more["rejected"] = self._rejected(given_labels(rejected, label_names), Y)
        self.estimator_.partial_fit(X, Y, **more)
        self.excerpts_ = excerpts
        return self

    def _rejected(self, given: Any, Y: Any) -> Any:
        """Return labels that rows are known to lack, in the form of ``Y``, without unknown ones.

        What nobody ever taught cannot be given, so that there is nothing to unlearn.
        """
        if not isinstance(Y, NamedColumns) or not isinstance(given, list | tuple):
            return given
        known = [[one for one in row if self.catalog.find(one) is not None] for row in given]
        wrong = self.catalog.resolved(known).values
        wrong.resize((wrong.shape[0], len(Y.names)))
        return NamedColumns(wrong, Y.names)

    def add_labels(self, names: Iterable[str]) -> Any:
        """Take in labels that no text has yet, by their names alone: they can be given at once.

        Only methods that go by names do, such as the default.
        """
        check_is_fitted(self, "estimator_")
        setup.add_labels(self, [str(name).strip() for name in names])
        return self

    def known_words(self, text: str) -> KnownWords | None:
        """Return the words of a text and those that it does not know; None if it knows any word."""
        return known_words(self.features_, text)

    def why_it_cannot_learn(self) -> str | None:
        """Return what keeps the tagger from learning on, such as its method, if anything does."""
        return setup.why_it_cannot_learn(self.estimator_)
