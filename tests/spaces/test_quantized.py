from __future__ import annotations

import numpy as np
import pytest

from labelspace.spaces.quantized import dequantized, quantized


def test_error_is_at_most_half_a_step() -> None:
    rows = np.random.default_rng(0).standard_normal((50, 20)).astype(np.float32)
    stored, scales = quantized(rows, "int8")
    assert stored.dtype == np.int8
    assert np.all(np.abs(dequantized(stored, scales) - rows) <= 0.501 * scales[:, np.newaxis])


def test_floats_and_zero_rows_come_back_as_they_were() -> None:
    rows = np.array([[0.0, 0.0], [1.5, -2.5]], dtype=np.float32)
    assert np.array_equal(dequantized(*quantized(rows, "float32")), rows)
    assert np.array_equal(dequantized(*quantized(rows[:1], "int8")), rows[:1])


def test_unknown_storage_is_named() -> None:
    with pytest.raises(ValueError, match="int8, float32"):
        quantized(np.zeros((1, 1), dtype=np.float32), "int4")
