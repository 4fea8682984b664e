"""Compiled loops that count which labels go together, and ask who of a row's candidates do."""

from __future__ import annotations

import numpy as np

from labelspace._topk_kernels import insert
from labelspace.compiling import njit

FEWEST = 2  # rows that have two labels, for these to be partners
MOST_ROWS = 10_000  # of a label that are looked at


@njit(cache=True, nogil=True)
def count_partners(label_ptr, rows, row_ptr, row_labels, chosen, counts, partners, shares):
    """Write the labels that most often go with each of ``chosen``; -1 where there are fewer.

    Of labels as often together, the rarer says more. ``shares`` are of a label's rows those that
    have the other, too.
    """
    together = np.zeros(counts.shape[0], dtype=np.int64)
    met = np.empty(counts.shape[0], dtype=np.int64)
    scores = np.empty(partners.shape[1], dtype=np.float32)
    for number in range(chosen.shape[0]):
        label = chosen[number]
        n_met = 0
        n_rows = label_ptr[label + 1] - label_ptr[label]
        step = max((n_rows + MOST_ROWS - 1) // MOST_ROWS, 1)
        n_seen = 0
        for at in range(label_ptr[label], label_ptr[label + 1], step):
            n_seen += 1
            for entry in range(row_ptr[rows[at]], row_ptr[rows[at] + 1]):
                other = row_labels[entry]
                if other == label:
                    continue
                if together[other] == 0:
                    met[n_met] = other
                    n_met += 1
                together[other] += 1
        filled = 0
        for at in range(n_met):
            other = met[at]
            if together[other] >= FEWEST:
                score = np.float32(together[other] / np.sqrt(counts[other] + 1.0))
                filled = insert(partners[number], scores, filled, np.int64(other), score)
        partners[number, filled:] = -1
        for at in range(filled):
            shares[number, at] = together[partners[number, at]] / (n_seen + 1.0)
        for at in range(n_met):
            together[met[at]] = 0


@njit(cache=True, nogil=True)
def keep_company(
    places, n_short, labels, probabilities, partner_ptr, partners, shares, place_of, told
):
    """Write what the other candidates of a row say for each: ``told`` is (n_short, 3).

    That is how often it goes with them, in sum and with one of them at most, and how often they
    go with it, each weighted by how probable the other is. ``place_of`` is -1 for all labels
    before and after.
    """
    n_labels = place_of.shape[0]
    for number in range(n_short):
        told[number, :] = np.float32(0.0)
        if labels[places[number]] < n_labels:
            place_of[labels[places[number]]] = number
    for number in range(n_short):
        label = labels[places[number]]
        if label >= n_labels:
            continue
        p = probabilities[places[number]]
        for at in range(partner_ptr[label], partner_ptr[label + 1]):
            other = place_of[partners[at]]
            if other >= 0:
                brought = p * shares[at]
                told[other, 0] += brought
                told[other, 1] = max(told[other, 1], brought)
                told[number, 2] += probabilities[places[other]] * shares[at]
    for number in range(n_short):
        if labels[places[number]] < n_labels:
            place_of[labels[places[number]]] = -1
