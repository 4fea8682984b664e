"""Compiled loops that find sparse vectors again from random sums of them."""

from __future__ import annotations

import numpy as np

from labelspace._topk_kernels import insert
from labelspace.compiling import njit

COSAMP_TURNS = 8


@njit(cache=True, nogil=True)
def sign(row, column):
    """Return the entry ±1 of the Hadamard matrix: whether the bits in common are even in number."""
    bits = np.uint64(row & column)
    bits ^= bits >> np.uint64(32)
    bits ^= bits >> np.uint64(16)
    bits ^= bits >> np.uint64(8)
    bits ^= bits >> np.uint64(4)
    bits ^= bits >> np.uint64(2)
    bits ^= bits >> np.uint64(1)
    return np.float32(1.0) - np.float32(2.0) * np.float32(bits & np.uint64(1))


@njit(cache=True, nogil=True)
def random_sums(indptr, indices, sums, first, last, codes):
    """Add up the columns of each row's labels."""
    scale = np.float32(1.0 / np.sqrt(max(sums.shape[0], 1)))
    for row in range(first, last):
        for at in range(indptr[row], indptr[row + 1]):
            for place in range(sums.shape[0]):
                codes[row, place] += scale * sign(sums[place], indices[at])


@njit(cache=True, nogil=True)
def transform(values):
    """Multiply by the Hadamard matrix, in place: n log n instead of n²."""
    half = 1
    while half < values.shape[0]:
        for start in range(0, values.shape[0], 2 * half):
            for at in range(start, start + half):
                one, other = values[at], values[at + half]
                values[at] = one + other
                values[at + half] = one - other
        half *= 2


@njit(cache=True, nogil=True)
def correlate(residual, sums, scale, values):
    """Put Aᵀr into ``values``, a number for each label."""
    values[:] = np.float32(0.0)
    for place in range(sums.shape[0]):
        values[sums[place]] = scale * residual[place]
    transform(values)


@njit(cache=True, nogil=True)
def fit_support(code, sums, scale, support, n_support, found, residual):
    """Solve the least squares problem of some labels; fill in their values and what is left over.

    A little ridge keeps labels apart whose columns are the same.
    """
    gram = np.zeros((n_support, n_support), dtype=np.float64)
    wanted = np.zeros(n_support, dtype=np.float64)
    columns = np.empty((n_support, sums.shape[0]), dtype=np.float32)
    for one in range(n_support):
        for place in range(sums.shape[0]):
            columns[one, place] = scale * sign(sums[place], support[one])
            wanted[one] += columns[one, place] * code[place]
    for one in range(n_support):
        for other in range(one + 1):
            product = 0.0
            for place in range(sums.shape[0]):
                product += columns[one, place] * columns[other, place]
            gram[one, other] = product
            gram[other, one] = product
        gram[one, one] += 1e-4
    solved = np.linalg.solve(gram, wanted)
    for place in range(sums.shape[0]):
        residual[place] = code[place]
    for one in range(n_support):
        found[one] = solved[one]
        for place in range(sums.shape[0]):
            residual[place] -= np.float32(solved[one]) * columns[one, place]


@njit(cache=True, nogil=True)
def matching_pursuit(codes, sums, n_labels, size, first, last, labels, scores):
    """Take the label that fits what is left over best, fit all that were taken, and again."""
    k = labels.shape[1]
    scale = np.float32(1.0 / np.sqrt(max(sums.shape[0], 1)))
    values = np.empty(size, dtype=np.float32)
    residual = np.empty(sums.shape[0], dtype=np.float32)
    support = np.empty(k, dtype=np.int64)
    found = np.empty(k, dtype=np.float64)
    for row in range(first, last):
        residual[:] = codes[row]
        for n_support in range(k):
            correlate(residual, sums, scale, values)
            support[n_support] = _best_new(values, n_labels, support, n_support)
            fit_support(codes[row], sums, scale, support, n_support + 1, found, residual)
        _rank(support, found, k, labels[row], scores[row])


@njit(cache=True, nogil=True)
def cosamp(codes, sums, n_labels, size, first, last, labels, scores):
    """Take many labels that fit what is left over, fit them, keep the best, and again."""
    k = labels.shape[1]
    scale = np.float32(1.0 / np.sqrt(max(sums.shape[0], 1)))
    values = np.empty(size, dtype=np.float32)
    residual = np.empty(sums.shape[0], dtype=np.float32)
    most = min(3 * k, n_labels)
    support = np.empty(most, dtype=np.int64)
    found = np.empty(most, dtype=np.float64)
    kept = np.empty(k, dtype=np.int64)
    kept_sizes = np.empty(k, dtype=np.float32)
    for row in range(first, last):
        residual[:] = codes[row]
        n_support = 0
        for _ in range(COSAMP_TURNS):
            correlate(residual, sums, scale, values)
            wanted = min(n_support + 2 * k, most)
            while n_support < wanted:
                support[n_support] = _largest_new(values, n_labels, support, n_support)
                n_support += 1
            fit_support(codes[row], sums, scale, support, n_support, found, residual)
            filled = 0
            for one in range(n_support):
                filled = insert(kept, kept_sizes, filled, support[one], np.float32(abs(found[one])))
            n_support = filled
            support[:n_support] = kept[:n_support]
            fit_support(codes[row], sums, scale, support, n_support, found, residual)
        _rank(support, found, n_support, labels[row], scores[row])


@njit(cache=True, nogil=True)
def _best_new(values, n_labels, support, n_support):
    """Return the label of the largest value that was not taken yet."""
    best = -1
    for label in range(n_labels):
        if best < 0 or values[label] > values[best]:
            if not _taken(support, n_support, label):
                best = label
    return best


@njit(cache=True, nogil=True)
def _largest_new(values, n_labels, support, n_support):
    """Return the label whose value is farthest from zero and that was not taken yet."""
    best = -1
    for label in range(n_labels):
        if best < 0 or abs(values[label]) > abs(values[best]):
            if not _taken(support, n_support, label):
                best = label
    return best


@njit(cache=True, nogil=True)
def _taken(support, n_support, label):
    for one in range(n_support):
        if support[one] == label:
            return True
    return False


@njit(cache=True, nogil=True)
def _rank(support, found, n_support, labels, scores):
    filled = 0
    for one in range(n_support):
        filled = insert(labels, scores, filled, support[one], np.float32(found[one]))
