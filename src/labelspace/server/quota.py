"""How much may be taught altogether: a token must not be enough to fill memory or disk."""

from __future__ import annotations

import shutil
from collections.abc import Sequence

from labelspace.server.learned_log import LearnedLog, Record
from labelspace.server.refusal import Refusal
from labelspace.server.served import Served
from labelspace.server.settings import Limits

_WHAT_TO_DO = "train a new model with what was taught, or start the server with more as"


def check_quota(limits: Limits, log: LearnedLog, served: Served, records: Sequence[Record]) -> int:
    """Refuse rows beyond what a log and its model may hold; return how many labels are new."""
    n_new = _new_labels(served, records)
    taught = log.taught(served.estimator)
    if taught.rows + len(records) > limits.learned_rows:
        raise _full(f"{limits.learned_rows:,} rows", "--max-taught-rows")
    if taught.labels + n_new > limits.learned_labels:
        raise _full(f"{limits.learned_labels:,} new labels", "--max-taught-labels")
    if log.size + log.size_of(records) > limits.learned_bytes:
        raise _full(f"{limits.learned_bytes:,} bytes of rows", "--max-taught-bytes")
    if shutil.disk_usage(log.path.parent).free < limits.free_disk:
        raise Refusal(
            507,
            f"The server's disk has less than {limits.free_disk:,} bytes left, so it learns no "
            "more: make room on it, or start the server with less as --min-free-disk.",
        )
    return n_new


def _new_labels(served: Served, records: Sequence[Record]) -> int:
    known = served.tagger.labels_
    labels = {label for record in records for label in record["labels"]}
    new = [label for label in labels if known.find(label) is None]
    if known.names is None:  # a number makes a column of each below it
        return max((int(label) + 1 - served.n_labels for label in new), default=0)
    return len(new)


def _full(what: str, option: str) -> Refusal:
    return Refusal(
        507, f"This model was taught as much as it takes, {what}: {_WHAT_TO_DO} {option}."
    )
