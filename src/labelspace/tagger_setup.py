"""What a ``Tagger`` is set up with, and checks before and after its estimator works."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.base import clone

from labelspace import metrics, models, progress, threads
from labelspace.base import LabelRanker
from labelspace.csr import NamedColumns, empty_csr
from labelspace.data.text.choosing import AUTO, choose_features
from labelspace.data.text.encoding.hybrid_features import HybridFeatures
from labelspace.data.text.features import TextFeatures
from labelspace.errors import DataError, UsageError
from labelspace.label_catalog import LabelCatalog
from labelspace.label_features import LabelFeatures
from labelspace.label_names import LabelNames, labels_without_rows
from labelspace.label_rules import excluded_columns, without_columns
from labelspace.labels import LabelEncoder
from labelspace.store import schema
from labelspace.topk import TopK

TAGGER_SCHEMA: schema.Schema = {
    "method": schema.anything,
    "features": schema.either(
        schema.part("TextFeatures", "WordSequences", "Transformer"), schema.text
    ),
    "encoder": schema.maybe(schema.optional(schema.text)),
    "keep_texts": schema.integer(),
    "parameters": schema.anything,
    "estimator_": schema.fitted,
    "features_": schema.part(
        *("TextFeatures", "WordSequences", "Transformer", "HybridFeatures"),
        n_features="n_features",
    ),
    "excerpts_": schema.optional(schema.part("Excerpts", n_texts="n_examples")),
    "fields_": schema.maybe(schema.optional(schema.part("Fields"))),
}


def new_estimator(method: str | LabelRanker | None, parameters: dict[str, Any]) -> LabelRanker:
    """Return the estimator of a tagger's method, not fitted yet."""
    if method is None or isinstance(method, str):
        name = method or models.DEFAULT_METHOD
        return models.make(name, **{"random_state": 0, **parameters})
    if not isinstance(method, LabelRanker):
        raise UsageError(
            f"method is a {type(method).__name__}, which is no method: give a name such "
            f"as '{models.DEFAULT_METHOD}' or an estimator of labelspace.models."
        )
    return clone(method).set_params(**parameters)


def use_hierarchy(estimator: LabelRanker, catalog: LabelCatalog) -> None:
    """Give a method whose ``hierarchy`` is "vocabulary" the broader labels of the vocabulary."""
    if estimator.get_params(deep=False).get("hierarchy") == "vocabulary":
        estimator.set_params(hierarchy=catalog.hierarchy(catalog.labels.n_labels))


def label_names(estimator: LabelRanker, labels: LabelEncoder) -> LabelNames | None:
    """Return what labels are called, for methods that listen; all of the vocabulary's are labels.

    Labels of the vocabulary that no row has become columns, so that they can be given.
    """
    if not estimator.takes_label_features:
        return None
    new = labels_without_rows(labels)
    if new:
        names = [*(labels.names or ()), *new]
        labels.learn(NamedColumns(empty_csr(0, len(names)), names))
    return LabelNames.of(labels)


def restricted(
    Y: Any,
    names: LabelNames | None,
    labels: LabelEncoder,
    allow: Iterable[int | str] | None,
    exclude: Iterable[int | str],
) -> tuple[Any, LabelNames | None]:
    """Return labels and names without those that rules leave out, and keep which these are."""
    excluded = excluded_columns(LabelCatalog(labels), allow, exclude)
    if not excluded:
        return Y, names
    labels.excluded = sorted(excluded)
    kept = without_columns(Y, excluded)
    if not kept.nnz:
        raise UsageError("The rules leave no label of any row to learn: allow more of them.")
    return kept, None if names is None else names.without(excluded)


def label_features(features: Any, rows: Any, names: LabelNames | None) -> dict[str, Any]:
    """Return what a method learns of names, in the features of texts or in those of named rows."""
    if names is None or not names.texts:
        return {}
    if features is not None:
        return {"label_features": names.as_texts(features)}
    return {"label_features": names.as_rows(rows.names)} if isinstance(rows, NamedColumns) else {}


def new_names(tagger: Any, Y: Any) -> dict[str, Any]:
    """Return names of labels that are new to a tagger, for methods that listen."""
    estimator, labels = tagger.estimator_, tagger.labels_
    if not estimator.takes_label_features or not isinstance(Y, NamedColumns):
        return {}
    new = list(enumerate(Y.names))[labels.n_labels :]
    named = LabelNames([str(name) for _, name in new], [column for column, _ in new])
    features = _as_features(tagger, named)
    return {} if features is None else {"label_features": features}


