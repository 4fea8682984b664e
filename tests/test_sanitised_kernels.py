"""Kernels stay within their arrays: numba checks each index (``make sanitise`` does more)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from labelspace import models

PROJECT = Path(__file__).resolve().parent.parent
# Machine code with checks is kept apart: numba would take it for what it has compiled without.
BOUNDS = {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(PROJECT / "build" / "numba-bounds")}

OUTSIDE = """
import numpy as np
from labelspace.compiling import njit

@njit(nogil=True)
def third(values):
    return values[2]

third(np.zeros(2))
"""


@pytest.mark.slow
def test_an_index_outside_of_an_array_is_found() -> None:
    assert "IndexError" in run("-c", OUTSIDE).stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", models.METHODS)
def test_kernels_stay_within_their_arrays_on_little_data(name: str) -> None:
    test = f"test_degenerate_data.py::test_a_method_answers_whatever_it_learns_from[{name}]"
    asked = run("-m", "pytest", "-q", "-p", "no:cacheprovider", f"tests/{test}")
    assert asked.returncode == 0, asked.stdout
    assert "1 passed" in asked.stdout


def run(*told: str) -> subprocess.CompletedProcess[str]:
    where = os.pathsep.join([str(PROJECT / "src"), str(PROJECT)])
    return subprocess.run(
        [sys.executable, *told],
        env={**os.environ, **BOUNDS, "PYTHONPATH": where},
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
    )
