"""The systems we measure ourselves against, and the environment they live in.

They need other versions of numpy and scipy than we do, so they are installed from
``requirements/peers.lock`` into ``.venv-peers`` and run there.
"""

from __future__ import annotations

import math
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.corpora import ROOT

ENVIRONMENT = ROOT / ".venv-peers"
LOCK = ROOT / "requirements" / "peers.lock"
PYTHONS = ("python3.11", "python3.12")


@dataclass(frozen=True)
class Peer:
    """A system and its setting."""

    title: str
    package: str
    subject: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    needs_text: bool = False
    time_limit_s: float = math.inf
    """A limit of its own, where the general one would let it eat the sitting."""


# In the order in which they run: the quick ones first, one classifier per label last.
PEERS: dict[str, Peer] = {
    "pecos-xr-linear": Peer(
        "PECOS XR-Linear", "libpecos", "benchmarks.subjects.pecos_linear:XrLinear"
    ),
    "omikuji-parabel": Peer(
        "omikuji (Parabel)",
        "omikuji",
        "benchmarks.subjects.omikuji_trees:Omikuji",
        needs_text=True,
    ),
    "omikuji-bonsai": Peer(
        "omikuji (Bonsai)",
        "omikuji",
        "benchmarks.subjects.omikuji_trees:Omikuji",
        {"cluster_k": 100, "cluster_balanced": False, "max_depth": 3},
        needs_text=True,
    ),
    "napkinxc-plt": Peer(
        "napkinXC PLT", "napkinxc", "benchmarks.subjects.napkinxc_models:LabelTree"
    ),
    "napkinxc-br": Peer(
        "napkinXC BR",
        "napkinxc",
        "benchmarks.subjects.napkinxc_models:BinaryRelevance",
        time_limit_s=1200.0,
    ),
    "pecos-one-vs-all": Peer(
        "PECOS one-vs-all",
        "libpecos",
        "benchmarks.subjects.pecos_linear:OneVsAll",
        time_limit_s=1200.0,
    ),
}


def interpreter() -> Path:
    """Return the peers' Python, or say how to get it."""
    python = ENVIRONMENT / "bin" / "python"
    if not python.exists():
        raise SystemExit("The peers are not installed: run `python -m benchmarks peers-install`.")
    return python


def install() -> None:
    """Make the peers' environment from the lock file."""
    python = next((found for name in PYTHONS if (found := shutil.which(name))), None)
    if python is None and (3, 11) <= sys.version_info < (3, 13):
        python = sys.executable
    if python is None:
        raise SystemExit("The peers need Python 3.11 or 3.12 (libpecos has no newer wheels).")
    subprocess.run([python, "-m", "venv", str(ENVIRONMENT)], check=True)
    pip = [str(ENVIRONMENT / "bin" / "python"), "-m", "pip", "install", "--no-deps"]
    subprocess.run([*pip, "-r", str(LOCK)], check=True)


def version_of(package: str) -> str:
    """Return the locked version of a peer's package, as in ``omikuji 0.5.2``."""
    pinned = re.search(rf"^{re.escape(package)}==(\S+)", LOCK.read_text(), flags=re.MULTILINE)
    if pinned is None:
        raise SystemExit(f"{LOCK.name} does not pin {package}: add it there.")
    return f"{package} {pinned.group(1)}"
