"""Count votes of found rows and of found labels in one go, keeping the best labels only.

The count is the sparse product W·Y + L: W has the weight of each found training row, Y the labels
of those rows, L the weight of each found label, which votes for itself. Made row by row with one
number per label in hand, so the product is never in memory.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.search import _tally_kernels
from labelspace.topk import TopK


def tally(
    rows: NDArray[np.int64],
    row_weights: NDArray[np.float32],
    Y: csr_matrix,
    k: int,
    labels: NDArray[np.int64] | None = None,
    label_weights: NDArray[np.float32] | None = None,
) -> TopK:
    """Return the ``k`` labels with most votes for each query, with their votes.

    Parameters
    ----------
    rows, row_weights : ndarray of shape (n, n_rows)
        Rows of ``Y`` that vote (-1 for none) and what each vote counts; 0 is not heard.
    Y : csr_matrix of shape (n_examples, n_labels)
    labels, label_weights : ndarray of shape (n, n_found), optional
        Labels that vote for themselves.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_matrix
    >>> Y = csr_matrix([[1, 1, 0], [0, 1, 0]])
    >>> tally(np.array([[0, 1]]), np.array([[0.5, 0.25]], dtype=np.float32), Y, k=2).labels
    array([[1, 0]])
    """
    if labels is None or label_weights is None:
        labels = np.zeros((len(rows), 0), dtype=np.int64)
        label_weights = np.zeros((len(rows), 0), dtype=np.float32)
    top = TopK.empty(len(rows), k)
    _tally_kernels.tally(
        rows,
        row_weights,
        Y.indptr,
        Y.indices,
        labels,
        label_weights,
        Y.shape[1],
        top.labels,
        top.scores,
    )
    return top
