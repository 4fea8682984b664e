"""Compiled loops that stack votes, margins and cosines into probabilities."""

from __future__ import annotations

import numpy as np

from labelspace._topk_kernels import insert
from labelspace.compiling import njit

N_TERMS = 19
SMALLEST_SHARE = 0.01
LARGEST_MARGIN = 2.5


@njit(cache=True, nogil=True)
def _expand(margin, share, cosine, count, terms):
    """Write φ. Frequencies are centred where most labels of most corpora are."""
    m = min(max(margin, -LARGEST_MARGIN), LARGEST_MARGIN)
    s = np.log(share + SMALLEST_SHARE)
    f = (np.log(1.0 + count) - 4.0) / 2.0
    terms[0] = 1.0
    terms[1] = m
    terms[2] = s
    terms[3] = m * s
    terms[4] = share
    terms[5] = f
    terms[6] = f * m
    terms[7] = f * s
    terms[8] = max(m + 1.0, 0.0)
    terms[9] = max(m + 0.5, 0.0)
    terms[10] = max(m, 0.0)
    terms[11] = max(m - 0.5, 0.0)
    terms[12] = max(s + 3.0, 0.0)
    terms[13] = max(s + 2.0, 0.0)
    terms[14] = max(s + 1.0, 0.0)
    terms[15] = f * f
    terms[16] = cosine
    terms[17] = cosine * f
    terms[18] = cosine * m


@njit(cache=True, nogil=True)
def expand_terms(labels, margins, shares, cosines, counts, expanded):
    for at in range(labels.shape[0]):
        _expand(margins[at], shares[at], cosines[at], counts[labels[at]], expanded[at])


@njit(cache=True, nogil=True)
def weigh_terms(labels, margins, shares, cosines, counts, weights, probabilities):
    terms = np.empty(N_TERMS)
    for row in range(labels.shape[0]):
        for at in range(labels.shape[1]):
            label = labels[row, at]
            if label >= 0:
                _expand(margins[row, at], shares[row, at], cosines[row, at], counts[label], terms)
                logit = 0.0
                for term in range(N_TERMS):
                    logit += weights[term] * terms[term]
                probabilities[row, at] = 1.0 / (1.0 + np.exp(-min(max(logit, -30.0), 30.0)))


@njit(cache=True, nogil=True)
def best_candidates(labels, scores, best_labels, best_scores):
    """Keep the largest scores, best first, the smaller label on a tie."""
    for row in range(labels.shape[0]):
        filled = 0
        for at in range(labels.shape[1]):
            label, score = labels[row, at], scores[row, at]
            if label < 0:
                continue
            filled = insert(best_labels[row], best_scores[row], filled, label, score)
