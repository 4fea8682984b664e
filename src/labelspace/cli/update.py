"""``labelspace update``: a model learns new rows and is saved again."""

from __future__ import annotations

from pathlib import Path

from labelspace import progress
from labelspace.cli import output
from labelspace.cli.inputs import load_tagger, read_for
from labelspace.data.formats.fields import Fields
from labelspace.store import folders


def run_update(
    model: Path,
    more: Path,
    *,
    fields: Fields | None = None,
    vocabulary: Path | None = None,
    encoder: str | None = None,
    n_threads: int | None,
    as_json: bool,
) -> None:
    """Let the model in a folder learn the corpus in a file."""
    with folders.locked(model):  # a server that learns saves the same folder
        tagger = load_tagger(model, n_threads, vocabulary, encoder)
        corpus = read_for(tagger, more, fields)
        n_before = tagger.estimator_.n_labels_
        # A model that knows labels by number takes no names for them later.
        names = None if tagger.labels_.names is None else corpus.label_names
        with progress.task(f"Learning {len(corpus):,} rows"), output.Meter() as meter:
            tagger.partial_fit(corpus.rows, corpus.Y, names)
        with progress.task(f"Saving {model}"):
            tagger.save(model)
    n_new = tagger.estimator_.n_labels_ - n_before
    result = {
        "n_added": len(corpus),
        "n_new_labels": n_new,
        "n_examples": tagger.estimator_.n_examples_,
        "n_labels": tagger.estimator_.n_labels_,
        "update_seconds": round(meter.wall_seconds, 3),
        "cpu_seconds": round(meter.cpu_seconds, 3),
    }
    if as_json:
        output.print_json(result)
    else:
        print(
            f"{model}: {len(corpus):,} rows and {n_new:,} labels added in "
            f"{meter.wall_seconds:.2f} s"
        )
