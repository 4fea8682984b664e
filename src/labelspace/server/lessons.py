"""Rows to learn as the log has them, and how a model learns rows of the log.

A row with ``rejected`` is partial: of labels that it has neither in ``labels`` nor there, nothing
is known, and the model learns nothing of them. A partial row is a lesson by a person about one
text; one of mostly unknown words is refused, since a word or two would stand for all of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from labelspace.server.learned_log import Record
from labelspace.server.refusal import Refusal
from labelspace.server.schemas import LearnRow, Row
from labelspace.server.served import Served

# A model whose labels are numbers gets no column further than this beyond its last.
MAX_GAP = 1000
# Share of a lesson's words that the model has to know.
LEAST_KNOWN = 1 / 3
N_TAGS = 10  # of a text that are shown before and after a lesson


def records_of(served: Served, rows: Sequence[LearnRow]) -> list[Record]:
    """Return rows as the log has them, or refuse what the model cannot learn."""
    if why := served.tagger.why_it_cannot_learn():
        raise Refusal(409, why)
    if not served.tagger.takes_text and any(row.text is not None for row in rows):
        raise Refusal(422, "This model was trained on features: give 'features', not 'text'.")
    if any(row.rejected is not None for row in rows):
        if not served.takes_partial_labels:
            raise Refusal(
                409,
                f"The method {served.method} learns rows whose labels are all known: give all "
                "labels of each row, and no 'rejected'.",
            )
        for row in rows:
            _check_words(served, row)
    return [_record(served, row) for row in rows]


def learn_records(served: Served, records: Sequence[Record]) -> None:
    """Teach a model rows of the log, in their order."""
    for is_partial, group in groupby(records, lambda record: record.get("rejected") is not None):
        part = list(group)
        rows = [
            Row.model_construct(text=record.get("text"), features=record.get("features"))
            for record in part
        ]
        X, _ = served.features(rows)
        served.tagger.learn_rows(
            X,
            [record["labels"] for record in part],
            texts=[row.text for row in rows],
            rejected=[record["rejected"] for record in part] if is_partial else None,
        )


def told_of(served: Served, n_labels: int, n_learned: int) -> dict[str, Any]:
    """Return the answer about rows that were learned by a model that had so many labels."""
    return {
        "learned": n_learned,
        "new_labels": [served.name(label) for label in range(n_labels, served.n_labels)],
        "n_examples": int(served.estimator.n_examples_),
        "n_labels": served.n_labels,
    }


def changed_tags(before: Served, after: Served, row: LearnRow) -> list[dict[str, Any]]:
    """Return the tags of a row before and after a lesson, with their probabilities."""
    old, new = (
        {
            label: served.probability(score)
            for label, score in served.rank([row], N_TAGS).top.given(0)
        }
        for served in (before, after)
    )
    ranked = sorted(old.keys() | new.keys(), key=lambda one: -max(old.get(one, 0), new.get(one, 0)))
    return [
        {**after.about(one), "before": round(old.get(one, 0.0), 4),
         "after": round(new.get(one, 0.0), 4)}
        for one in ranked[:N_TAGS]
    ]  # fmt: skip


def _record(served: Served, row: LearnRow) -> Record:
    told: Record = {"text": row.text} if row.text is not None else {"features": row.features}
    told["labels"] = _labels(served, row.labels)
    if row.rejected is not None:
        wrong = [label for label in row.rejected if served.found(label) is not None]
        told["rejected"] = [
            label for label in _labels(served, wrong) if label not in told["labels"]
        ]
        if not told["labels"] and not told["rejected"]:
            raise Refusal(409, "Nothing is marked: say of a label that it is right, or wrong.")
    return told


def _check_words(served: Served, row: LearnRow) -> None:
    """Refuse a lesson that the model could not tell from others."""
    found = None if row.text is None else served.tagger.known_words(row.text)
    if found is None or row.rejected is None or found.share >= LEAST_KNOWN:
        return
    if len(found.unknown) == len(found.words):
        raise Refusal(
            409,
            "The model knows no word of this text, so it cannot learn from it: it was trained on "
            "other texts. Train it again with texts like this one.",
        )
    listed = ", ".join(dict.fromkeys(found.unknown[:5]))
    n_known, n_words = len(found.words) - len(found.unknown), len(found.words)
    raise Refusal(
        409,
        f"The model knows only {n_known} of the {n_words} words of this text (not: {listed}), so "
        "it would take these few for all of it: teach a text with more words that it knows.",
    )


def _labels(served: Served, labels: Sequence[int | str]) -> list[Any]:
    """Return labels as the log has them: names, or numbers where the model has no names.

    A name that several labels have is logged as the key of the one that is meant.
    """
    known = served.tagger.labels_
    has_names = known.names is not None
    told: list[Any] = []
    for label in labels:
        column = served.found(label)
        if column is not None:
            told.append(_logged(served, column) if has_names else column)
        elif has_names and isinstance(label, str) and label.strip():
            told.append(label.strip())
        elif has_names:
            raise Refusal(404, f"There is no label '{label}': see GET /v1/labels?q=.")
        else:
            told.append(_new_number(served, label))
    return list(dict.fromkeys(told))


def _logged(served: Served, column: int) -> str:
    name, key = served.tagger.labels_.name(column), served.catalog.key(column)
    if len(served.tagger.labels_.find_all(name)) == 1:
        return name
    if key is None:
        raise Refusal(422, f"Several labels are called '{name[:80]}', and none has a key.")
    return key


def _new_number(served: Served, label: int | str) -> int:
    number = int(label) if str(label).isascii() and str(label).isdigit() else -1
    if not 0 <= number < served.n_labels + MAX_GAP:
        raise Refusal(
            404,
            f"The labels of this model are numbers: a new one has to be less than "
            f"{served.n_labels + MAX_GAP}.",
        )
    return number
