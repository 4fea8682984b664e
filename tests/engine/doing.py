"""Work for engines to do, where workers find it by name."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np


def add(inputs: dict[str, Any], block: int) -> dict[str, Any]:
    """Note that it was done, where inputs have a folder for notes, and return a sum."""
    if inputs.get("notes"):
        Path(inputs["notes"], f"{block}-{time.time_ns()}").touch()
    return {"sum": inputs["rows"].sum() + block, "block": block}


def add_or_die(inputs: dict[str, Any], block: int) -> dict[str, Any]:
    """Kill the process at block 1 when it is there for the first time."""
    if block == 1 and not os.path.exists(inputs["mark"]):
        Path(inputs["mark"]).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return add(inputs, block)


def die(inputs: Any, block: int) -> None:
    """Kill the process each time."""
    os.kill(os.getpid(), signal.SIGKILL)


def fail(inputs: Any, block: int) -> int:
    """Raise at block 2."""
    if block == 2:
        raise ZeroDivisionError("nothing to divide by")
    return block


def slow(inputs: dict[str, Any], block: int) -> dict[str, Any]:
    """Take a while."""
    time.sleep(inputs["seconds"])
    return add(inputs, block)


INPUTS = {"rows": np.arange(10)}
SUMS = [45, 46, 47, 48]
