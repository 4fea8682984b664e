"""From a request to its labels: what to ask the model for, and how the answer is written."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from labelspace.errors import UsageError
from labelspace.server.batcher import Batcher
from labelspace.server.refusal import Refusal
from labelspace.server.schemas import TagRequest
from labelspace.server.served import Ranked, Served
from labelspace.server.why import explain
from labelspace.topk import NO_LABEL, TopK


async def tag(asked: TagRequest, batcher: Batcher) -> bytes:
    """Return the answer to a request for one row, as JSON."""
    wanted = LabelFilter(asked, batcher.served)
    if asked.explain:
        answer = await batcher.call(lambda served: _explained(served, asked))
    else:
        ranked = await batcher.rank([asked], wanted.n_ranked)
        answer = answer_of(ranked, 0, wanted.in_terms_of(ranked.served, asked))
    return to_json(answer)


class LabelFilter:
    """Which labels of a ranking a request wants; a label that is not there is a 404."""

    def __init__(self, asked: TagRequest, served: Served) -> None:
        self._served = served
        k = asked.k if "k" in asked.model_fields_set else None
        self.k, least = served.limits(k, asked.threshold)
        self.threshold = -math.inf if least is None else least
        self.allowed = None if asked.allow is None else set(served.known_labels(asked.allow))
        self.excluded = set(served.known_labels(asked.exclude))
        self.language, self.broader = asked.language, asked.broader
        self._check_vocabulary()
        if self.allowed is None:
            n_wanted = served.catalog.n_ranked(self.k, self.broader)
            self.n_ranked = n_wanted + len(self.excluded)
        else:
            # An allowed label may be ranked anywhere.
            self.n_ranked = max(1, served.n_labels)

    def in_terms_of(self, served: Served, asked: TagRequest) -> LabelFilter:
        """Return the same for the model that answered, if it was replaced meanwhile."""
        return self if served is self._served else LabelFilter(asked, served)

    def chosen(self, labels: list[int], scores: list[float]) -> list[tuple[int, float]]:
        """Return what is wanted of one row's ranking."""
        found = self._served.catalog.choose(self._wanted(labels, scores), self.k, self.broader)
        if self.broader == "add":
            return [pair for pair in found if self._is_wanted(pair[0])]
        return found

    def _wanted(self, labels: list[int], scores: list[float]) -> Iterator[tuple[int, float]]:
        for label, score in zip(labels, scores, strict=True):
            if label == NO_LABEL or score < self.threshold:
                return
            if self._is_wanted(label):
                yield label, score

    def _is_wanted(self, label: int) -> bool:
        return label not in self.excluded and (self.allowed is None or label in self.allowed)

    def _check_vocabulary(self) -> None:
        try:
            self._served.catalog.check_language(self.language)
            self._served.catalog.check_broader(self.broader)
        except UsageError as error:
            raise Refusal(409, str(error)) from None


def answer_of(ranked: Ranked, row: int, wanted: LabelFilter) -> dict[str, Any]:
    """Return the answer for one row of a ranking."""
    top, served = ranked.top, ranked.served
    chosen = wanted.chosen(top.labels[row].tolist(), top.scores[row].tolist())
    return {
        "labels": [
            {
                **served.about(label, wanted.language),
                "score": round(score, 6),
                "probability": round(served.probability(score), 6),
            }
            for label, score in chosen
        ],
        "unknown_features": ranked.n_unknown[row],
        "model": served.version,
    }


def to_json(answer: Any) -> bytes:
    """Return an answer as UTF-8 JSON."""
    text = json.dumps(answer, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    try:
        return text.encode()
    except UnicodeEncodeError:  # a lone surrogate in a name
        return json.dumps(answer, separators=(",", ":"), allow_nan=False).encode()


def _explained(served: Served, asked: TagRequest) -> dict[str, Any]:
    wanted = LabelFilter(asked, served)
    X, n_unknown = served.features([asked])
    top = served.rank_features(X, wanted.n_ranked)
    answer = answer_of(Ranked(served, top, n_unknown), 0, wanted)
    given = TopK(
        np.array([[label["label"] for label in answer["labels"]]], dtype=np.int64),
        np.array([[label["score"] for label in answer["labels"]]], dtype=np.float32),
    )
    for label, reasons in zip(answer["labels"], explain(served, X, given), strict=True):
        label["why"] = reasons
    return answer
