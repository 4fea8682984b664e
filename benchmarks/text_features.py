"""What the choices of ``TextFeatures`` do to k-NN: the table of ``docs/text.md``.

    python -m benchmarks.text_features wordnet

Features are fitted on a part of the training rows and k-NN is measured on the others; the test
rows stay unseen. The first line is of the ready-made features that come with the corpus.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from benchmarks.corpora import data_home
from labelspace import metrics
from labelspace.data import TextFeatures, read_corpus
from labelspace.models import NearestNeighbors

N_VALID = 5000
CHOICES: dict[str, dict[str, Any]] = {
    "TextFeatures()": {},
    "ngrams=2": {"ngrams": 2},
    "char_ngrams=(3, 5)": {"char_ngrams": (3, 5)},
    "n_hashes=2**18": {"n_hashes": 2**18},
    "max_df=0.2": {"max_df": 0.2},
}


def main() -> None:
    """Print a line for each choice."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", choices=["wordnet", "eurlex57k", "tibkat"])
    parser.add_argument("--choices", nargs="*", default=list(CHOICES))
    chosen = parser.parse_args()
    folder = data_home() / chosen.corpus
    corpus = read_corpus(folder / "train.tsv.xz")
    rows = np.random.default_rng(0).permutation(len(corpus))
    valid, train = np.sort(rows[:N_VALID]), np.sort(rows[N_VALID:])
    texts = corpus.texts or []
    given = read_corpus(folder / "train.txt.xz").X
    assert given is not None
    _measure("as given", given[train], given[valid], corpus.Y[train], corpus.Y[valid], 0.0)
    for name in chosen.choices:
        began = time.process_time()
        features = TextFeatures(**CHOICES[name])
        X = features.fit_transform(texts[row] for row in train)
        V = features.transform(texts[row] for row in valid)
        seconds = time.process_time() - began
        _measure(name, X, V, corpus.Y[train], corpus.Y[valid], seconds)


def _measure(
    name: str, X: csr_matrix, V: csr_matrix, Y: csr_matrix, Y_valid: csr_matrix, seconds: float
) -> None:
    top = NearestNeighbors().fit(X, Y).predict_topk(V, 5)
    figures = metrics.evaluate(Y_valid, top)
    accuracy = " / ".join(f"{figures[f'P@{k}']:.1f}" for k in (1, 3, 5))
    print(
        f"| `{name}` | {accuracy} | {X.shape[1]:,} features, {X.nnz / X.shape[0]:.0f} per row, "
        f"{seconds:.1f} s of CPU |",
        flush=True,
    )


if __name__ == "__main__":
    main()
