"""``labelspace evaluate``: how right a model is on a corpus whose labels are known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from labelspace import metrics
from labelspace.cli import output
from labelspace.cli.inputs import load_tagger, read_for
from labelspace.data import Corpus
from labelspace.data.formats.fields import Fields
from labelspace.errors import DataError
from labelspace.tagger import Tagger
from labelspace.topk import TopK


def run_evaluate(
    model: Path,
    test: Path,
    *,
    fields: Fields | None = None,
    vocabulary: Path | None = None,
    encoder: str | None = None,
    n_threads: int | None,
    A: float,
    B: float,
    by_frequency: bool,
    as_json: bool,
) -> None:
    """Evaluate the model in a folder on the corpus in a file."""
    tagger = load_tagger(model, n_threads, vocabulary, encoder)
    corpus = read_for(tagger, test, fields)
    figures, top = evaluate(tagger, corpus, A=A, B=B)
    bands = None
    if by_frequency:
        bands = metrics.by_frequency(corpus.Y, top, tagger.estimator_.label_counts_)
    if as_json:
        output.print_json(figures if bands is None else {**figures, "by_frequency": bands})
        return
    output.print_table(f"{model} on {test}", by_k(figures))
    print(f"{figures['n']:,} rows in {figures['predict_seconds']:.2f} s")
    if "ECE" in figures:
        print(f"Expected calibration error of the probabilities: {figures['ECE']:.2f} %")
    if bands is not None:
        output.print_table("By frequency in train", bands)


def evaluate(tagger: Tagger, corpus: Corpus, *, A: float, B: float) -> tuple[dict[str, Any], TopK]:
    """Return the figures of a model on a corpus, and its ranking."""
    if len(corpus) == 0:
        raise DataError("The test corpus has no rows: give one with at least one row.")
    with output.Meter() as meter:
        top = tagger.predict_topk(corpus.rows, max(metrics.KS))
    ranker = tagger.estimator_
    figures: dict[str, Any] = metrics.evaluate(
        corpus.Y,
        top,
        label_counts=ranker.label_counts_,
        n_examples=ranker.n_examples_,
        A=A,
        B=B,
    )
    figures = {name: round(value, 4) for name, value in figures.items()}
    if ranker.gives_probabilities:
        figures["ECE"] = round(metrics.calibration_error(corpus.Y, top), 4)
    figures["n"] = len(corpus)
    figures["predict_seconds"] = round(meter.wall_seconds, 4)
    return figures, top


def by_k(figures: dict[str, Any]) -> list[dict[str, Any]]:
    """Arrange P@1, P@3, … as a table with a line for each measure."""
    measures = dict.fromkeys(name.split("@")[0] for name in figures if "@" in name)
    ks = dict.fromkeys(name.split("@")[1] for name in figures if "@" in name)
    return [
        {"": measure} | {f"@{k}": figures[f"{measure}@{k}"] for k in ks} for measure in measures
    ]
