"""Which words of texts should count: tried on a sample of the training texts, some held out.

Pairs of words help short texts, pieces of words help languages of long compounds, stems help where
words have many endings, and words of the beginning tell more where titles stand there; each costs
where it does not help. Ridge regression on all labels needs nothing but how like rows are
(``weighing``), so that a choice takes seconds. What is not usual has to be worth it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from labelspace import progress
from labelspace.data.text.encoding.weighing import RidgeTrial
from labelspace.data.text.features import TextFeatures
from labelspace.selection import FEWEST_ROWS, hold_out

AUTO = "auto"
# The usual one first, then those with more features.
CHOICES: tuple[dict[str, Any], ...] = (
    {},
    {"stems": True},
    {"ngrams": 2},
    {"char_ngrams": (4, 4)},
)
LEAD = {"lead": 12}  # tried with the best of these
N_LEARNED, N_ASKED = 2500, 1000
WORTH = 0.5  # nDCG@5 in percent that a choice has to bring over each that is cheaper
MOST_CHARS = 4000  # of a text that are looked at


def choose_features(texts: Sequence[str], Y: csr_matrix, seed: int = 0) -> TextFeatures:
    """Return features, not fitted yet, with which labels of held-out texts are ranked best.

    They are the usual ones where there are too few texts with labels to tell.

    Examples
    --------
    >>> choose_features(["a red ball", "a green cube"], csr_matrix(np.eye(2)))
    TextFeatures()
    """
    labelled = np.flatnonzero(np.diff(Y.indptr))
    if len(labelled) < FEWEST_ROWS:
        return TextFeatures()
    rows = hold_out(labelled, N_LEARNED + N_ASKED, seed)
    asked = hold_out(rows, min(N_ASKED, len(rows) // 3), seed + 1)
    learned = np.setdiff1d(rows, asked)
    both = np.concatenate((learned, asked))
    sample = [str(texts[row])[:MOST_CHARS] for row in both]
    trial = RidgeTrial(csr_matrix(Y[both]), len(learned))
    best, reached = CHOICES[0], -np.inf
    with progress.task("Choosing features of texts", len(CHOICES) + 1) as advance:
        for at in range(len(CHOICES) + 1):
            choice = CHOICES[at] if at < len(CHOICES) else best | LEAD
            X = TextFeatures(**choice).fit_transform(sample)
            likeness: Any = (X @ X.T).toarray()
            figure = trial.figure(likeness)
            if figure >= reached + (WORTH if choice else 0.0):
                best, reached = choice, figure
            advance(1)
    return TextFeatures(**best)