def add_labels(tagger: Any, names: list[str]) -> None:
    """Add labels by name alone to a tagger."""
    estimator = tagger.estimator_
    if not estimator.takes_label_features:
        raise UsageError(
            f"{type(estimator).__name__} does not know labels by name: give rows that have them, "
            "or use a method that does, such as labelspace."
        )
    if not tagger.takes_text and estimator.feature_names_ is None:
        raise UsageError("The model's features have no names, so that names of labels say nothing.")
    known = [name for name in names if tagger.catalog.find(name) is not None]
    if known or len(set(names)) < len(names) or not all(names):
        twice = next((n for n in names if not n or n in known or names.count(n) > 1), "")
        raise UsageError(f"The label '{twice[:80]}' is there already, or empty: give new names.")
    if not names:
        return
    named = _as_features(tagger, LabelNames(names, list(range(len(names)))))
    assert named is not None
    silent = np.flatnonzero(np.diff(named.rows.indptr) == 0)
    if named.vectors is not None:
        silent = silent[~named.vectors.values[silent].any(axis=1)]
    if silent.size:
        raise UsageError(
            f"The model knows no word of the label '{names[silent[0]][:80]}', so that no text "
            "could get it: train again with the label in the vocabulary, or teach texts with it."
        )
    estimator.add_labels(names, named)


def _as_features(tagger: Any, names: LabelNames) -> LabelFeatures | None:
    if not names.texts:
        return None
    if tagger.takes_text:
        return names.as_texts(tagger.features_, stems=False)
    known = tagger.estimator_.feature_names_
    return None if known is None else names.as_rows(known)


def why_it_cannot_learn(estimator: LabelRanker) -> str | None:
    """Return what keeps a method from learning on, if anything does."""
    if not hasattr(estimator, "partial_fit"):
        return (
            f"{type(estimator).__name__} cannot learn on: train it again on all rows, or use a "
            "method that can."
        )
    try:
        estimator._validate_params()
    except ValueError as error:  # such as a package that learning needs
        return str(error)
    return None


def wanted_features(features: Any, texts: Any, Y: csr_matrix) -> tuple[Any, Any]:
    """Return the features to be learned, chosen if they are "auto", and the texts."""
    if not (isinstance(features, str) and features == AUTO):
        return features, texts
    if isinstance(texts, str):
        return None, texts  # which is an error that is told elsewhere
    texts = list(texts)
    check_rows(len(texts), Y)
    return choose_features(texts, Y), texts


def learn_features(
    features: Any,
    texts: Any,
    Y: csr_matrix,
    estimator: LabelRanker,
    names: LabelNames | None = None,
) -> csr_matrix:
    """Let text features learn from texts, and return the rows of these."""
    more: dict[str, Any] = {}
    if isinstance(features, HybridFeatures):
        more["Y"] = Y  # it goes through the texts in its own way
    elif not isinstance(texts, str):
        texts = progress.track(texts, "turning texts into features", Y.shape[0])
    if names is not None and isinstance(features, TextFeatures | HybridFeatures):
        # Words of names are features though texts may not have them: new texts may.
        more["words"] = names.words()
    with threads.limit(estimator.n_threads):
        rows = features.fit_transform(texts, **more)
    check_texts(rows, Y)
    return rows


def check_texts(X: csr_matrix, Y: csr_matrix) -> None:
    """Raise if there are not as many texts as rows of labels."""
    check_rows(X.shape[0], Y)


def check_rows(n_texts: int, Y: csr_matrix) -> None:
    """Raise if there are labels for another number of texts."""
    if n_texts != Y.shape[0]:
        raise DataError(
            f"There are {n_texts} texts but labels for {Y.shape[0]}: give a list of labels for "
            "each text (an empty one where there are none)."
        )


def check_takes_text(features: Any, estimator: LabelRanker) -> None:
    """Raise if a model has no text features."""
    if features is None:
        raise UsageError(
            "This model was trained on features, so it cannot take text: give rows with the "
            f"same {estimator.n_features_in_:,} features."
        )


def check_encodes(loaded: Any, path: Any) -> None:
    """Raise if what was loaded with an encoder needs none."""
    if not isinstance(getattr(loaded, "features_", None), HybridFeatures):
        raise UsageError(
            f"The model in {path} learned without an encoder: leave the encoder out, or train "
            "again with it."
        )


def figures(
    estimator: LabelRanker, Y: csr_matrix, top: TopK, ks: Sequence[int], **propensity: Any
) -> dict[str, float]:
    """Return what a ranking is worth, in percent, with the calibration error of probabilities."""
    counts: Any = {"label_counts": estimator.label_counts_, "n_examples": estimator.n_examples_}
    found = metrics.evaluate(Y, top, ks=ks, **counts, **propensity)
    if estimator.gives_probabilities:
        found["ECE"] = metrics.calibration_error(Y, top)
    return found
