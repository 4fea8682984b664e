"""How many dimensions do labels need? ``study glas theory``.

Theorems 2.1 and B.1 of the GLaS paper say that there are label vectors of few dimensions from which
all training labels can be read off, and their proofs build them. Here they are built, on bibtex and
wordnet, with more and more dimensions until every row is read without a mistake:

- 2.1: label vectors of random signs, v ∈ {±1/√d}; a row is the sum of its labels' vectors, and its
  labels are those with φ·v > ½. The proof asks for d = ⌈18 s ln(4 min(n, K^s))⌉, s the most labels
  that a row has.
- B.1: a row is a random projection of its unit vector e_x, a label the same projection of
  Σ e_x / √count; labels are those with φ·v > ε = 1/(2√a), a the largest count of a label. For all
  inner products to be kept within ε, d = 4 ln(4 (nK + K²)) / (ε² − ε³) is enough. Head labels make
  a, and d with it, as large as the corpus, so labels with a count above ``a`` are left out.

A row counts as right if exactly its labels are read. Rows are the distinct label sets of the corpus
(3,000 of them on wordnet, the largest among them).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from benchmarks.studies.lines import Measured
from benchmarks.studies.source import Source
from benchmarks.studies.study import Figures, Trial

N_SETS = 3000
LARGEST_DIM = 16384
CAPS = {"bibtex": (60, 100, 200), "wordnet": (5, 10, 20)}
"""The largest counts of labels that B.1 is tried with."""

Construction = Callable[[csr_matrix, NDArray[np.int64], int, int], float]


def trials() -> list[Trial]:
    """Return a trial for each theorem and cap."""
    found = []
    for corpus, caps in CAPS.items():
        found.append(Trial("theory", corpus, "2.1"))
        found += [Trial("theory", corpus, "B.1", {"a": cap}) for cap in caps]
    return found


def measure(trial: Trial, source: Source) -> Iterator[tuple[Trial, Figures]]:
    """Return the share of rows read rightly at growing dimensions, and the theorem's bound."""
    Y = source.split(trial.corpus).Y
    n, K = Y.shape
    figures: Figures = {"n": n, "K": K}
    if trial.variant == "2.1":
        s = int(np.diff(Y.indptr).max())
        bound = int(np.ceil(18 * s * min(np.log(4.0 * n), np.log(4.0) + s * np.log(K))))
        yield trial, figures | _grow(sums_of_signs, Y, _sets(Y)) | {"s": s, "bound": bound}
        return
    cap = trial.parameters["a"]
    counts = np.bincount(Y.indices, minlength=K)
    kept = csr_matrix(Y[:, np.flatnonzero((counts <= cap) & (counts > 0))])
    epsilon = 0.5 / np.sqrt(cap)
    pairs = float(n) * kept.shape[1] + float(kept.shape[1]) ** 2
    bound = int(np.ceil(4 * np.log(4 * pairs) / (epsilon**2 - epsilon**3)))
    figures |= _grow(projected_counts, kept, _sets(kept))
    yield trial, figures | {"a": cap, "labels": kept.shape[1], "bound": bound}


def sums_of_signs(Y: csr_matrix, rows: NDArray[np.int64], dim: int, seed: int) -> float:
    """Return the share of ``rows`` that theorem 2.1's construction reads rightly."""
    V = _signs(Y.shape[1], dim, seed)
    return _read_rightly(Y[rows], np.asarray(Y[rows] @ V), V, 0.5)


def projected_counts(Y: csr_matrix, rows: NDArray[np.int64], dim: int, seed: int) -> float:
    """Return the share of ``rows`` that theorem B.1's construction reads rightly."""
    counts = np.maximum(np.bincount(Y.indices, minlength=Y.shape[1]), 1)
    signs = _signs(Y.shape[0], dim, seed)
    V = np.asarray(Y.T @ signs) / np.sqrt(counts)[:, np.newaxis].astype(np.float32)
    return _read_rightly(Y[rows], signs[rows], V, 0.5 / np.sqrt(counts.max()))


def _signs(n: int, dim: int, seed: int) -> NDArray[np.float32]:
    """Return vectors of random signs, of length one."""
    signs = np.array([-1.0, 1.0], dtype=np.float32)
    drawn: NDArray[np.float32] = np.random.default_rng(seed).choice(signs, size=(n, dim))
    drawn /= np.float32(np.sqrt(dim))
    return drawn


def _read_rightly(Y: csr_matrix, Z: NDArray, V: NDArray, threshold: float) -> float:
    right = 0
    for start in range(0, Y.shape[0], 500):
        read = Z[start : start + 500] @ V.T > threshold
        right += int(np.all(read == (Y[start : start + 500].toarray() > 0), axis=1).sum())
    return right / Y.shape[0]


def _sets(Y: csr_matrix) -> NDArray[np.int64]:
    """Return one row for each distinct label set, the largest sets first, at most N_SETS."""
    ends = zip(Y.indptr[:-1], Y.indptr[1:], strict=True)
    first = {Y.indices[start:end].tobytes(): row for row, (start, end) in enumerate(ends)}
    rows = np.array(sorted(first.values()))
    rows = rows[np.diff(Y.indptr)[rows] > 0]
    by_size = np.argsort(-np.diff(Y.indptr)[rows], kind="stable")
    some = np.random.default_rng(0).permutation(by_size[100:])[: N_SETS - 100]
    return rows[np.concatenate((by_size[:100], some))]


def _grow(construction: Construction, Y: csr_matrix, rows: NDArray[np.int64]) -> Figures:
    shares: dict[str, float] = {}
    dim = 64
    while dim <= LARGEST_DIM:
        shares[str(dim)] = round(construction(Y, rows, dim, dim), 4)
        if shares[str(dim)] == 1.0:
            break
        dim = int(dim * 1.5) if dim & (dim - 1) == 0 else 2 ** int(np.ceil(np.log2(dim)))
    perfect = [int(at) for at, share in shares.items() if share == 1.0]
    return {"shares": shares, "perfect": perfect[0] if perfect else None, "rows": len(rows)}


def table(lines: list[Measured]) -> str:
    """Return a row for each theorem and cap."""
    rows = [
        "| corpus | theorem | labels | rows | right at d = 256 / 1,024 / 4,096 | all at | bound |",
        "|---|---|--:|--:|--:|--:|--:|",
    ]
    for line in lines:
        one = line.figures
        limit = f"s = {one['s']}" if "s" in one else f"a = {one['a']}"
        shares = [_share(one["shares"], dim) for dim in (256, 1024, 4096)]
        perfect = f"{one['perfect']:,}" if one["perfect"] else f"> {LARGEST_DIM:,}"
        rows.append(
            f"| {line.corpus} | {line.variant}, {limit} | {one.get('labels', one['K']):,} | "
            f"{one['rows']:,} | {' / '.join(shares)} | {perfect} | {one['bound']:,} |"
        )
    return "\n".join(rows)


def _share(shares: dict[str, float], dim: int) -> str:
    if str(dim) in shares:
        return f"{100 * shares[str(dim)]:.1f} %"
    return "100 %" if any(share == 1.0 and int(at) < dim for at, share in shares.items()) else "–"
