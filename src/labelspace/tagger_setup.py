"""What a ``Tagger`` is set up with, and checks before and after its estimator works."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scipy.sparse import csr_matrix
from sklearn.base import clone

from labelspace import metrics, models, progress, threads
from labelspace.base import LabelRanker
from labelspace.data.text.encoding.hybrid_features import HybridFeatures
from labelspace.errors import DataError, UsageError
from labelspace.label_catalog import LabelCatalog
from labelspace.store import schema
from labelspace.topk import TopK

TAGGER_SCHEMA: schema.Schema = {
    "method": schema.anything,
    "features": schema.either(schema.part("TextFeatures", "Transformer"), schema.text),
    "encoder": schema.maybe(schema.optional(schema.text)),
    "keep_texts": schema.integer(),
    "parameters": schema.anything,
    "estimator_": schema.fitted,
    "features_": schema.part(
        "TextFeatures", "Transformer", "HybridFeatures", n_features="n_features"
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


def learn_features(features: Any, texts: Any, Y: csr_matrix, estimator: LabelRanker) -> csr_matrix:
    """Let text features learn from texts, and return the rows of these."""
    with threads.limit(estimator.n_threads), progress.task("Turning texts into features"):
        if isinstance(features, HybridFeatures):
            rows = features.fit_transform(texts, Y)
        else:
            rows = features.fit_transform(texts)
    check_texts(rows, Y)
    return rows


def check_texts(X: csr_matrix, Y: csr_matrix) -> None:
    """Raise if there are not as many texts as rows of labels."""
    if X.shape[0] != Y.shape[0]:
        raise DataError(
            f"There are {X.shape[0]} texts but labels for {Y.shape[0]}: give a list of labels for "
            "each text (an empty one where there are none)."
        )


def check_takes_text(features: Any, estimator: LabelRanker) -> None:
    """Raise if a model has no text features."""
    if features is None:
        raise UsageError(
            "This model was trained on features, so it cannot take text: give rows with the "
            f"same {estimator.n_features_in_:,} features."
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
