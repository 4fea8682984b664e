from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.linalg import hadamard
from scipy.sparse import csr_matrix

from labelspace.models import CompressedSensing
from labelspace.models.label_compression import _sparse_decoding_kernels as kernels
from labelspace.models.label_compression.compressed_sensing import (
    DECODERS,
    decode,
    draw_sums,
    random_sums,
)
from tests.planted import planted_corpus

each_decoder = pytest.mark.parametrize("decoder", DECODERS)


def planted_sets(n_rows: int, n_labels: int, size: int) -> csr_matrix:
    rng = np.random.default_rng(0)
    Y = np.zeros((n_rows, n_labels), dtype=np.float32)
    for row in Y:
        row[rng.choice(n_labels, size=size, replace=False)] = 1.0
    return csr_matrix(Y)


def test_signs_and_transform_are_those_of_the_hadamard_matrix() -> None:
    H = hadamard(32)
    signs = [[kernels.sign(row, column) for column in range(32)] for row in range(32)]
    assert np.array_equal(signs, H)
    values = np.random.default_rng(0).normal(size=32).astype(np.float32)
    turned = values.copy()
    kernels.transform(turned)
    assert np.allclose(turned, H @ values, atol=1e-4)


def test_codes_are_random_sums_of_columns() -> None:
    Y = planted_sets(5, 20, 3)
    sums = draw_sums(20, 7, seed=1)
    A = hadamard(32)[sums][:, :20] / np.sqrt(7)
    assert np.allclose(random_sums(Y, sums), Y.toarray() @ A.T, atol=1e-5)


@each_decoder
def test_planted_sets_are_found_again(decoder: str) -> None:
    Y = planted_sets(60, 500, 5)
    sums = draw_sums(500, 80, seed=0)
    top = decode(random_sums(Y, sums), sums, 500, 5, decoder)
    found = top.to_csr(500)
    assert (found.multiply(Y)).nnz >= 0.97 * Y.nnz
    assert np.median(top.scores) == pytest.approx(1.0, abs=0.01)


@each_decoder
def test_too_few_sums_do_not_suffice(decoder: str) -> None:
    Y = planted_sets(60, 500, 5)
    sums = draw_sums(500, 10, seed=0)
    found = decode(random_sums(Y, sums), sums, 500, 5, decoder).to_csr(500)
    assert (found.multiply(Y)).nnz < 0.5 * Y.nnz


@each_decoder
def test_fit_is_that_of_least_squares(decoder: str) -> None:
    """Values are those that dense numpy gives the labels that were chosen."""
    rng = np.random.default_rng(3)
    sums = draw_sums(60, 24, seed=2)
    codes = rng.normal(size=(10, 24)).astype(np.float32)
    A = hadamard(64)[sums][:, :60] / np.sqrt(24)
    top = decode(codes, sums, 60, 4, decoder)
    for code, labels, scores in zip(codes, top.labels, top.scores, strict=True):
        best = np.linalg.lstsq(A[:, labels], code, rcond=None)[0]
        assert np.allclose(scores, best, atol=1e-2)


@each_decoder
def test_the_labels_are_those_of_all_sets_that_fit_best(decoder: str) -> None:
    """Every pair of 20 labels is tried; codes are sums that the regression has missed by some."""
    Y = planted_sets(30, 20, 2)
    sums = draw_sums(20, 14, seed=0)
    A = hadamard(32)[sums][:, :20] / np.sqrt(14)
    noise = 0.1 * np.random.default_rng(1).normal(size=(30, 14))
    codes = (Y.toarray() @ A.T + noise).astype(np.float32)
    pairs = [list(pair) for pair in combinations(range(20), 2)]
    for code, labels in zip(codes, decode(codes, sums, 20, 2, decoder).labels, strict=True):
        off = [
            np.linalg.norm(A[:, pair] @ np.linalg.lstsq(A[:, pair], code, rcond=None)[0] - code)
            for pair in pairs
        ]
        assert set(labels) == set(pairs[int(np.argmin(off))])


@each_decoder
def test_new_rows_are_ranked_right(decoder: str) -> None:
    model = CompressedSensing(decoder=decoder, random_state=0).fit(*planted_corpus())
    assert model.score(*planted_corpus(100, seed=1)) > 0.9
