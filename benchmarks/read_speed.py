"""How much faster XC text is read than by scikit-learn, on the same headerless file in one run.

    python -m benchmarks.read_speed train.txt.xz [--repeats 3]

The corpus given (any format with features) is written once as multi-label svmlight, which both
can read. They take turns, so that a busy machine slows both; the best of each is compared.
Compiling our kernels, which happens once per installation, is not counted: a first, untimed
reading does it.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import warnings
from pathlib import Path
from typing import Any

from sklearn.datasets import load_svmlight_file

from benchmarks.measure import Stopwatch
from labelspace.data import read_corpus, write_corpus
from labelspace.errors import LabelspaceWarning


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", LabelspaceWarning)
        path = Path(folder, "corpus.svm")
        corpus = read_corpus(arguments.corpus)
        corpus.label_names = corpus.feature_names = None
        write_corpus(corpus, path)
        print(json.dumps(compare(path, arguments.repeats), indent=1))


def compare(path: Path, repeats: int) -> dict[str, Any]:
    """Return wall and CPU seconds of both readers, and the ratios."""
    ours = read_corpus(path)
    us, them = [], []
    for _ in range(repeats):
        with Stopwatch() as watch:
            read_corpus(path)
        us.append(watch)
        with Stopwatch() as watch:
            theirs, _ = load_svmlight_file(
                str(path), multilabel=True, zero_based=True, n_features=ours.n_features
            )
        them.append(watch)
    assert ours.X is not None
    assert (theirs.astype(ours.X.dtype) != ours.X).nnz == 0
    result: dict[str, Any] = {"mebibytes": round(path.stat().st_size / 2**20, 1)}
    for what in ("wall_s", "cpu_s"):
        best, their_best = (
            min(getattr(watch, what) for watch in watches) for watches in (us, them)
        )
        result |= {
            f"labelspace_{what}": round(best, 3),
            f"scikit_learn_{what}": round(their_best, 3),
            f"times_as_fast_{what}": round(their_best / best, 1),
        }
    return result


if __name__ == "__main__":
    main()
