"""Which labels go together: a candidate in the company of its usual partners is more probable."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_matrix, csr_matrix, diags_array

from labelspace.models.labelspace import _partner_kernels as kernels


def label_partners(
    Y: csr_matrix, n_partners: int, labels: NDArray[np.integer] | None = None
) -> csr_matrix:
    """Return for each label its partners, and the share of its rows that have these, too.

    Only the rows of ``labels`` are filled where these are given.

    >>> Y = csr_matrix([[1, 1, 0], [1, 1, 0], [1, 0, 0], [0, 0, 1]])
    >>> label_partners(Y, 2).toarray().round(2)
    array([[0.  , 0.5 , 0.  ],
           [0.67, 0.  , 0.  ],
           [0.  , 0.  , 0.  ]], dtype=float32)
    """
    n_labels = Y.shape[1]
    chosen = np.arange(n_labels) if labels is None else np.asarray(labels, dtype=np.int64)
    by_label = csc_matrix(Y)
    partners = np.full((len(chosen), max(n_partners, 1)), -1, dtype=np.int64)
    shares = np.zeros(partners.shape, dtype=np.float32)
    if n_partners:
        counts = np.diff(by_label.indptr)
        kernels.count_partners(
            by_label.indptr, by_label.indices, Y.indptr, Y.indices, chosen, counts, partners, shares
        )
    there = partners >= 0
    lengths = np.zeros(n_labels, dtype=np.int64)
    lengths[chosen] = there.sum(axis=1)
    ends = np.concatenate(([0], np.cumsum(lengths)))
    made = csr_matrix((shares[there], partners[there], ends), shape=(n_labels, n_labels))
    made.sort_indices()
    return made


def updated_partners(
    partners: csr_matrix, Y: csr_matrix, n_partners: int, labels: NDArray[np.integer]
) -> csr_matrix:
    """Return partners with those of some labels counted again, of which ``Y`` may have new ones."""
    old = partners.copy()
    old.resize((Y.shape[1], Y.shape[1]))
    stays = np.ones(Y.shape[1], dtype=np.float32)
    stays[labels] = 0.0
    made = csr_matrix(
        diags_array(stays) @ old + label_partners(Y, n_partners, labels), dtype=np.float32
    )
    made.eliminate_zeros()
    made.sort_indices()
    return made
