"""What speaks for a label on a row: votes of neighbours, its classifier, and where it lies.

A row's candidates are the labels that its neighbours vote for and those whose classifiers score
highest. Classifiers are kept by feature, so a row's scores for all labels cost no more than the
weights that its own features have.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.models.labelspace import _candidate_kernels as kernels
from labelspace.search.sparse import SparseIndex
from labelspace.spaces import sphere
from labelspace.spaces.quantized import dequantized, quantized
from labelspace.store import Storable, schema
from labelspace.topk import TopK


class Candidates(NamedTuple):
    """Candidates of each row, all (n, n_candidates); -1 where a row has fewer.

    ``margins`` are scores of the classifiers, ``shares`` shares of the votes, ``cosines`` those of
    row and label in the first space.
    """

    labels: NDArray[np.int64]
    margins: NDArray[np.float32]
    shares: NDArray[np.float32]
    cosines: NDArray[np.float32]


class LabelCentroids(Storable):
    """Unit vectors of labels, as eight-bit integers; a label that lies nowhere has zeros."""

    _schema: ClassVar[schema.Schema] = {
        "vectors": schema.array("int8", "n_labels", "dim"),
        "scales": schema.array("float32", "n_labels"),
    }

    def __init__(self, vectors: NDArray[np.float32]) -> None:
        self.vectors, self.scales = quantized(vectors, "int8")

    def move(
        self,
        labels: NDArray[np.integer],
        n_rows: NDArray[np.integer],
        sums: NDArray[np.float32],
    ) -> None:
        """Let new rows pull at labels, old or new.

        ``n_rows`` counts the rows in whose middle each label lies, ``sums`` adds up the vectors of
        its new rows.
        """
        n_more = int(labels.max(initial=-1)) + 1 - len(self.vectors)
        if n_more > 0:
            zeros = np.zeros((n_more, self.vectors.shape[1]), dtype=self.vectors.dtype)
            self.vectors = np.concatenate((self.vectors, zeros))
            self.scales = np.concatenate((self.scales, np.ones(n_more, dtype=np.float32)))
        else:
            # In new arrays: who holds the old ones, to go back to them, finds them as they were.
            self.vectors, self.scales = self.vectors.copy(), self.scales.copy()
        before = dequantized(self.vectors[labels], self.scales[labels])
        moved = sphere.keys(before * n_rows[:, np.newaxis].astype(np.float32) + sums)
        self.vectors[labels], self.scales[labels] = quantized(moved, "int8")


def gather_candidates(
    X: csr_matrix,
    Z: NDArray[np.float32],
    votes: TopK,
    classifiers: SparseIndex,
    centroids: LabelCentroids,
    n_by_margin: int,
) -> Candidates:
    """Return the candidates of rows and what speaks for each.

    Parameters
    ----------
    X, Z : csr_matrix, ndarray
        The rows, and their unit vectors.
    votes : TopK
        Labels that neighbours vote for, with their shares.
    n_by_margin : int
        How many labels the classifiers add to these.
    """
    shape = (X.shape[0], votes.k + min(n_by_margin, classifiers.n_keys))
    candidates = Candidates(
        np.full(shape, -1, dtype=np.int64),
        np.zeros(shape, dtype=np.float32),
        np.zeros(shape, dtype=np.float32),
        np.zeros(shape, dtype=np.float32),
    )
    kernels.gather(
        X.indptr,
        X.indices,
        np.ascontiguousarray(X.data, dtype=np.float32),
        np.ascontiguousarray(Z, dtype=np.float32),
        votes.labels,
        votes.scores,
        classifiers.inverted.indptr,
        classifiers.inverted.indices,
        classifiers.inverted.data,
        classifiers.offsets,
        centroids.vectors,
        centroids.scales,
        min(n_by_margin, classifiers.n_keys),
        *candidates,
    )
    return candidates
