"""``labelspace convert``: a corpus in another format."""

from __future__ import annotations

from pathlib import Path

from labelspace import data, progress
from labelspace.cli import output
from labelspace.data.formats.fields import Fields


def run_convert(source: Path, target: Path, *, fields: Fields | None, as_json: bool) -> None:
    """Write the corpus in ``source`` to ``target``, whose name says the format."""
    with progress.task(f"Converting {source}"):
        corpus = data.convert(source, target, fields=fields)
    result = {
        "out": str(target),
        "n_examples": len(corpus),
        "n_features": corpus.n_features,
        "n_labels": corpus.n_labels,
    }
    if as_json:
        output.print_json(result)
    else:
        print(f"{target}: {len(corpus):,} rows, {corpus.n_labels:,} labels")
