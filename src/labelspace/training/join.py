"""Learn on rows held out how votes and classifiers are joined into a probability.

Logistic regression on the terms of ``search.joined``, by Newton's method, drawn towards the usual
weights as by a few pseudo-rows. A row has many candidates that nobody would take for its labels;
only its best ones, by the usual weights, are learned from, since only they compete for the top.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.special import expit

from labelspace.search.evidence import Evidence
from labelspace.search.joined import Join, best_candidates, terms, usual_weights

COMPETING = 40
PSEUDO_ROWS = 20.0
_NEWTON_STEPS = 30
_SMALLEST_STEP = 1e-4


def learn_join(evidence: Evidence, Y: csr_matrix, label_counts: NDArray[np.int64]) -> Join:
    """Return a join that makes candidates' probabilities fit ``Y``, their rows' true labels."""
    competing = _competing(evidence, label_counts)
    there = competing.labels >= 0
    if not there.any():
        return Join()
    rows = np.repeat(np.arange(len(there)), there.sum(axis=1))
    is_true = np.asarray(Y[rows, competing.labels[there]]).ravel() > 0
    return Join(logistic(terms(competing, label_counts), is_true, usual_weights(), PSEUDO_ROWS))


def unseen_probabilities(
    evidence: Evidence, Y: csr_matrix, label_counts: NDArray[np.int64]
) -> NDArray[np.float32]:
    """Return probabilities of candidates, each half of the rows by what the other half teaches."""
    probabilities = np.zeros(evidence.labels.shape, dtype=np.float32)
    first = np.arange(len(probabilities)) % 2 == 0
    for learned, judged in ((first, ~first), (~first, first)):
        half = Evidence(*(part[learned] for part in evidence))
        join = learn_join(half, csr_matrix(Y[learned]), label_counts)
        other = Evidence(*(np.ascontiguousarray(part[judged]) for part in evidence))
        probabilities[judged] = join.probabilities(other, label_counts)
    return probabilities


def logistic(
    A: NDArray[np.float64],
    y: NDArray[np.bool_],
    start: NDArray[np.float64],
    pseudo_rows: float,
) -> NDArray[np.float64]:
    """Return the weights w that minimise the log loss of σ(A·w), kept near ``start``.

    The pull is that of ``pseudo_rows`` rows: weights whose terms vary more are held more loosely
    than their scale alone would.
    """
    spread = A.var(axis=0) + 1e-3
    pull = pseudo_rows * spread * 0.25

    def loss(w: NDArray[np.float64]) -> float:
        logits = A @ w
        missed = np.logaddexp(0.0, np.where(y, -logits, logits)).sum()
        return float(missed + 0.5 * (pull * np.square(w - start)).sum())

    w, reached = start.copy(), loss(start)
    for _ in range(_NEWTON_STEPS):
        p = expit(A @ w)
        slope = A.T @ (p - y) + pull * (w - start)
        curvature = (A * (p * (1.0 - p))[:, np.newaxis]).T @ A + np.diag(pull)
        step = np.linalg.solve(curvature, slope)
        # Far from the answer a full step may lead away from it.
        while (ahead := loss(w - step)) > reached and np.abs(step).max() > _SMALLEST_STEP:
            step *= 0.5
        if ahead > reached:
            break
        w, reached = w - step, ahead
        if np.abs(step).max() < _SMALLEST_STEP:
            break
    return w


def _competing(evidence: Evidence, label_counts: NDArray[np.int64]) -> Evidence:
    """Return the best candidates of each row by the usual join, in no particular order."""
    usual = Join().probabilities(evidence, label_counts)
    k = min(COMPETING, evidence.labels.shape[1])
    top = best_candidates(evidence.labels, usual, k)
    # Where each of them stands among the candidates.
    place = np.zeros(top.labels.shape, dtype=np.int64)
    for at in range(k):
        place[:, at] = (evidence.labels == top.labels[:, [at]]).argmax(axis=1)
    return Evidence(top.labels, *(np.take_along_axis(part, place, axis=1) for part in evidence[1:]))
