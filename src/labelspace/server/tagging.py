"""From a request to its labels: what to ask the model for, and how the answer is written."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import numpy as np

from labelspace.data.text.languages import detect_language
from labelspace.server.batcher import Batcher
from labelspace.server.schemas import TagRequest
from labelspace.server.served import Ranked, Served, rules_of
from labelspace.server.why import explain
from labelspace.topk import TopK

MAX_UNKNOWN = 100  # words that are listed


async def tag(asked: TagRequest, batcher: Batcher) -> bytes:
    """Return the answer to a request for one row, as JSON."""
    wanted = await label_filter(asked, batcher.served)
    if asked.explain:
        answer = await batcher.call(lambda served: _explained(served, asked))
    else:
        ranked = await batcher.rank([asked], wanted.n_ranked)
        answer = answer_of(ranked, 0, wanted.in_terms_of(ranked.served, asked))
    if asked.words and asked.text is not None:
        answer["words"] = words_of(asked.text, batcher.served)
    return to_json(answer)


def words_of(text: str, served: Served) -> dict[str, Any]:
    """Return the language of a text, and which of its words the model does not know."""
    found = served.tagger.known_words(text) if served.tagger.takes_text else None
    unknown = [] if found is None else list(dict.fromkeys(found.unknown))
    return {
        "language": detect_language(text),
        "n": None if found is None else len(found.words),
        "unknown": unknown[:MAX_UNKNOWN],
        "n_unknown": 0 if found is None else len(found.unknown),
    }


async def label_filter(asked: TagRequest, served: Served) -> LabelFilter:
    """Return which labels a request wants; while all are gone through, others are answered."""
    if rules_of(asked):
        return await asyncio.to_thread(LabelFilter, asked, served)
    return LabelFilter(asked, served)


class LabelFilter:
    """Which labels of a ranking a request wants; a label that is not there is a 404."""

    def __init__(self, asked: TagRequest, served: Served) -> None:
        self._served = served
        self._choice = served.choice(asked)
        self.n_ranked = self._choice.n_ranked
        self.language = asked.language

    def in_terms_of(self, served: Served, asked: TagRequest) -> LabelFilter:
        """Return the same for the model that answered, if it was replaced meanwhile."""
        return self if served is self._served else LabelFilter(asked, served)

    def chosen(self, top: TopK, row: int) -> list[tuple[int, float]]:
        """Return what is wanted of one row's ranking."""
        return self._choice.given(top, row)


def answer_of(ranked: Ranked, row: int, wanted: LabelFilter) -> dict[str, Any]:
    """Return the answer for one row of a ranking."""
    top, served = ranked.top, ranked.served
    chosen = wanted.chosen(top, row)
    answer: dict[str, Any] = {
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
    if ranked.missing_shards:
        answer["missing_shards"] = ranked.missing_shards
    return answer


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
