"""How a learner of SLEEC comes to be: rows are parted, each part is embedded, mapped, indexed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.encoders.linear import LinearEncoder
from labelspace.encoders.partition import Partition, kmeans_partition
from labelspace.models.sleec.settings import SLEECSettings
from labelspace.models.sleec.singular_value_projection import neighbor_products, project
from labelspace.models.sleec.sparse_regression import sparse_regression, without_smallest
from labelspace.search.exact import ExactIndex
from labelspace.search.result import SearchResult
from labelspace.selection import usable_rows
from labelspace.store import Storable, schema

Floats = NDArray[np.float32]

# Square of the least distance that is told from none, in squares of the row's length.
_NEAREST = 1e-4


@dataclass(frozen=True)
class SLEECTraining:
    """What learners are made from, and how: rows of length one, and their labels."""

    X: csr_matrix
    Y: csr_matrix
    settings: SLEECSettings

    def learner(self, seed: int) -> SLEECLearner:
        """Part the rows that have features and labels, and embed each part."""
        usable = usable_rows(self.X, self.Y)
        n_parts = max(-(-usable.size // self.settings.part_size), 1)
        inside = csr_matrix(self.X[usable]) if usable.size else self.X
        partition = kmeans_partition(inside, n_parts, seed)
        assigned = partition.assign(inside)
        parts: list[LocalEmbedding | None] = []
        for number in range(n_parts):
            rows = usable[assigned[: usable.size] == number] if usable.size else usable
            parts.append(self._embedding(rows, seed + number) if rows.size else None)
        return SLEECLearner(partition, parts)

    def _embedding(self, rows: NDArray[np.int64], seed: int) -> LocalEmbedding:
        """Embed some rows as if there were no others, and no other features."""
        chosen = self.settings
        X = csr_matrix(self.X[rows])
        features = np.unique(X.indices)
        X = csr_matrix(X[:, features])
        products = neighbor_products(
            csr_matrix(self.Y[rows], dtype=np.float32), chosen.graph_neighbors, seed=seed
        )
        Z, _ = project(products, chosen.dim, max_steps=chosen.max_steps, seed=seed)
        W = sparse_regression(
            X, Z, C=chosen.C, l1=chosen.l1, rho=chosen.rho, n_rounds=chosen.n_rounds
        )
        encoder = LinearEncoder(without_smallest(W, chosen.cut_weights), chosen.storage)
        # Rows vote from where the map has them, since that is where new rows go.
        codes = without_smallest(encoder.encode(X), chosen.cut_codes, axis=0)
        return LocalEmbedding(encoder, features, ExactIndex(_keys(codes), rows))


def train_learner(inputs: tuple[Any, ...], seed: int) -> SLEECLearner:
    """Train a learner on rows, their labels, and settings."""
    return SLEECTraining(*inputs).learner(seed)


class LocalEmbedding(Storable):
    """The map of a part's rows, and where it has them.

    The nearest row is that of the largest product z·z' − ½‖z'‖², so a row is kept as (z', ‖z'‖²)
    and asked for by (z, −½).

    Parameters
    ----------
    encoder : LinearEncoder
    features : ndarray
        The features that the encoder knows.
    rows : ExactIndex
        Training rows, by row number.
    """

    _schema: ClassVar[schema.Schema] = {
        "encoder": schema.part("LinearEncoder", n_features="n_known", dim="dim"),
        "features": schema.array("int32 int64", "n_known", low=0, end="features_end"),
        "rows": schema.part("ExactIndex", dim=schema.plus("dim", 1), ids_end="rows_end"),
    }

    def __init__(
        self, encoder: LinearEncoder, features: NDArray[np.integer], rows: ExactIndex
    ) -> None:
        self.encoder = encoder
        self.features = features
        self.rows = rows

    def encode(self, X: csr_matrix) -> Floats:
        """Return where the map has rows."""
        return self.encoder.encode(csr_matrix(X[:, self.features]))

    def search(self, X: csr_matrix, n_rows: int) -> SearchResult:
        """Return the nearest training rows and −d², where d is their distance."""
        Z = self.encode(X)
        asked = np.column_stack((Z, np.full(len(Z), -0.5, dtype=np.float32)))
        found = self.rows.search(asked, n_rows)
        squares = np.einsum("ij,ij->i", Z, Z)[:, np.newaxis]
        # Nearer than this, differences are those of rounding.
        apart = np.maximum(squares - 2.0 * found.products, _NEAREST * squares)
        return SearchResult(found.ids, -apart)

    def add(self, X: csr_matrix, ids: NDArray[np.int64]) -> None:
        """Put more rows in, where the map has them; they are found at once."""
        self.rows.add(_keys(self.encode(X)), ids)


class SLEECLearner(Storable):
    """A partition of the rows and an embedding of each part; a row asks the one of its part."""

    _schema: ClassVar[schema.Schema] = {
        "partition": schema.part("Partition", n_features="n_features", n_parts="n_parts"),
        "parts": schema.list_of(
            schema.optional(schema.part("LocalEmbedding", features_end=schema.up_to("n_features"))),
            length="n_parts",
        ),
    }

    @classmethod
    def _check_state(cls, state: schema.State, sizes: schema.Sizes) -> None:
        super()._check_state(state, sizes)
        ends = [sizes.of(part).get("rows_end", 0) for part in state["parts"] if part is not None]
        sizes.settle("rows_end", max(ends, default=0))

    def __init__(self, partition: Partition, parts: list[LocalEmbedding | None]) -> None:
        self.partition = partition
        self.parts = parts

    def search(self, X: csr_matrix, n_rows: int) -> SearchResult:
        """Return the nearest training rows in each row's part, and −d²."""
        found = SearchResult.none(X.shape[0], n_rows)
        for number, queries in self._by_part(X):
            part = self.parts[number]
            assert part is not None
            there = part.search(csr_matrix(X[queries]), n_rows)
            width = there.ids.shape[1]
            found.ids[queries, :width] = there.ids
            found.products[queries, :width] = there.products
        return found

    def add(self, X: csr_matrix, ids: NDArray[np.int64]) -> None:
        """Put more rows into the parts that they belong to."""
        for number, new in self._by_part(X):
            part = self.parts[number]
            assert part is not None
            part.add(csr_matrix(X[new]), ids[new])

    def _by_part(self, X: csr_matrix) -> list[tuple[int, NDArray[np.int64]]]:
        """Return the rows that go to each part; a row without features goes nowhere."""
        there = [number for number, part in enumerate(self.parts) if part is not None]
        if not there or not X.shape[0]:
            return []
        scores = self.partition.scores(X)[:, there]
        chosen = np.asarray(there)[scores.argmax(axis=1)]
        chosen[np.diff(X.indptr) == 0] = -1
        return [
            (number, np.flatnonzero(chosen == number)) for number in np.unique(chosen[chosen >= 0])
        ]


def _keys(codes: Floats) -> Floats:
    return np.column_stack((codes, np.einsum("ij,ij->i", codes, codes))).astype(np.float32)
