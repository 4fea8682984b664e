"""Room for kernels that look labels up by number, kept for the next rows that a thread answers.

With hundreds of thousands of labels, to fill a new array for each call would be most of the time
that a single row takes. Kernels leave such an array as they found it.
"""

from __future__ import annotations

import threading

import numpy as np
from numpy.typing import NDArray

_of_this_thread = threading.local()


def places(n_labels: int) -> NDArray[np.int32]:
    """Return -1 for each label; the same array for each call, of one thread, that asks for it.

    >>> places(3)
    array([-1, -1, -1], dtype=int32)
    """
    kept: NDArray[np.int32] | None = getattr(_of_this_thread, "places", None)
    if kept is None or len(kept) < n_labels:
        kept = _of_this_thread.places = np.full(n_labels, -1, dtype=np.int32)
    return kept[:n_labels]
