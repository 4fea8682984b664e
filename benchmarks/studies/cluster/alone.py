"""One machine alone: what a non-zero of the labels costs the default, and the memory it takes.

    python -m benchmarks.studies.cluster.alone amazon-3m|amazon-670k FRACTION

adds a line to ``benchmarks/results/studies/cluster.jsonl``. ``amazon-3m`` is a fifth of the rows of
Amazon-3M's shape with all of its features and labels, ``amazon-670k`` all of Amazon-670K's shape;
FRACTION cuts rows, features and labels alike. Settings are those for the whole.
"""

from __future__ import annotations

import sys
import time
import warnings
from dataclasses import replace

from benchmarks import measure
from benchmarks.studies import lines
from benchmarks.studies.cluster import blocks
from benchmarks.studies.study import Trial
from labelspace import progress
from labelspace.data.samples.synthetic import SyntheticCorpus

SIZES = ("n_examples", "n_features", "n_labels")
SHAPES = {
    "amazon-3m": SyntheticCorpus(
        blocks.ROWS // 5,
        blocks.FEATURES,
        blocks.LABELS,
        labels_per_row=blocks.LABELS_PER_ROW,
        features_per_row=blocks.FEATURES_PER_ROW,
    ),
    # Not the preset of this name: labels as frequent and rows as noisy as in the other shape.
    "amazon-670k": SyntheticCorpus(
        490_449, 135_909, 670_091, labels_per_row=5.45, features_per_row=75
    ),
}


def main(name: str, fraction: float) -> None:
    """Train once on a cut of a shape, on one thread and without an engine."""
    whole = SHAPES[name]
    cut = {name: round(fraction * getattr(whole, name)) for name in SIZES}
    corpus = replace(whole, **cut).sample()
    assert corpus.X is not None
    sizes = whole.n_examples, whole.n_features, whole.n_labels, whole.features_per_row
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        blocks.default_for(*sizes).fit(corpus.X[:2000], corpus.Y[:2000, :500])  # compiles
        cpu, before = time.process_time(), measure.peak_rss_mib()
        with progress.listening(stages := Stages()):
            model = blocks.default_for(*sizes).fit(corpus.X, corpus.Y)
    figures = {
        "n_rows": corpus.X.shape[0],
        "n_labels": corpus.Y.shape[1],
        "n_given": int(corpus.Y.nnz),
        "train_cpu_s": time.process_time() - cpu,
        "before_mib": before,
        "peak_mib": measure.peak_rss_mib(),
        "n_weights": int(model.classifiers_.inverted.nnz),
        "stages": stages.seconds,
    }
    lines.append(blocks.STUDY, Trial("alone", name, f"{fraction:g}"), figures)
    print(figures)


class Stages:
    """Listens to progress, and keeps what the stages take of the processor."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._begun: list[tuple[str, float]] = []

    def started(self, description: str, total: int | None) -> int:
        self._begun.append((description, time.process_time()))
        return len(self._begun) - 1

    def advanced(self, task: int, steps: int) -> None:
        pass

    def finished(self, task: int) -> None:
        description, begun = self._begun[task]
        spent = time.process_time() - begun
        self.seconds[description] = self.seconds.get(description, 0.0) + spent

    def compiling(self, kernel: str | None) -> None:
        pass


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
