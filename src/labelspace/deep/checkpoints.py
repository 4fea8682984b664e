"""The folder in which a training is kept, so that one that was killed can go on.

The folder is the user's, who may have other things in it: only what trainings have put there is
ever removed.
"""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path

from labelspace.store.folders import MANIFEST, check_replaceable
from labelspace.store.leftovers import leave_behind

# The state after the last epoch, and after the best one.
LAST, BEST = "last", "best"


def of_network(folder: str | None, number: int) -> str | None:
    """Return where one of several networks has its checkpoint."""
    return folder and str(Path(folder) / f"network-{number}")


def check(folder: Path) -> None:
    """Raise if there can be no checkpoint in ``folder``, before it is needed."""
    check_replaceable(folder / LAST)
    check_replaceable(folder / BEST)


def remove(folder: str | Path) -> None:
    """Remove the checkpoints in ``folder`` and, if nothing else is in it, the folder itself."""
    folder = Path(folder)
    for place in (*folder.glob("network-*"), folder):
        for name in (LAST, BEST):
            if (place / name / MANIFEST).is_file():
                # Half a checkpoint would be taken for a damaged one: it gets the name of what is
                # left behind, in one step.
                leave_behind(place / name, f".{name}.saving-")
            for unfinished in place.glob(f".{name}.saving-*"):
                shutil.rmtree(unfinished, ignore_errors=True)
        with suppress(OSError):
            place.rmdir()
