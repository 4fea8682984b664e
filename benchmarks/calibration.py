"""What LabelSpace's probabilities and thresholds are worth: a table of its page.

    python -m benchmarks.calibration bibtex delicious

Trains the default on the train rows of each corpus and counts on its test rows. A line has the
expected calibration error that training itself measured and that on test rows, then what the
thresholds ``"f1"`` and ``"precision=0.9"`` reach there.
"""

from __future__ import annotations

import argparse

from scipy.sparse import csr_matrix

from benchmarks.corpora import BY_SIZE, prepare
from benchmarks.jobs import Job
from labelspace import metrics
from labelspace.models import LabelSpace

HEADER = """\
| corpus | ECE, held out | ECE, test | F1 of `k=5` | F1 of `"f1"` | precision, recall of `"f1"` \
| precision, recall of `"precision=0.9"` |
|---|---|---|---|---|---|---|"""


def main() -> None:
    """Print a line for each corpus."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpora", nargs="+", choices=BY_SIZE)
    print(HEADER, flush=True)
    for name in parser.parse_args().corpora:
        print(line(name), flush=True)


def line(name: str) -> str:
    """Train on a corpus; return its line of the table."""
    job = Job(subject="", method="", data=str(prepare(name).folder), folder="")
    X, Y = job.matrix("test_X"), job.matrix("test_Y")
    model = LabelSpace(random_state=0).fit(job.matrix("train_X"), job.matrix("train_Y"))
    error = metrics.calibration_error(Y, model.predict_topk(X, 5))
    best = model.predict(X, threshold="f1")
    cells = [
        name,
        f"{model.calibration_.error:.1f}",
        f"{error:.1f}",
        f"{metrics.f1(Y, model.predict(X, k=5))['micro-F1']:.1f}",
        f"{metrics.f1(Y, best)['micro-F1']:.1f}",
        _precision_and_recall(Y, best),
        _precision_and_recall(Y, model.predict(X, threshold="precision=0.9")),
    ]
    return f"| {' | '.join(cells)} |"


def _precision_and_recall(Y: csr_matrix, given: csr_matrix) -> str:
    right = given.multiply(Y).nnz
    return f"{100 * right / max(given.nnz, 1):.1f}, {100 * right / max(Y.nnz, 1):.1f}"


if __name__ == "__main__":
    main()
