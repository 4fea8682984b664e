"""Why a label was given: the neighbours that voted, with their tags, and the words that spoke.

Methods that vote name the training rows themselves. Where a method does not name the features, or
there is no ``explain`` at all, they are found by asking again: each feature is left out in turn,
and each is given alone. What the score loses without a feature, and what it gains from the feature
alone, are the two ends of its Shapley value; their mean is the weight. That works for every method
and costs one batch.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.errors import UsageError
from labelspace.explanation import Reason
from labelspace.server.served import Served
from labelspace.topk import TopK

N_REASONS = 8
MAX_TRIED = 32
# Labels ranked when asked again.
N_RANKED = 100


def explain(served: Served, X: csr_matrix, top: TopK) -> list[list[dict[str, Any]]]:
    """Return for each label of a ranking of one row (all of them given) why it was."""
    reasons: list[list[Reason]] = [[] for _ in range(top.k)]
    if hasattr(served.estimator, "explain") and top.k:
        with suppress(UsageError):  # with the parameters that it has, it cannot explain
            for at, explanation in enumerate(served.estimator._explain(X, top, N_REASONS)[0]):
                reasons[at] = explanation.reasons
    if not any(reason.kind == "feature" for found in reasons for reason in found):
        for found, words in zip(reasons, _words(served, X, top), strict=True):
            found.extend(words)
    return [[_shown(served, reason) for reason in found] for found in reasons]


def _words(served: Served, X: csr_matrix, top: TopK) -> list[list[Reason]]:
    """Return the features that each label's score depends on, heaviest first."""
    if not X.nnz or not top.k:
        return [[] for _ in range(top.k)]
    heaviest = np.argsort(-np.abs(X.data), kind="stable")[:MAX_TRIED]
    n_tried = len(heaviest)
    n_ranked = min(served.n_labels, max(N_RANKED, 2 * top.k))
    again = served.rank_features(_variants(X, heaviest), n_ranked)
    found = []
    for label, score in zip(top.labels[0], top.scores[0], strict=True):
        scores = _scores_of(again, label)
        nothing, without, alone = scores[0], scores[1 : 1 + n_tried], scores[1 + n_tried :]
        weights = ((score - without) + (alone - nothing)) / 2
        best = np.argsort(-weights, kind="stable")[:N_REASONS]
        found.append(
            [
                Reason("feature", int(X.indices[heaviest[at]]), float(weights[at]))
                for at in best
                if weights[at] > 1e-6 * max(1.0, abs(float(score)))
            ]
        )
    return found


def _scores_of(ranked: TopK, label: int) -> NDArray[Any]:
    """Return the label's score in each row; where it is not ranked, that of the last that is."""
    given = np.where(np.isfinite(ranked.scores), ranked.scores, np.inf)
    lowest = given.min(axis=1)
    # A row that has fewer labels than were asked for gives this one nothing.
    scores = np.where(np.isfinite(ranked.scores[:, -1]), lowest, 0.0)
    rows, places = np.nonzero(ranked.labels == label)
    scores[rows] = ranked.scores[rows, places]
    return scores


def _variants(X: csr_matrix, tried: NDArray[Any]) -> csr_matrix:
    """Return an empty row, the row without each of some features, and each of them alone.

    Rows keep their length, as they would if the text had never had the other words.
    """
    n_tried, length = len(tried), np.linalg.norm(X.data)
    keep = np.zeros((1 + 2 * n_tried, X.nnz), dtype=bool)
    keep[1 : 1 + n_tried] = ~np.eye(X.nnz, dtype=bool)[tried]
    keep[1 + n_tried :] = np.eye(X.nnz, dtype=bool)[tried]
    values = np.where(keep, X.data, 0.0)
    values *= length / np.maximum(np.linalg.norm(values, axis=1, keepdims=True), 1e-12)
    indptr = np.concatenate(([0], np.cumsum(keep.sum(axis=1))))
    indices = np.broadcast_to(X.indices, keep.shape)[keep]
    return csr_matrix(
        (values[keep].astype(np.float32), indices, indptr), shape=(len(keep), X.shape[1])
    )


def _shown(served: Served, reason: Reason) -> dict[str, Any]:
    told: dict[str, Any] = {"kind": reason.kind, "weight": round(reason.weight, 6)}
    if reason.kind == "example":
        text, labels = served.example(reason.id)
        named = [served.about(label) for label in labels]
        return {**told, "id": reason.id, "text": text, "labels": named}
    if reason.kind in ("feature", "name"):
        return {**told, "id": reason.id, "name": served.tagger.feature_name(reason.id)}
    return {**told, **served.about(reason.id)}
