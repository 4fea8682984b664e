"""How much to believe each of several methods: their scores together become one probability.

Methods score on scales of their own: probabilities, shares of votes, margins. Rows held out say,
for each method, which share of the labels with about this score was right, as log odds that rise
with the score; logistic regression then weighs these log odds against each other. For a label l of
row x, with s_m the score that method m gives it and g_m its curve,

    p(l | x) = σ( b + Σ_m w_m · g_m(s_m) )

A label that a method does not name among its best has the log odds of all such labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.isotonic import isotonic_regression

from labelspace.calibration import Calibration
from labelspace.store import Storable, schema
from labelspace.topk import NO_LABEL, TopK, topk_csr

# Labels that each method names for a row.
N_CANDIDATES = 50
_N_BINS = 200  # of a method's scores, narrow where they are high
_FEWEST = 10  # scores in a bin at least
_N_FOLDS = 5
_N_STEPS, _PULL = 25, 1.0

Floats = NDArray[np.float64]


class Mixture(Storable):
    """What the scores of several methods are worth together.

    Attributes
    ----------
    curves : list of Curve
        What the scores of each method are worth.
    weights : ndarray of shape (n_methods,)
    bias : float
    calibration : Calibration
        What the probabilities were worth on rows that the mixture had not seen.

    Examples
    --------
    >>> Y = csr_matrix([[1, 0], [0, 1]] * 20)
    >>> sure = TopK(np.array([[0, 1], [1, 0]] * 20), np.array([[0.9, 0.1]] * 40, dtype=np.float32))
    >>> unsure = TopK(np.array([[0, 1]] * 40), np.array([[0.6, 0.4]] * 40, dtype=np.float32))
    >>> mixture = Mixture.learn([sure, unsure], Y)
    >>> mixture.mix([sure, unsure], n_labels=2, k=1).labels[:2].ravel()
    array([0, 1])
    """

    _schema: ClassVar[schema.Schema] = {
        "curves": schema.list_of(schema.part("Curve"), least=1, length="n_methods"),
        "weights": schema.array("float64", "n_methods"),
        "bias": schema.number(),
        "calibration": schema.part("Calibration"),
    }

    def __init__(
        self, curves: list[Curve], weights: Floats, bias: float, calibration: Calibration
    ) -> None:
        self.curves = curves
        self.weights = weights
        self.bias = bias
        self.calibration = calibration

    @classmethod
    def learn(cls, tops: Sequence[TopK], Y: csr_matrix) -> Mixture:
        """Learn from what methods say of rows that they have not seen, and the rows' labels."""
        evidence = Evidence(tops, Y)
        curves = [_curve(scores, evidence.right) for scores in evidence.scores]
        weights, bias = _regressed(evidence.log_odds, evidence.right)
        mixed = evidence.ranking(range(len(tops)), min(N_CANDIDATES, Y.shape[1]))
        return cls(curves, weights, bias, Calibration(mixed, mixed, Y))

    def mix(self, tops: Sequence[TopK], n_labels: int, k: int) -> TopK:
        """Return the ``k`` most probable labels of each row by all methods together."""
        keys = _candidates(tops, n_labels)
        logits = self._log_odds(tops, keys, n_labels) @ self.weights + self.bias
        return _ranked(keys, logits, (len(tops[0]), n_labels), k)

    def _log_odds(self, tops: Sequence[TopK], keys: NDArray[np.int64], n_labels: int) -> Floats:
        """Return the log odds by each method (n_candidates, n_methods)."""
        scores = [_scores(top, keys, n_labels) for top in tops]
        return np.stack([c.at(s) for c, s in zip(self.curves, scores, strict=True)], axis=1)


class Curve(Storable):
    """Log odds that a label with some score is right: they rise with the score.

    Attributes
    ----------
    knots, values : ndarray
        Scores at which they are known, and what they are there.
    missing : float
        Those of a label that has no score.
    """

    _schema: ClassVar[schema.Schema] = {
        "knots": schema.array("float64", "n_knots"),
        "values": schema.array("float64", "n_knots"),
        "missing": schema.number(),
    }

    def __init__(self, knots: Floats, values: Floats, missing: float) -> None:
        self.knots = knots
        self.values = values
        self.missing = missing

    @classmethod
    def _check_state(cls, state: schema.State, sizes: schema.Sizes) -> None:
        super()._check_state(state, sizes)
        if not state["knots"].size or (np.diff(state["knots"]) <= 0).any():
            raise schema.Mismatch("knots do not rise")

    def at(self, scores: Floats) -> Floats:
        """Return the log odds of scores; beyond the ends they go on as steeply as between them."""
        found = np.interp(scores, self.knots, self.values)
        first, last = self.knots[0], self.knots[-1]
        if last > first:
            slope = (self.values[-1] - self.values[0]) / (last - first)
            found += slope * (np.maximum(scores - last, 0) + np.minimum(scores - first, 0))
        return np.where(np.isnan(scores), self.missing, found)


