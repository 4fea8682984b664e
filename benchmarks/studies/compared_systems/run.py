"""Measure the settings, the parts and the reach of the compared systems."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import measure
from benchmarks.corpora import data_home
from benchmarks.measure import Stopwatch
from benchmarks.speed import batch_speed
from benchmarks.studies.compared_systems import page, variants
from benchmarks.studies.source import Source, Split
from benchmarks.studies.study import Figures, Part, Study, Trial
from benchmarks.studies.told import changed
from labelspace import Tagger
from labelspace.data import read_corpus
from labelspace.data.samples.synthetic import SyntheticCorpus
from labelspace.metrics import evaluate
from labelspace.models import make

# Rows of a corpus that settings are tried on, at most, and one in how many of them is held out.
SOME_ROWS, SHARE = {"settings": 10_000, "cuts": 20_000}, 5


def on_held_out_rows(trial: Trial, source: Source) -> Iterator[tuple[Trial, Figures]]:
    """Train on four fifths of the training rows and ask about the rest."""
    split = source.split(trial.corpus).held_out(SHARE, SOME_ROWS[trial.part])
    model, figures = _trained(trial, split)
    if trial.part == "settings" and trial.variant == "sleec" and not trial.parameters:
        for told in variants.ASKED:
            with changed(model, **told):
                yield replace(trial, parameters=told), _asked(model, split)
    yield trial, figures | _asked(model, split)


def on_test_rows(trial: Trial, source: Source) -> Iterator[tuple[Trial, Figures]]:
    """Train on all training rows and ask about the test rows."""
    split = source.split(trial.corpus)
    model, figures = _trained(trial, split)
    yield trial, figures | _asked(model, split)


def at_scale(trial: Trial, source: Source) -> Iterator[tuple[Trial, Figures]]:
    """Train on a corpus that is made, with a hundred thousand labels."""
    n_rows = source.at_most(page.N_ROWS)
    made = SyntheticCorpus.preset("amazon-670k", scale=n_rows / page.WHOLE)
    train, test = made.sample(), made.sample(source.at_most(2000), split="test")
    assert train.X is not None
    assert test.X is not None
    split = Split(train.X, train.Y, test.X, test.Y)
    _trained(trial, split.drawn(500))  # compiles
    model, figures = _trained(trial, split)
    figures |= dict(zip(("n_rows", "n_features"), train.X.shape, strict=True))
    figures |= {"n_labels": train.Y.shape[1], "peak_mib": measure.peak_rss_mib()}
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model")
        figures["model_mib"] = measure.folder_mib(Path(folder) / "model")
    figures |= batch_speed(lambda rows: model.predict_topk(rows, k=5), test.X)
    yield trial, figures | _asked(model, split)


def from_text(trial: Trial, source: Source) -> Iterator[tuple[Trial, Figures]]:
    """Train on all training texts and ask about the test texts."""
    train, test = (
        read_corpus(data_home() / trial.corpus / f"{part}.tsv.xz") for part in ("train", "test")
    )
    train, test = (one.take(np.arange(source.n_rows or len(one))) for one in (train, test))
    tagger = Tagger(trial.variant, random_state=trial.seed, **trial.parameters)
    with Stopwatch() as watch:
        tagger.fit(train.texts, train.Y)
    figures = {"train_cpu_s": watch.cpu_s, "train_wall_s": watch.wall_s}
    figures |= {"n_rows": len(train), "n_labels": train.Y.shape[1]}
    figures |= {"peak_mib": measure.peak_rss_mib()}
    with tempfile.TemporaryDirectory() as folder:
        tagger.save(Path(folder) / "model")
        figures["model_mib"] = measure.folder_mib(Path(folder) / "model")
    with Stopwatch() as watch:
        found = tagger.evaluate(test.texts, test.Y)
    figures["batch_cpu_ms"] = 1000.0 * watch.cpu_s / len(test)
    names = [f"{name}@{k}" for name in ("P", "PSP", "nDCG") for k in (1, 3, 5)]
    yield trial, figures | {name: found[name] for name in names}


def _trained(trial: Trial, split: Split) -> tuple[Any, Figures]:
    model: Any = make(trial.variant, random_state=trial.seed, n_threads=1, **trial.parameters)
    with Stopwatch() as watch:
        model.fit(split.X, split.Y)
    return model, {"train_cpu_s": watch.cpu_s}


def _asked(model: Any, split: Split) -> Figures:
    counts = np.bincount(split.Y.indices, minlength=split.Y.shape[1])
    top = model.predict_topk(split.X_test, k=5)
    found = evaluate(split.Y_test, top, label_counts=counts, n_examples=split.Y.shape[0])
    return {f"{name}@{k}": found[f"{name}@{k}"] for name in ("P", "PSP") for k in (1, 3, 5)}


STUDY = Study(
    "compared_systems",
    {
        "settings": Part(list(variants.settings()), on_held_out_rows),
        "cuts": Part(list(variants.cuts()), on_held_out_rows),
        "parts": Part(list(variants.parts()), on_test_rows),
        "scale": Part(
            [Trial("scale", "amazon-670k", method) for method in page.AT_SCALE],
            at_scale,
            own_process=True,
        ),
        "text": Part([Trial("text", "eurlex57k", "xml-cnn")], from_text, own_process=True),
    },
    page.PAGE,
    page.tables,
)
