"""How good a ranking of labels is, as the Extreme Classification repository defines it.

All figures are percentages. With ``y`` the true labels of a row and ``r_1, r_2, …`` the ranking:

    P@k      = mean over rows of  (1/k) Σ_{j≤k} [r_j ∈ y]
    nDCG@k   = mean over rows of  Σ_{j≤k} [r_j ∈ y] / log2(j+1)  /  Σ_{j≤min(k,|y|)} 1 / log2(j+1)
    PSP@k    = Σ over rows Σ_{j≤k} [r_j ∈ y] / p_{r_j}  /  the same sum for the best ranking
    PSnDCG@k = Σ over rows of nDCG@k with gains 1/p     /  the same sum for the best ranking

with the propensity p_l = 1 / (1 + C (n_l + B)^−A), C = (ln N − 1) (B + 1)^A, where N and n_l are
the number of rows and of rows with label l in *train*. Rows without labels count as zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix, issparse

from labelspace import _topk_kernels as _kernels
from labelspace.csr import canonical
from labelspace.errors import DataError, UsageError, nearest
from labelspace.frames import given_labels
from labelspace.named_rankings import by_column, is_lists
from labelspace.topk import TopK, topk_csr

PROPENSITY_A, PROPENSITY_B = 0.55, 1.5
KS = (1, 3, 5)
FIGURES = ("P", "nDCG", "PSP", "PSnDCG", "R", "RP", "coverage")


def evaluate(
    Y: csr_matrix | Sequence[Any],
    top: TopK | csr_matrix | ArrayLike | Sequence[Any],
    *,
    ks: Sequence[int] = KS,
    label_counts: ArrayLike | Mapping[str, int] | None = None,
    n_examples: int | None = None,
    A: float = PROPENSITY_A,
    B: float = PROPENSITY_B,
) -> dict[str, float]:
    """Return P@k and nDCG@k, and PSP@k and PSnDCG@k where the training counts are given.

    Parameters
    ----------
    Y : csr_matrix of shape (n, n_labels), or list of lists of names
        True labels.
    top : TopK, csr_matrix of scores, array of label ids (n, k) best first, or lists of names
        The ranking; lists of pairs of name and score, as ``Tagger.tag_many`` gives, do as well.
    label_counts : array of shape (n_labels,), or dict by name, optional
        How many training rows have each label (labels beyond its end: none).
    n_examples : int, optional
        Number of training rows.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_matrix
    >>> Y = csr_matrix([[1, 0, 1, 0], [0, 1, 0, 0]])
    >>> figures = evaluate(Y, np.array([[0, 1, 2], [0, 1, 2]]), ks=(1, 3))
    >>> {name: round(value, 2) for name, value in figures.items()}
    {'P@1': 50.0, 'P@3': 50.0, 'nDCG@1': 50.0, 'nDCG@3': 77.53}
    >>> evaluate([["red"], ["green"]], [["red", "round"], ["red", "green"]], ks=(1, 2))["P@1"]
    50.0
    """
    counts: Any = label_counts
    if is_lists(Y) and is_lists(top):
        Y, top, counts = by_column(Y, top, label_counts)
    Y, labels = _checked(Y, top, max(ks))
    hits = _kernels.hits(Y.indptr, Y.indices, labels)
    figures = {f"P@{k}": _percent(hits[:, :k].sum(), k * len(labels)) for k in ks}
    figures |= {f"nDCG@{k}": _ndcg(hits, Y, k) for k in ks}
    if counts is not None and n_examples is not None:
        weights = inverse_propensity(counts, n_examples, n_labels=Y.shape[1], A=A, B=B)
        gains = np.where(hits, weights[np.maximum(labels, 0)], 0.0)
        best = _kernels.largest_gains(Y.indptr, Y.indices, weights, max(ks))
        figures |= {f"PSP@{k}": _percent(gains[:, :k].sum(), best[:, :k].sum()) for k in ks}
        figures |= {f"PSnDCG@{k}": _percent(_ndcg(gains, Y, k), _ndcg(best, Y, k)) for k in ks}
    return figures


class Scorer:
    """A figure by its name, as scikit-learn's ``cross_validate`` and ``GridSearchCV`` take it.

    The estimator is one of ``labelspace.models``, a ``Tagger``, or a pipeline that ends with one.
    Figures are percentages; propensities are those of the rows that it learned from.

    Parameters
    ----------
    name : str
        P@k, nDCG@k, PSP@k, PSnDCG@k, R@k, RP@k or coverage@k, such as ``"P@5"``.

    Examples
    --------
    >>> from labelspace.models import MostCommon
    >>> model = MostCommon().fit([[1.0], [2.0]], [[0], [0, 1]])
    >>> scorer("P@1")(model, [[1.0], [2.0]], [[0], [1]])
    50.0
    """

    def __init__(self, name: str) -> None:
        figure, at, k = name.partition("@")
        if figure not in FIGURES or not at or not k.isdigit() or int(k) < 1:
            known = [f"{one}@5" for one in FIGURES]
            raise UsageError(f"There is no figure '{name}'{nearest(name, known)}")
        self.name, self.k = name, int(k)

    def __call__(self, estimator: Any, X: Any, y: Any) -> float:
        if hasattr(estimator, "steps"):  # a pipeline
            X, estimator = estimator[:-1].transform(X), estimator[-1]
        top = estimator.predict_topk(X, self.k)
        ranker = getattr(estimator, "estimator_", estimator)
        Y = ranker._labels.encode(y if ranker is estimator else given_labels(y), len(top))
        return self.figure(Y, top, ranker.label_counts_, ranker.n_examples_)

    def figure(self, Y: csr_matrix, top: TopK, label_counts: ArrayLike, n_examples: int) -> float:
        """Return the figure of a ranking; counts and number are those of the training rows."""
        if self.name.startswith(("R@", "RP@")):
            return recall(Y, top, ks=(self.k,))[self.name]
        if self.name.startswith("coverage@"):
            return coverage(Y, top, ks=(self.k,))[self.name]
        counts: Any = {"label_counts": label_counts, "n_examples": n_examples}
        return evaluate(Y, top, ks=(self.k,), **counts)[self.name]

    def __repr__(self) -> str:
        return f"scorer({self.name!r})"


def scorer(name: str) -> Scorer:
    """Return a figure by its name, such as ``"P@5"``, as scikit-learn takes it for scoring."""
    return Scorer(name)


def inverse_propensity(
    label_counts: ArrayLike,
    n_examples: int,
    *,
    n_labels: int | None = None,
    A: float = PROPENSITY_A,
    B: float = PROPENSITY_B,
) -> NDArray[np.float64]:
    """Return 1/p_l for each label from its count in train.

    Wikipedia corpora use A, B = 0.5, 0.4 and Amazon corpora 0.6, 2.6.

    >>> inverse_propensity([100, 1], n_examples=1000).round(3)
    array([1.77 , 6.908])
    """
    counts = np.asarray(label_counts, dtype=np.float64)
    if n_labels is not None and n_labels > counts.size:
        counts = np.concatenate([counts, np.zeros(n_labels - counts.size)])
    # Below three rows ln N − 1 is negative, which would make rare labels weigh less than one.
    C = max(np.log(max(n_examples, 1)) - 1.0, 0.0) * (B + 1.0) ** A
    return 1.0 + C * (counts + B) ** -A


def psp_glas(
    Y: csr_matrix,
    top: TopK | csr_matrix | ArrayLike,
    *,
    ks: Sequence[int] = KS,
    A: float = PROPENSITY_A,
    B: float = PROPENSITY_B,
) -> dict[str, float]:
    """Return PSP@k as the appendix of the GLaS paper computes it, to compare with its table 4.

    Its code (appendix D) takes the weights 1/p from the *test* labels and divides two means over
    rows: Σ_i Σ_{j≤k} w·y / Σ_i best_i. The repository's PSP@k takes them from train, and is the
    same ratio.

    >>> from scipy.sparse import csr_matrix
    >>> Y = csr_matrix([[1, 0], [1, 1], [1, 0]])
    >>> round(psp_glas(Y, [[0], [0], [1]], ks=(1,))["PSP@1"], 2)
    66.11
    """
    Y, labels = _checked(Y, top, max(ks))
    counts = np.bincount(Y.indices, minlength=Y.shape[1])
    figures = evaluate(Y, labels, ks=ks, label_counts=counts, n_examples=Y.shape[0], A=A, B=B)
    return {f"PSP@{k}": figures[f"PSP@{k}"] for k in ks}


def recall(
    Y: csr_matrix, top: TopK | csr_matrix | ArrayLike, *, ks: Sequence[int] = KS
) -> dict[str, float]:
    """Return R@k (share of a row's labels found) and RP@k (found of min(k, |y|)), row means."""
    Y, labels = _checked(Y, top, max(ks))
    hits = _kernels.hits(Y.indptr, Y.indices, labels)
    n_true = np.diff(Y.indptr)
    figures = {}
    for k in ks:
        found = hits[:, :k].sum(axis=1)
        figures[f"R@{k}"] = _mean_ratio(found, n_true)
        figures[f"RP@{k}"] = _mean_ratio(found, np.minimum(n_true, k))
    return figures


def f1(Y: csr_matrix, Y_hat: csr_matrix) -> dict[str, float]:
    """Return micro-F1 and macro-F1 of a 0-1 prediction; macro over labels that occur in either.

    >>> from scipy.sparse import csr_matrix
    >>> f1(csr_matrix([[1, 0], [1, 1]]), csr_matrix([[1, 0], [0, 1]]))
    {'micro-F1': 80.0, 'macro-F1': 83.33333333333334}
    """
    Y, Y_hat = csr_matrix(Y).astype(bool), csr_matrix(Y_hat).astype(bool)
    if Y.shape != Y_hat.shape:
        raise DataError(
            f"The true labels have shape {Y.shape} and the predicted ones {Y_hat.shape}: "
            "give both the same rows and labels."
        )
    both = np.asarray(Y.multiply(Y_hat).astype(np.int64).sum(axis=0)).ravel()
    either = np.asarray(Y.astype(np.int64).sum(axis=0) + Y_hat.astype(np.int64).sum(axis=0)).ravel()
    seen = either > 0
    per_label = 200.0 * both[seen] / either[seen]
    return {
        "micro-F1": _percent(2.0 * both.sum(), either.sum()),
        "macro-F1": float(per_label.mean()) if per_label.size else 0.0,
    }


def coverage(
    Y: csr_matrix, top: TopK | csr_matrix | ArrayLike, *, ks: Sequence[int] = KS
) -> dict[str, float]:
    """Return the share of the labels in ``Y`` that are rightly predicted at least once."""
    Y, labels = _checked(Y, top, max(ks))
    hits = _kernels.hits(Y.indptr, Y.indices, labels)
    n_present = np.unique(Y.indices).size
    return {
        f"coverage@{k}": _percent(np.unique(labels[:, :k][hits[:, :k]]).size, n_present) for k in ks
    }


def hits(Y: csr_matrix, top: TopK) -> NDArray[np.bool_]:
    """Return for each label of a ranking whether it is right, (n, k)."""
    Y, labels = _checked(Y, top, top.k)
    return _kernels.hits(Y.indptr, Y.indices, labels)


def calibration_error(Y: csr_matrix, top: TopK, *, n_bins: int = 10) -> float:
    """Return the expected calibration error of the probabilities in ``top``.

    The labels given are sorted into bins of equal width by their probability; the error is the mean
    distance, over all labels given, between the mean probability of a label's bin and the share of
    the bin that is right.

    >>> import numpy as np
    >>> from scipy.sparse import csr_matrix
    >>> top = TopK(np.array([[0], [1]]), np.array([[0.75], [0.75]], dtype=np.float32))
    >>> calibration_error(csr_matrix([[1, 0], [1, 0]]), top)
    25.0
    """
    given = top.labels >= 0
    right = hits(Y, top)[given]
    probabilities = np.clip(top.scores[given].astype(np.float64), 0.0, 1.0)
    bins = np.minimum((probabilities * n_bins).astype(np.int64), n_bins - 1)
    gaps = np.bincount(bins, probabilities - right, n_bins)
    return _percent(np.abs(gaps).sum(), len(right))


def by_frequency(
    Y: csr_matrix,
    top: TopK | csr_matrix | ArrayLike,
    label_counts: ArrayLike,
    *,
    k: int = 5,
    edges: Sequence[int] = (1, 2, 6, 21, 101, 1001),
) -> list[dict[str, Any]]:
    """Return one line per band of training frequency: how many labels, and their recall@k.

    The first band is labels that never occur in train; ``edges`` are the lower ends of the rest.
    """
    Y, labels = _checked(Y, top, k)
    hits = _kernels.hits(Y.indptr, Y.indices, labels[:, :k])
    counts = np.zeros(max(Y.shape[1], np.size(label_counts)), dtype=np.int64)
    counts[: np.size(label_counts)] = label_counts
    band = np.searchsorted(np.asarray(edges), counts, side="right")
    n_bands = len(edges) + 1
    n_labels = np.bincount(band[: Y.shape[1]], minlength=n_bands)
    n_true = np.bincount(band[Y.indices], minlength=n_bands)
    n_found = np.bincount(band[labels[:, :k][hits]], minlength=n_bands)
    lower = (0, *edges)
    upper = [edge - 1 for edge in edges]
    names = [
        f"{low}" if low == high else f"{low}–{high}"
        for low, high in zip(lower[:-1], upper, strict=True)
    ]
    names.append(f"{edges[-1]}+")
    return [
        {
            "frequency": names[at],
            "labels": int(n_labels[at]),
            "occurrences": int(n_true[at]),
            f"recall@{k}": _percent(n_found[at], n_true[at]),
        }
        for at in range(n_bands)
    ]


def _checked(
    Y: csr_matrix | Sequence[Any], top: TopK | csr_matrix | ArrayLike, k: int
) -> tuple[csr_matrix, NDArray[np.int64]]:
    """Return ``Y`` with sorted indices and the ranking as label ids of width ``k``."""
    Y = canonical(csr_matrix(Y, copy=False))
    if issparse(top):
        labels = topk_csr(csr_matrix(top), k).labels
    else:
        labels = top.labels if isinstance(top, TopK) else np.asarray(top, dtype=np.int64)
    if labels.ndim != 2 or labels.shape[0] != Y.shape[0]:
        raise DataError(
            f"The ranking has shape {labels.shape} but there are {Y.shape[0]} rows of true "
            "labels: give one line of label ids for each row."
        )
    if labels.shape[1] < k:
        missing = np.full((labels.shape[0], k - labels.shape[1]), -1, dtype=np.int64)
        labels = np.concatenate([labels, missing], axis=1)
    return Y, np.ascontiguousarray(labels[:, :k])


def _percent(part: float, whole: float) -> float:
    return 100.0 * float(part) / float(whole) if whole else 0.0


def _mean_ratio(part: NDArray[Any], whole: NDArray[Any]) -> float:
    ratio = np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)
    return 100.0 * float(ratio.mean()) if ratio.size else 0.0


def _ndcg(gains: NDArray[Any], Y: csr_matrix, k: int) -> float:
    discount = 1.0 / np.log2(np.arange(2, k + 2))
    ideal = np.concatenate(([0.0], np.cumsum(discount)))[np.minimum(np.diff(Y.indptr), k)]
    return _mean_ratio(gains[:, :k] @ discount, ideal)


def mean_and_deviation(runs: Iterable[dict[str, float]]) -> dict[str, tuple[float, float]]:
    """Return mean and standard deviation of each figure over several runs."""
    runs = list(runs)
    return {
        name: (
            float(np.mean([run[name] for run in runs])),
            float(np.std([run[name] for run in runs], ddof=1 if len(runs) > 1 else 0)),
        )
        for name in (runs[0] if runs else {})
    }
