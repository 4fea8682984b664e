"""Two halves of the rows held out, each judged by what the other one teaches.

So it is known what probabilities are worth on rows that nothing was learned from, and how many
trees are: with few rows held out, the first trees correct what is wrong everywhere and later ones
what only these rows have. Two halves together bear twice as many trees as were best for a half that
did not grow them; none, where every tree makes it worse.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.calibration import Calibration
from labelspace.models.labelspace.candidates import Candidates
from labelspace.models.labelspace.stacking import (
    ALONE,
    Stacker,
    best_candidates,
    describe_shortlist,
    learn_stacker,
)


class CrossFit:
    """Stackers of two halves of the rows.

    Parameters
    ----------
    candidates, Y, label_counts, partners
        As ``learn_stacker`` takes them.
    n_trees : int
        Trees that each half grows.
    """

    def __init__(
        self,
        candidates: Candidates,
        Y: csr_matrix,
        label_counts: NDArray[np.int64],
        partners: csr_matrix = ALONE,
        *,
        n_trees: int = 100,
    ) -> None:
        self._told = label_counts, partners
        self._n_trees = n_trees
        self._shape = candidates.labels.shape
        first = np.arange(len(candidates.labels)) % 2 == 0
        halves = [(half, candidates.some(half), csr_matrix(Y[half])) for half in (first, ~first)]
        # Each half's rows, their labels, and the stacker that knows the other half only.
        self._judged = [
            (rows, asked, truth, learn_stacker(*others[1:], *self._told, n_trees=n_trees))
            for (rows, asked, truth), others in zip(halves, halves[::-1], strict=True)
        ]

    def best_n_trees(self) -> int:
        """Return with how many trees the log loss of rows not learned from is least."""
        n_trees = min(stacker.trees.n_trees for *_, stacker in self._judged)
        if not n_trees:
            return 0
        losses = np.zeros(n_trees + 1)
        for _, asked, truth, stacker in self._judged:
            case = describe_shortlist(stacker, asked, truth, *self._told)
            losses += stacker.trees.losses(case.features, case.is_true, case.logits)[: n_trees + 1]
        return int(losses.argmin())

    def n_trees_for_all(self, n_trees: int) -> int:
        """Return how many trees all rows bear where each half bears so many."""
        return min(2 * n_trees, self._n_trees)

    def probabilities(self, n_trees: int) -> NDArray[np.float32]:
        """Return the probability of each candidate by so many trees of the other half."""
        probabilities = np.zeros(self._shape, dtype=np.float32)
        for rows, asked, _, stacker in self._judged:
            few = Stacker(stacker.weights, stacker.trees.first(n_trees))
            probabilities[rows] = few.probabilities(asked, *self._told)
        return probabilities


def measure_scores(
    candidates: Candidates,
    probabilities: NDArray[np.float32],
    Y: csr_matrix,
    gains: NDArray[np.float32] | None,
) -> Calibration:
    """Measure scores on rows held out: probabilities, times what each label gains if given."""
    ranked = best_candidates(candidates.labels, probabilities, candidates.labels.shape[1])
    if gains is None:
        return Calibration(ranked, ranked, Y)
    scores = probabilities * gains[np.maximum(candidates.labels, 0)]
    return Calibration(best_candidates(candidates.labels, scores, ranked.k), ranked, Y)
