"""Threads of torch sleep while they wait, unless told otherwise before it is imported."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytest.importorskip("torch")

SCRIPT = """
import os, sys
import labelspace.models
labelspace.models.make("glas")._validate_params()
assert "torch" in sys.modules
print(os.environ["OMP_WAIT_POLICY"])
"""


@pytest.mark.parametrize(("told", "meant"), [(None, "PASSIVE"), ("ACTIVE", "ACTIVE")])
def test_threads_sleep_unless_told_to_spin(told: str | None, meant: str) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}
    if told is not None:
        environment["OMP_WAIT_POLICY"] = told
    environment["PYTHONPATH"] = os.pathsep.join(sys.path)
    told_back = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True
    )
    assert told_back.stdout.strip() == meant
