"""``labelspace predict``: the best labels of each row of a corpus, or of each line of stdin."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from labelspace.calibration import checked_threshold
from labelspace.cli import output
from labelspace.cli.inputs import load_tagger, read_for
from labelspace.data.formats.fields import Fields
from labelspace.tagger import Tagger
from labelspace.topk import TopK

STANDARD_INPUT = "-"


def run_predict(
    model: Path,
    source: str,
    *,
    fields: Fields | None = None,
    k: int | None,
    threshold: str | None,
    n_threads: int | None,
    as_json: bool,
) -> None:
    """Print what the model in a folder gives to the rows of ``source``."""
    tagger = load_tagger(model, n_threads)
    k, least = tagger.limits(k, checked_threshold(threshold))
    rows = (
        [
            {"label": label, **_name(tagger, label), "score": round(score, 6)}
            for label, score in top.given(row, least)
        ]
        for top in _ranked(tagger, source, fields, k)
        for row in range(len(top))
    )
    if as_json:
        predictions = list(rows)
        output.print_json(
            {"n": len(predictions), "k": k, "threshold": least, "predictions": predictions}
        )
        return
    for given in rows:
        shown = (f"{label.get('name', label['label'])}\t{label['score']:.4f}" for label in given)
        print("\t".join(shown), flush=source == STANDARD_INPUT)


def _ranked(tagger: Tagger, source: str, fields: Fields | None, k: int) -> Iterator[TopK]:
    if source != STANDARD_INPUT:
        corpus = read_for(tagger, source, fields, needs_labels=False)
        return iter([tagger.predict_topk(corpus.rows, k)])
    # At a terminal each line is answered as it is typed; a pipe is read in larger blocks.
    lines = (line.rstrip("\n") for line in sys.stdin)
    return tagger.ranked(lines, k, block=1 if sys.stdin.isatty() else 1024)


def _name(tagger: Tagger, label: int) -> dict[str, Any]:
    return {} if tagger.labels_.names is None else {"name": tagger.labels_.name(label)}
