"""A learner of Hyperbolic: a map into the space, and the points of rows and labels there."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.models.hyperbolic.encoder import SpaceEncoder
from labelspace.models.hyperbolic.metric_index import SPACES, MetricIndex
from labelspace.models.hyperbolic.settings import HyperbolicSettings
from labelspace.models.hyperbolic.training import train_joint
from labelspace.search.result import NO_KEY, SearchResult
from labelspace.selection import usable_rows
from labelspace.store import Storable, schema


def train_learner(inputs: tuple[Any, ...], seed: int) -> JointLearner:
    """Train a learner on rows, their labels, the rows held out, and settings."""
    X, Y, held_out, settings = inputs
    return JointLearner.trained(X, Y, held_out, settings, seed)


class JointLearner(Storable):
    """A trained map, and indexes of the training rows and of the labels by their points."""

    _schema: ClassVar[schema.Schema] = {
        "encoder": schema.part("SpaceEncoder", n_features="n_features", dim="dim"),
        "rows": schema.part("MetricIndex", dim="dim", ids_end="rows_end"),
        "labels": schema.part("MetricIndex", dim="dim", ids_end="labels_end"),
    }

    @classmethod
    def _check_state(cls, state: schema.State, sizes: schema.Sizes) -> None:
        super()._check_state(state, sizes)
        if len({state[name].space for name in state}) > 1:
            raise schema.Mismatch("rows and labels are not in the encoder's space")

    def __init__(self, encoder: SpaceEncoder, rows: MetricIndex, labels: MetricIndex) -> None:
        self.encoder = encoder
        self.rows = rows
        self.labels = labels

    @classmethod
    def trained(
        cls,
        X: csr_matrix,
        Y: csr_matrix,
        held_out: NDArray[np.int64],
        settings: HyperbolicSettings,
        seed: int,
    ) -> JointLearner:
        """Learn from rows that are not held out; all of them vote."""
        learned = train_joint(X, Y, settings, seed, held_out)
        encoder = SpaceEncoder(
            learned.weights, learned.top, settings.space, settings.way, settings.storage
        )

        def index(points: NDArray[np.floating], ids: NDArray[np.int64]) -> MetricIndex:
            kind, n_probes = settings.search, settings.n_probes
            return MetricIndex(
                settings.space, points, ids, search=kind, n_probes=n_probes, seed=seed
            )

        voters = usable_rows(X, Y)
        seen = np.flatnonzero(np.bincount(Y.indices, minlength=Y.shape[1]))
        rows = index(encoder.encode(csr_matrix(X[voters])), voters)
        return cls(encoder, rows, index(learned.labels[seen], seen))

    def search(
        self, X: csr_matrix, n_rows: int, n_labels: int
    ) -> tuple[SearchResult, SearchResult]:
        """Return the nearest training rows and the nearest labels of each row."""
        U = self.encoder.encode(X)
        found = self.rows.search(U, n_rows), self.labels.search(U, n_labels)
        # A query without known features lies nowhere: nothing is near to it.
        nowhere = np.diff(X.indptr) == 0
        for one in found:
            one.ids[nowhere] = NO_KEY
        return found

    def append(self, X: csr_matrix, Y: csr_matrix, n_old: int) -> None:
        """Put new rows where the map has them, and new labels amid their rows."""
        voters = usable_rows(X, Y)
        if not voters.size:
            return
        U = self.encoder.encode(csr_matrix(X[voters]))
        self.rows.add(U, n_old + voters)
        given = csr_matrix(Y[voters])
        new = np.setdiff1d(given.indices, self.labels.ids)
        self.labels.add(SPACES[self.rows.space].midpoints(csr_matrix(given.T)[new], U), new)
