"""SLEEC: keep what is near near, in few dimensions, and let the neighbours vote.

Bhatia, Jain, Kar, Varma and Jain (2015) do not ask that all label vectors fit into a few
dimensions, since rare labels do not, but only that the products of near ones are kept:

    min_Z  Σ_i Σ_{j ∈ Ω_i} (y_i·y_j − z_i·z_j)²,            by singular value projection
    min_W  ½‖Z − XW‖² + λ‖XW‖₁ + ‖W‖² / (4C),               by ADMM

with Ω_i the rows whose labels are most like those of row i. Large corpora are cut by k-means of
their features, and each part has a Z and a W of its own. A new row goes to its part, x ↦ xW, and
the nearest training rows there give it their labels; learners with other partitions vote along.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_matrix

from labelspace.base import LabelRanker
from labelspace.ensemble import train_learners
from labelspace.labels import with_rows
from labelspace.models.sleec.learners import train_learner
from labelspace.models.sleec.settings import SLEECSettings
from labelspace.parameters import FLAG, one_of
from labelspace.search.result import SearchResult
from labelspace.store import schema
from labelspace.voting import Votes, VotingRanker

_TURNED = ("n_learners", "part_size", "dim", "graph_neighbors", "C", "n_neighbors")


class SLEEC(VotingRanker):
    """Votes of nearest training rows where regression has them, in local embeddings of label sets.

    The default is not quite the paper's method: nearer rows count more, and corpora of up to
    100,000 rows are one part with one learner.

    Parameters that are None take the value of the preset; the values of "best" are given first,
    those of "paper" in brackets.

    Parameters
    ----------
    preset : {"best", "paper"}, default="best"
        "best" is what measures best for its price; "paper" has the settings of the authors' program
        for corpora of that size.
    n_learners : int, optional
        Partitions, each with its maps, that vote together: 1 (1, but 10 beyond 15,000 rows).
    part_size : int, optional
        Rows in a part, on average: all up to 100,000 (all up to 15,000, else 6,000).
    dim : int, optional
        Dimensions of the space: 100 (100, but 50 beyond 15,000 rows).
    graph_neighbors : int, optional
        Neighbours of each row whose products are kept: 100, but 50 beyond 15,000 rows (250 to 500,
        else 25).
    C : float, optional
        Weight of a map's error against its length: 0.1 to 0.2, but 0.03 beyond 15,000 rows (0.1 to
        0.2).
    n_neighbors : int, optional
        Training rows that vote, for each learner: 25 to 70, 40 beyond 15,000 rows (25 to 70, else
        10).
    idf : bool, default=False
        Whether features are weighted by inverse document frequency: for 0-1 features or counts.
    settings : dict or SLEECSettings, optional
        Everything else that can be told: see
        :class:`labelspace.models.sleec.settings.SLEECSettings`.
    k, threshold, random_state, n_threads
        As in every estimator; see :class:`labelspace.base.LabelRanker`. Scores are shares of the
        votes, from 0 to 1.

    Attributes
    ----------
    learners_ : list of SLEECLearner
    Y_ : csr_matrix of shape (n_examples_, n_labels_)
        Labels of the training rows.
    settings_ : SLEECSettings

    Examples
    --------
    >>> from labelspace.models import SLEEC
    >>> X = [[1.0, 0.0, 0.1], [0.9, 0.2, 0.0], [0.0, 1.0, 0.1], [0.1, 0.9, 0.3]]
    >>> Y = [["red"], ["red"], ["round"], ["round"]]
    >>> model = SLEEC(n_neighbors=2, random_state=0).fit(X, Y)
    >>> model.classes_[model.predict_topk([[0.7, 0.1, 0.0]], k=1).labels]
    array([['red']], dtype='<U5')
    """

    settings_type = SLEECSettings
    settings_: SLEECSettings

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LabelRanker._parameter_constraints,
        **{name: [*SLEECSettings.rules[name], None] for name in _TURNED},
        "preset": [one_of(*SLEECSettings.presets)],
        "idf": [FLAG],
    }

    _schema: ClassVar[schema.Schema] = {
        "settings_": schema.part("SLEECSettings"),
        "learners_": schema.list_of(
            schema.part(
                "SLEECLearner", n_features="n_features", rows_end=schema.up_to("n_examples")
            ),
            least=1,
        ),
    }

    def __init__(
        self,
        *,
        preset: str = "best",
        n_learners: int | None = None,
        part_size: int | None = None,
        dim: int | None = None,
        graph_neighbors: int | None = None,
        C: float | None = None,
        n_neighbors: int | None = None,
        idf: bool = False,
        settings: Mapping[str, Any] | SLEECSettings | None = None,
        k: int = 5,
        threshold: float | None = None,
        random_state: Any = None,
        n_threads: int | None = None,
    ) -> None:
        super().__init__(k=k, threshold=threshold, random_state=random_state, n_threads=n_threads)
        self.preset = preset
        self.n_learners = n_learners
        self.part_size = part_size
        self.dim = dim
        self.graph_neighbors = graph_neighbors
        self.C = C
        self.n_neighbors = n_neighbors
        self.idf = idf
        self.settings = settings

    def _fit(self, X: csr_matrix, Y: csr_matrix) -> None:
        self.settings_ = self._resolved(X, Y)
        X = self._learn_rows(X, Y, normalize=self.settings_.normalize)
        seeds = self._seeds(self.settings_.n_learners)
        self.learners_ = train_learners(
            train_learner, (X, Y, self.settings_), seeds, self.n_threads
        )

    def _partial_fit(self, X: csr_matrix, Y: csr_matrix) -> None:
        """Put the rows where the maps have them; the maps stay as they are."""
        X = self.rows_.encode(X)
        n_old = self.Y_.shape[0]
        self.Y_ = with_rows(self.Y_, Y)
        voters = np.flatnonzero((np.diff(X.indptr) > 0) & (np.diff(Y.indptr) > 0))
        for learner in self.learners_:
            learner.add(csr_matrix(X[voters]), n_old + voters)

    def _votes(self, X: csr_matrix, k: int) -> Votes:
        found = [one.search(X, self.settings_.n_neighbors) for one in self.learners_]
        weights = np.concatenate([self._weights(one) for one in found], axis=1)
        none = SearchResult.none(X.shape[0], 0)
        return Votes(SearchResult.beside(found).ids, weights, none.ids, none.products)

    def _weights(self, found: SearchResult) -> Any:
        """Return what the votes of a learner's neighbours count; all together 1 / n_learners."""
        there = found.ids >= 0
        weights = there.astype(np.float32)
        if self.settings_.voting == "distance":
            # Distances are told apart by how far the neighbours are on the whole.
            squares = np.where(there, -found.products, 0.0)
            mean = squares.sum(axis=1) / np.maximum(there.sum(axis=1), 1)
            weights *= np.exp(-squares / np.maximum(mean, 1e-12)[:, np.newaxis])
        total = weights.sum(axis=1, keepdims=True) * len(self.learners_)
        return np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
