"""CS: label vectors hashed to a few random sums, and found again because they are sparse.

Hsu, Kakade, Langford and Zhang (2009) take m random rows of a Hadamard matrix, A (entries ±1/√m),
regress the features to codes c = A·y, and look for a sparse label vector with such a code,

    min_y ‖A·y − c‖   such that y has at most s labels

by orthogonal matching pursuit (OMP), which takes the label that fits what is left over, again and
again, or CoSaMP, which takes many at once and throws the worst out. A is never made: its entries
are parities, and Aᵀr for all labels at once is a fast Walsh-Hadamard transform.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace import threads
from labelspace.models.label_compression import _sparse_decoding_kernels as kernels
from labelspace.models.label_compression.compressed_labels import CompressedLabels, share_of_labels
from labelspace.parameters import CorpusShape, one_of
from labelspace.store import schema
from labelspace.topk import TopK

Floats = NDArray[np.float32]

DECODERS = ("omp", "cosamp")
_SHARES = {"best": (1.0, 512), "paper": (0.8, 500)}
# Sums that are taken of very few labels, too, if there are so many.
_FEWEST = 8


class CompressedSensing(CompressedLabels):
    """Label vectors as a few random sums, decoded as what is sparse.

    Parameters
    ----------
    preset : {"best", "paper"}, default="best"
        "best" is what measures best; "paper" is as in published comparisons.
    dim : int, optional
        Length of codes: as many as labels, 512 at most (four fifths, 500 at most).
    penalty : float, optional
        λ of the ridge regression: 1 (10, for rows as they are).
    decoder : {"omp", "cosamp"}, default="omp"
        How label vectors are found again.
    idf : bool, default=False
        Whether features are weighted by inverse document frequency: for 0-1 features or counts.
    normalize : bool, optional
        Whether rows are scaled to length one: True (False).
    k, threshold, random_state, n_threads
        As in every estimator; see :class:`labelspace.base.LabelRanker`. As many labels are decoded
        as are asked for. Scores are the decoded values, near 1 for labels that a row has.

    Attributes
    ----------
    sums_ : ndarray of shape (dim,)
        Rows of the Hadamard matrix that were drawn.

    Examples
    --------
    >>> from labelspace.models import CompressedSensing
    >>> X = [[1.0, 0.0], [0.9, 0.2], [0.0, 1.0], [0.1, 0.8]]
    >>> model = CompressedSensing(random_state=0).fit(X, [["red"], ["red"], ["round"], ["round"]])
    >>> model.classes_[model.predict_topk([[0.7, 0.1]], k=1).labels]
    array([['red']], dtype='<U5')
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **CompressedLabels._parameter_constraints,
        "decoder": [one_of(*DECODERS)],
    }

    _schema: ClassVar[schema.Schema] = {
        "sums_": schema.array("int64", "dim", low=0, below=1 << 40, unique=True),
    }

    @classmethod
    def _check_state(cls, state: schema.State, sizes: schema.Sizes) -> None:
        super()._check_state(state, sizes)
        if "sums_" in state and np.any(state["sums_"] >= hadamard_size(sizes.known["n_labels"])):
            raise schema.Mismatch("sums_ are not those of so many labels")

    def __init__(
        self,
        *,
        preset: str = "best",
        dim: int | None = None,
        penalty: float | None = None,
        decoder: str = "omp",
        idf: bool = False,
        normalize: bool | None = None,
        k: int = 5,
        threshold: float | None = None,
        random_state: Any = None,
        n_threads: int | None = None,
    ) -> None:
        super().__init__(
            preset=preset,
            dim=dim,
            penalty=penalty,
            idf=idf,
            normalize=normalize,
            k=k,
            threshold=threshold,
            random_state=random_state,
            n_threads=n_threads,
        )
        self.decoder = decoder

    def _usual_dim(self, shape: CorpusShape) -> int:
        return max(share_of_labels(shape, *_SHARES[self.preset]), _FEWEST)

    def _compress(self, X: csr_matrix, Y: csr_matrix, dim: int, seed: int) -> Floats:
        self.sums_ = draw_sums(Y.shape[1], dim, seed)
        return random_sums(Y, self.sums_)

    def _decode(self, codes: Floats, k: int) -> TopK:
        return decode(codes, self.sums_, self.n_labels_, k, self.decoder)


def hadamard_size(n_labels: int) -> int:
    """Return the size of the smallest Hadamard matrix with a column for each label.

    >>> hadamard_size(1), hadamard_size(5), hadamard_size(8)
    (1, 8, 8)
    """
    return 1 << max(n_labels - 1, 0).bit_length()


def draw_sums(n_labels: int, n_sums: int, seed: int = 0) -> NDArray[np.int64]:
    """Return different rows of the Hadamard matrix, all if so many are wanted."""
    size = hadamard_size(n_labels)
    rng = np.random.default_rng(seed)
    return np.sort(rng.choice(size, size=min(n_sums, size), replace=False)).astype(np.int64)


def random_sums(Y: csr_matrix, sums: NDArray[np.int64]) -> Floats:
    """Return the codes A·y of label vectors, one a row.

    >>> random_sums(csr_matrix([[0.0, 1.0], [1.0, 1.0]]), np.array([0, 1])).round(2)
    array([[ 0.71, -0.71],
           [ 1.41,  0.  ]], dtype=float32)
    """
    codes = np.zeros((Y.shape[0], sums.size), dtype=np.float32)
    threads.deal(
        lambda first, last: kernels.random_sums(Y.indptr, Y.indices, sums, first, last, codes),
        Y.shape[0],
        64,
    )
    return codes


def decode(
    codes: Floats, sums: NDArray[np.int64], n_labels: int, k: int, decoder: str = "omp"
) -> TopK:
    """Return the ``k`` labels whose code is nearest, by value.

    >>> sums = draw_sums(40, 24)
    >>> Y = csr_matrix(([1.0, 1.0], [3, 30], [0, 2]), shape=(1, 40))
    >>> decode(random_sums(Y, sums), sums, 40, 2).labels
    array([[ 3, 30]])
    """
    top = TopK.empty(len(codes), k)
    size = hadamard_size(n_labels)
    find = kernels.cosamp if decoder == "cosamp" else kernels.matching_pursuit
    codes = np.ascontiguousarray(codes, dtype=np.float32)
    threads.deal(
        lambda first, last: find(codes, sums, n_labels, size, first, last, top.labels, top.scores),
        len(codes),
        8,
    )
    return top
