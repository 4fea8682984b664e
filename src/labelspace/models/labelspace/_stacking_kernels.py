"""Compiled loops that stack votes, margins and cosines into probabilities."""

from __future__ import annotations

import numpy as np

from labelspace._topk_kernels import insert
from labelspace.compiling import njit
from labelspace.models.labelspace._boosting_kernels import N_FEATURES, ask
from labelspace.models.labelspace._name_kernels import WHOLE
from labelspace.models.labelspace._partner_kernels import keep_company

N_TERMS = 23
N_VECTOR_TERMS = 4  # more, where there are vectors of an encoder
FIRST_PARTNER = 24  # of the figures that trees ask about
FIRST_VECTOR = 27
SMALLEST_SHARE = 0.01
LARGEST_MARGIN = 2.5


@njit(cache=True, nogil=True)
def _expand(margin, share, cosine, count, name, vector, terms):
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
    whole = 1.0 if name[0] > WHOLE else 0.0
    terms[19] = name[0]
    terms[20] = whole
    terms[21] = whole * f
    terms[22] = name[3]
    if vector.shape[0]:
        terms[23] = vector[0]
        terms[24] = f * vector[0]
        terms[25] = vector[1]
        terms[26] = f * vector[1]


@njit(cache=True, nogil=True)
def expand_terms(labels, margins, shares, cosines, names, vectors, counts, expanded):
    for at in range(labels.shape[0]):
        evidence = margins[at], shares[at], cosines[at]
        _expand(*evidence, counts[labels[at]], names[at], vectors[at], expanded[at])


@njit(cache=True, nogil=True)
def weigh_terms(labels, margins, shares, cosines, names, vectors, counts, weights, probabilities):
    terms = np.empty(N_TERMS + N_VECTOR_TERMS)
    for row in range(labels.shape[0]):
        for at in range(labels.shape[1]):
            label = labels[row, at]
            if label >= 0:
                evidence = margins[row, at], shares[row, at], cosines[row, at]
                _expand(*evidence, counts[label], names[row, at], vectors[row, at], terms)
                logit = 0.0
                for term in range(weights.shape[0]):
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


@njit(cache=True, nogil=True)
def shortlist(labels, probabilities, places):
    """Write where each row's most probable candidates stand, best first; -1 where it has fewer."""
    best = np.empty(places.shape[1], dtype=np.float32)
    for row in range(labels.shape[0]):
        filled = 0
        for at in range(labels.shape[1]):
            if labels[row, at] >= 0:
                filled = insert(places[row], best, filled, np.int64(at), probabilities[row, at])
        places[row, filled:] = -1


@njit(cache=True, nogil=True)
def describe(
    places, labels, margins, shares, cosines, nearest, n_voters, names, vectors, rows, counts,
    described,
):  # fmt: skip
    """Write the features of a row's shortlisted candidates, (n_short, N_FEATURES)."""
    n_short = 0
    n_positive = 0
    largest_margin = np.float32(-1e9)
    largest_share = np.float32(1e-9)
    while n_short < places.shape[0] and places[n_short] >= 0:
        at = places[n_short]
        largest_margin = max(largest_margin, margins[at])
        largest_share = max(largest_share, shares[at])
        n_positive += margins[at] > 0.0
        n_short += 1
    rivals = np.empty((4, n_short), dtype=np.float32)
    for number in range(n_short):
        at = places[number]
        rivals[0, number] = margins[at]
        rivals[1, number] = shares[at]
        rivals[2, number] = cosines[at]
        rivals[3, number] = names[at, 1]
    for number in range(n_short):
        at = places[number]
        by_margin = _n_larger(rivals[0], number)
        by_share = _n_larger(rivals[1], number)
        by_cosine = _n_larger(rivals[2], number)
        by_name = _n_larger(rivals[3], number)
        one = described[number]
        one[0] = margins[at]
        one[1] = np.log(shares[at] + np.float32(1e-3))
        one[2] = cosines[at]
        one[3] = np.log(np.float32(1.0) + np.float32(counts[labels[at]]))
        one[4] = margins[at] - largest_margin
        one[5] = by_margin
        one[6] = by_share
        one[7] = by_cosine
        one[8] = shares[at] / largest_share
        one[9] = nearest[at]
        one[10] = n_voters[at]
        one[11] = rows[0]
        one[12] = rows[1]
        one[13] = rows[2]
        one[14] = rows[3]
        one[15] = n_positive
        one[16] = largest_share
        one[17] = largest_margin
        one[18:23] = names[at]
        one[23] = by_name
        one[FIRST_VECTOR:] = np.float32(0.0)
        for figure in range(vectors.shape[1]):
            one[FIRST_VECTOR + figure] = vectors[at, figure]
    return n_short


@njit(cache=True, nogil=True)
def _n_larger(values, number):
    n_larger = np.int32(0)
    for other in range(values.shape[0]):
        n_larger = np.int32(n_larger + np.int32(values[other] > values[number]))
    return n_larger


@njit(cache=True, nogil=True)
def describe_all(
    places, labels, margins, shares, cosines, nearest, n_voters, names, vectors, rows, counts,
    partner_ptr, partners, partner_shares, place_of, probabilities, described, owner, at_,
):  # fmt: skip
    """Write the features of all shortlisted candidates, one after the other; return their number.

    ``owner`` and ``at_`` get the row and the place of each. ``place_of`` is -1 for all labels that
    may have partners.
    """
    filled = 0
    for row in range(labels.shape[0]):
        n_short = describe(
            places[row], labels[row], margins[row], shares[row], cosines[row], nearest[row],
            n_voters[row], names[row], vectors[row], rows[row], counts,
            described[filled : filled + places.shape[1]],
        )  # fmt: skip
        keep_company(
            places[row], n_short, labels[row], probabilities[row], partner_ptr, partners,
            partner_shares, place_of,
            described[filled : filled + n_short, FIRST_PARTNER:FIRST_VECTOR],
        )  # fmt: skip
        for number in range(n_short):
            owner[filled + number] = row
            at_[filled + number] = places[row, number]
        filled += n_short
    return filled


@njit(cache=True, nogil=True)
def correct(
    places, labels, margins, shares, cosines, nearest, n_voters, names, vectors, rows, counts,
    partner_ptr, partners, partner_shares, place_of, splits, thresholds, values, probabilities,
):  # fmt: skip
    """Let the trees correct the probabilities of shortlisted candidates."""
    described = np.empty((places.shape[1], N_FEATURES), dtype=np.float32)
    columns = np.empty((N_FEATURES, places.shape[1]), dtype=np.float32)
    leaves = np.empty(places.shape[1], dtype=np.int32)
    added = np.empty(places.shape[1], dtype=np.float32)
    for row in range(labels.shape[0]):
        n_short = describe(
            places[row], labels[row], margins[row], shares[row], cosines[row], nearest[row],
            n_voters[row], names[row], vectors[row], rows[row], counts, described,
        )  # fmt: skip
        keep_company(
            places[row], n_short, labels[row], probabilities[row], partner_ptr, partners,
            partner_shares, place_of, described[:n_short, FIRST_PARTNER:FIRST_VECTOR],
        )  # fmt: skip
        ask(described[:n_short], splits, thresholds, values, columns, leaves, added)
        for number in range(n_short):
            at = places[row, number]
            p = min(max(probabilities[row, at], np.float32(1e-6)), np.float32(1.0 - 1e-6))
            logit = np.log(p / (np.float32(1.0) - p))
            logit += added[number]
            probabilities[row, at] = np.float32(1.0) / (np.float32(1.0) + np.exp(-logit))
