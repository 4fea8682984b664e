"""Compiled loop that multiplies each row with a few keys of its own."""

from __future__ import annotations

import numpy as np

from labelspace.compiling import njit


@njit(cache=True, nogil=True)
def products(
    indptr, indices, data, first, last, labels, key_ptr, key_features, key_values, n_features, found
):
    """Write down the products of rows, from ``first`` to ``last``, with the keys of ``labels``.

    ``labels`` and ``found`` are (n, n_candidates); -1 stands for none.
    """
    x = np.zeros(n_features, dtype=np.float32)
    for row in range(first, last):
        for at in range(indptr[row], indptr[row + 1]):
            x[indices[at]] = data[at]
        for place in range(labels.shape[1]):
            label = labels[row, place]
            product = np.float32(0.0)
            if label >= 0:
                for at in range(key_ptr[label], key_ptr[label + 1]):
                    product += key_values[at] * x[key_features[at]]
            found[row, place] = product
        for at in range(indptr[row], indptr[row + 1]):
            x[indices[at]] = np.float32(0.0)