class Evidence:
    """What several methods say of rows held out, in log odds of rows that a curve has not seen.

    Attributes
    ----------
    right : ndarray of shape (n_candidates,)
        Whether a label that any of them names is right.
    scores : list of ndarray
        The score that each gives it; no number where it does not name it.
    log_odds : ndarray of shape (n_candidates, n_methods)
    """

    def __init__(self, tops: Sequence[TopK], Y: csr_matrix) -> None:
        self._shape = Y.shape
        self._keys = _candidates(tops, Y.shape[1])
        self._fold = (self._keys // Y.shape[1]) % _N_FOLDS
        self.right = np.isin(self._keys, _keys_of(Y), assume_unique=True)
        self.scores = [_scores(top, self._keys, Y.shape[1]) for top in tops]
        self.log_odds = np.zeros((len(self._keys), len(tops)))
        for fold in range(_N_FOLDS):
            seen, asked = self._fold != fold, self._fold == fold
            for at, scores in enumerate(self.scores):
                self.log_odds[asked, at] = _curve(scores[seen], self.right[seen]).at(scores[asked])

    def ranking(self, members: Sequence[int], k: int) -> TopK:
        """Return the ``k`` best labels of each row by some of the methods together.

        The rows of a fold are ranked by what was learned from the others.
        """
        chosen = self.log_odds[:, list(members)]
        logits = np.zeros(len(chosen))
        for fold in range(_N_FOLDS):
            seen, asked = self._fold != fold, self._fold == fold
            weights, bias = _regressed(chosen[seen], self.right[seen])
            logits[asked] = chosen[asked] @ weights + bias
        return _ranked(self._keys, logits, self._shape, k)


def _ranked(keys: NDArray[np.int64], logits: Floats, shape: tuple[int, int], k: int) -> TopK:
    """Return the ``k`` candidates of each row with the largest probability."""
    probabilities = (1.0 / (1.0 + np.exp(-np.clip(logits, -50, 50)))).astype(np.float32)
    rows = np.searchsorted(keys, np.arange(shape[0] + 1) * shape[1])
    return topk_csr(csr_matrix((probabilities, keys % shape[1], rows), shape=shape), k)


def _regressed(log_odds: Floats, right: NDArray[np.bool_]) -> tuple[Floats, float]:
    """Return weights and bias of logistic regression, by Newton's method.

    A little pull towards equal weights decides where candidates are too few to tell.
    """
    n, n_methods = log_odds.shape
    design = np.concatenate((log_odds, np.ones((n, 1))), axis=1)
    usual = np.append(np.full(n_methods, 1.0 / n_methods), 0.0)
    solution = usual.copy()
    for _ in range(_N_STEPS):
        p = 1.0 / (1.0 + np.exp(-np.clip(design @ solution, -30, 30)))
        gradient = design.T @ (p - right) + _PULL * (solution - usual)
        curvature = (design * (p * (1 - p))[:, None]).T @ design + _PULL * np.eye(n_methods + 1)
        step = np.linalg.solve(curvature, gradient)
        solution -= np.clip(step, -2.0, 2.0)
        if np.abs(step).max() < 1e-6:
            break
    return solution[:-1], float(solution[-1])


def _candidates(tops: Sequence[TopK], n_labels: int) -> NDArray[np.int64]:
    """Return the labels that any method names, as row · n_labels + label, in order."""
    return np.unique(np.concatenate([_keys(top, n_labels)[top.labels != NO_LABEL] for top in tops]))


def _keys(top: TopK, n_labels: int) -> NDArray[np.int64]:
    return np.arange(len(top), dtype=np.int64)[:, None] * n_labels + top.labels


def _keys_of(Y: csr_matrix) -> NDArray[np.int64]:
    rows = np.repeat(np.arange(Y.shape[0], dtype=np.int64), np.diff(Y.indptr))
    return rows * Y.shape[1] + Y.indices


def _scores(top: TopK, keys: NDArray[np.int64], n_labels: int) -> Floats:
    """Return a method's score of each candidate; no number where it does not name it."""
    given = top.labels != NO_LABEL
    scores = np.full(len(keys), np.nan)
    scores[np.searchsorted(keys, _keys(top, n_labels)[given])] = top.scores[given]
    return scores


def _curve(scores: Floats, right: NDArray[np.bool_]) -> Curve:
    """Return the curve of a method, from the scores that it gave and whether it was right."""
    named = ~np.isnan(scores)
    missing = float(_logit(right[~named].sum() + 0.1, (~named).sum() + 1.0))
    scores, right = scores[named], right[named]
    if not scores.size:
        return Curve(np.zeros(1), np.zeros(1), missing)
    order = np.argsort(-scores, kind="stable")
    scores, hits = scores[order], right[order].astype(np.float64)
    ends = np.unique(np.geomspace(min(_FEWEST, len(scores)), len(scores), _N_BINS).astype(int))
    starts = np.concatenate(([0], ends[:-1]))
    sizes = (ends - starts).astype(np.float64)
    rates = np.add.reduceat(hits, starts) / sizes
    rising = isotonic_regression(rates, sample_weight=sizes, increasing=False)
    # Bins with the same rate are one, with one knot, so that the curve rises between knots.
    block = np.concatenate(([0], np.flatnonzero(np.diff(rising)) + 1))
    size = np.add.reduceat(sizes, block)
    middle = np.add.reduceat(np.add.reduceat(scores, starts), block) / size
    odds = np.atleast_1d(_logit(rising[block] * size + 0.5, size + 1.0))
    knots, first = np.unique(middle[::-1], return_index=True)
    return Curve(knots, np.maximum.accumulate(odds[::-1][first]), missing)


def _logit(hits: Any, n: Any) -> Any:
    return np.log(hits / (n - hits))
