"""Why a label was given: the neighbours that voted, with their tags, and the words that spoke.

Methods that vote name the training rows themselves. Where a method does not name the features, or
there is no ``explain`` at all, each feature is left out in turn and the label ranked again: what
the score loses is what the feature gave. That works for every method and costs one small batch.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.base import Reason
from labelspace.server.served import Served
from labelspace.topk import TopK

N_REASONS = 8
MAX_LEFT_OUT = 32
# Labels ranked when a feature is left out: a label that falls further than this has lost all.
N_RANKED = 100


def explain(served: Served, X: csr_matrix, top: TopK) -> list[list[dict[str, Any]]]:
    """Return for each label of a ranking of one row (all of them given) why it was."""
    reasons: list[list[Reason]] = [[] for _ in range(top.k)]
    if hasattr(served.estimator, "explain") and top.k:
        for at, explanation in enumerate(served.estimator._explain(X, top, N_REASONS)[0]):
            reasons[at] = explanation.reasons
    if not any(reason.kind == "feature" for found in reasons for reason in found):
        for found, words in zip(reasons, _words(served, X, top), strict=True):
            found.extend(words)
    return [[_shown(served, reason) for reason in found] for found in reasons]


def _words(served: Served, X: csr_matrix, top: TopK) -> list[list[Reason]]:
    """Return the features that each label's score depends on, by leaving each of them out."""
    if not X.nnz or not top.k:
        return [[] for _ in range(top.k)]
    features, without = _left_out(X)
    labels, scores = top.labels[0], top.scores[0]
    n_ranked = min(served.n_labels, max(N_RANKED, 2 * top.k))
    again = served.estimator.predict_topk(without, n_ranked)
    found = []
    for label, score in zip(labels, scores, strict=True):
        rows, places = np.nonzero(again.labels == label)
        left = np.where(np.isfinite(again.scores[:, -1]), again.scores[:, -1], 0.0)
        left[rows] = again.scores[rows, places]
        loss = score - left
        best = np.argsort(-loss, kind="stable")[:N_REASONS]
        found.append(
            [
                Reason("feature", int(features[at]), float(loss[at]))
                for at in best
                if loss[at] > 1e-6 * max(1.0, abs(float(score)))
            ]
        )
    return found


def _left_out(X: csr_matrix) -> tuple[NDArray[Any], csr_matrix]:
    """Return the heaviest features of a row, and for each of them the row without it."""
    heaviest = np.argsort(-np.abs(X.data), kind="stable")[:MAX_LEFT_OUT]
    keep = ~np.eye(X.nnz, dtype=bool)[heaviest]
    values = np.tile(X.data, (len(heaviest), 1))
    length = np.linalg.norm(X.data)
    rest = np.linalg.norm(values * keep, axis=1, keepdims=True)
    # The row keeps its length, as it would if the text had never had the word.
    values = np.where(rest > 0, values * (length / np.maximum(rest, 1e-12)), values)
    indices = np.tile(X.indices, (len(heaviest), 1))[keep]
    indptr = np.arange(len(heaviest) + 1) * (X.nnz - 1)
    without = csr_matrix(
        (values[keep].astype(np.float32), indices, indptr), shape=(len(heaviest), X.shape[1])
    )
    return X.indices[heaviest], without


def _shown(served: Served, reason: Reason) -> dict[str, Any]:
    told: dict[str, Any] = {"kind": reason.kind, "weight": round(reason.weight, 6)}
    if reason.kind == "example":
        text, labels = served.example(reason.id)
        named = [{"label": label, "name": served.name(label)} for label in labels]
        return {**told, "id": reason.id, "text": text, "labels": named}
    if reason.kind == "feature":
        return {**told, "id": reason.id, "name": served.feature_name(reason.id)}
    return {**told, "label": reason.id, "name": served.name(reason.id)}
