"""What training on a cluster needs, told before it starts: memory of a machine, and disk.

Rows and labels are mapped by all workers of a machine from one file, a space has a vector for each
feature and each row, and for each label while it is learned, and classifiers have weights for the
features of their positives. What classifiers keep is a guess, about what made-up corpora of
Amazon-3M's shape kept; the figures are meant to refuse what cannot end well, not to fill machines
to the brim.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from labelspace.errors import EngineError

GIB = 2**30
WEIGHTS_PER_FEATURE = 4  # a guess: what a label keeps for each feature of a row
SCRATCH = 2**29  # bytes that a worker's classifiers take beside the rows, and
PROGRAM = 3 * 2**27  # its program, with all libraries
SPACES, DIM = 4, 128  # of the default


class CorpusSize(NamedTuple):
    """How large a corpus is: rows, features, labels, and entries of both matrices."""

    n_examples: int
    n_features: int
    n_labels: int
    n_entries: int
    n_given: int


class Need(NamedTuple):
    """Bytes that training needs: of each machine with workers, of the driver's, and of disk."""

    worker_machine: int
    driver_machine: int
    disk: int

    @property
    def said(self) -> str:
        """The figures in a sentence."""
        worker, driver, disk = (part / GIB for part in self)
        return (
            f"about {worker:.1f} GiB of memory on each machine with workers, {driver:.1f} GiB on "
            f"the driver's, and {disk:.1f} GiB of disk"
        )


def estimate(size: CorpusSize, n_workers: int) -> Need:
    """Return what training the default needs with so many workers on a machine.

    Examples
    --------
    >>> amazon = CorpusSize(1_717_899, 337_067, 2_812_281, 84_000_000, 62_000_000)
    >>> [round(part / GIB) for part in estimate(amazon, n_workers=16)]
    [27, 18, 12]
    """
    rows = 8 * size.n_entries + 8 * size.n_given + 16 * size.n_examples
    vectors = size.n_features + size.n_examples + size.n_labels
    spaces = SPACES * DIM * (4 * size.n_features + size.n_examples)
    learning = min(n_workers, SPACES) * 4 * DIM * vectors
    per_label = WEIGHTS_PER_FEATURE * size.n_entries / max(size.n_examples, 1)
    weights = int(8 * size.n_labels * min(per_label, size.n_features))
    worker = 2 * rows + spaces + learning + n_workers * (SCRATCH + PROGRAM)
    # Weights of all rows, those without the rows held out, and one of both by feature.
    driver = 2 * rows + spaces + SPACES * DIM * size.n_labels + 3 * weights + PROGRAM
    return Need(worker, driver, 2 * rows + spaces + 2 * weights)


def check_fits(need: Need, memory: int | None, free: int | None) -> None:
    """Raise if a machine's memory or the folder of blocks is too small; None is not known."""
    least = max(need.worker_machine, need.driver_machine)
    if memory is not None and memory < least:
        raise EngineError(
            f"Training needs {need.said}, but there are {memory / GIB:.1f} GiB of memory: use "
            "fewer workers on a machine, larger machines, or a part of the rows."
        )
    if free is not None and free < need.disk:
        raise EngineError(
            f"Training needs {need.said}, but the --workdir has room for {free / GIB:.1f} GiB: "
            "give a larger one."
        )


def memory_here() -> int | None:
    """Return the bytes of memory that this machine has, or that its container may use."""
    try:
        own = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None
    try:
        with open("/sys/fs/cgroup/memory.max", encoding="ascii") as file:
            limit = file.read().strip()
    except OSError:
        return own
    return min(own, int(limit)) if limit.isdigit() else own
