"""Rows and labels embedded on one sphere: the encoder, the labels, and a search for them.

A row goes through the encoder, and its answer is the labels with the largest s·z·v + b. A bias is
one more coordinate of a label's key, which meets a constant in the query, so any search for inner
products finds the largest scores. Labels that no row has are not here: nothing is known of them,
and there may be far more of them than of the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.encoders.network import NetworkEncoder
from labelspace.errors import UsageError
from labelspace.models.glas.coarse_to_fine import CoarseToFineIndex, principal_directions
from labelspace.models.glas.concatenated import ConcatenatedEncoder, concatenated
from labelspace.search.exact import ExactIndex
from labelspace.search.result import SearchResult
from labelspace.spaces import sphere
from labelspace.store import Storable, schema

Floats = NDArray[np.float32]

# A query's constant, which meets the bias of a key; large, so that keys have a small number there.
_CONSTANT = 8.0
# With more labels than this, an exact search takes too long.
_FEW_LABELS = 2000
# Directions of a short form, and of one where there are more labels than this. With the bias they
# fill whole steps of a processor.
_DIRECTIONS, _FEWER_DIRECTIONS = 191, 127
_MANY_LABELS = 30_000
# Rows that tell the mean of all rows, their directions, and the mean score of a row's own label.
_SAMPLED_ROWS = 2048


class LearnedNetwork(NamedTuple):
    """A network, its labels' unit vectors and biases, and its scale."""

    encoder: NetworkEncoder
    vectors: Floats
    biases: Floats
    scale: float


class JointEmbedding(Storable):
    """An encoder of rows, and vectors and biases of labels.

    Parameters
    ----------
    encoder : ConcatenatedEncoder
    labels : ndarray of shape (n_known,)
        Numbers of the labels that are here.
    vectors : ndarray of shape (n_known, dim)
        Their unit vectors.
    biases : ndarray of shape (n_known,)
    scale : float
        s, by which inner products are multiplied.
    """

    index: ExactIndex | CoarseToFineIndex

    _schema: ClassVar[schema.Schema] = {
        "encoder": schema.part("ConcatenatedEncoder", n_features="n_features", dim="dim"),
        "labels": schema.array("int64", "n_known", low=0, end="labels_end", unique=True),
        "exact_vectors": schema.optional(schema.array("float32", "n_known", "dim")),
        "biases": schema.array("float32", "n_known"),
        "scale": schema.number(1e-30),
        "mean_row": schema.array("float32", "dim"),
        "mean_own_score": schema.number(),
        "directions": schema.optional(schema.array("float32", "dim", None)),
        "index": schema.part(
            "ExactIndex", "CoarseToFineIndex", n_keys="n_known", dim=schema.plus("dim", 1)
        ),
    }

    @classmethod
    def _check_state(cls, state: schema.State, sizes: schema.Sizes) -> None:
        super()._check_state(state, sizes)
        if not np.array_equal(state["index"].ids, state["labels"]):
            raise schema.Mismatch("index has other labels than labels")

    def __init__(
        self,
        encoder: ConcatenatedEncoder,
        labels: NDArray[np.int64],
        vectors: Floats,
        biases: Floats,
        scale: float,
    ) -> None:
        self.encoder = encoder
        self.labels = labels
        self.exact_vectors: Floats | None = vectors
        self.biases = biases
        self.scale = scale
        self.mean_row = np.zeros(vectors.shape[1], dtype=np.float32)
        self.mean_own_score = 0.0
        self.directions: Floats | None = None

    @classmethod
    def of_networks(
        cls,
        networks: Sequence[LearnedNetwork],
        labels: NDArray[np.int64],
        linear: tuple[NetworkEncoder, Floats] | None = None,
        linear_scale: float = 1.0,
        columns: NDArray[np.int64] | None = None,
        n_features: int = 0,
    ) -> JointEmbedding:
        """Return networks side by side, of which the mean counts, and a linear map beside them.

        The linear map is an encoder and its labels' unit vectors; ``columns`` are the features
        that all take, if not all ``n_features``.
        """
        scales = [one.scale / len(networks) for one in networks]
        if not min(scales) > 0.0:
            raise UsageError(
                "The training has diverged: scores have no scale; give a smaller learning_rate."
            )
        parts = [(one.encoder, one.vectors) for one in networks]
        if linear is not None:
            parts.append(linear)
            scales.append(linear_scale)
        shares = [scale / sum(scales) for scale in scales]
        encoder = ConcatenatedEncoder(
            [encoder for encoder, _ in parts], shares, columns, n_features
        )
        vectors = concatenated([vectors for _, vectors in parts], shares)
        biases = np.mean([one.biases for one in networks], axis=0)
        return cls(encoder, labels, vectors, biases, sum(scales))

    def networks(self, n_networks: int) -> list[LearnedNetwork]:
        """Return the networks among the maps, which come first, to learn on."""
        scales = [n_networks * self.scale * share for share in self.encoder.shares[:n_networks]]
        biases = self.biases.copy()  # which learning on changes in place
        return [
            LearnedNetwork(encoder, sphere.keys(vectors), biases, scale)
            for encoder, vectors, scale in zip(
                self.encoder.parts, self.encoder.split(self.vectors), scales, strict=False
            )
        ]

    def replace_networks(self, networks: Sequence[LearnedNetwork]) -> None:
        """Replace the networks by these, which have learned on."""
        others = self.encoder.split(self.vectors)[len(networks) :]
        shares = self.encoder.shares[: len(networks)]
        self.encoder.parts[: len(networks)] = [one.encoder for one in networks]
        self.biases = np.mean([one.biases for one in networks], axis=0)
        self.exact_vectors = np.hstack(
            [concatenated([one.vectors for one in networks], shares), *others]
        )

    @property
    def vectors(self) -> Floats:
        """Unit vectors of the labels."""
        if self.exact_vectors is not None:
            return self.exact_vectors
        return sphere.keys(np.ascontiguousarray(self.index.vectors(self.labels)[:, :-1]))

    def build_index(
        self,
        preference: NDArray[np.floating] | float = 0.0,
        *,
        kind: str = "auto",
        storage: str = "int8",
    ) -> None:
        """Make the index of labels, with something added to their scores.

        ``kind`` is exact or coarse_to_fine; auto is exact up to 2,000 labels.
        """
        n_labels = len(self.labels)
        if kind == "auto":
            kind = "exact" if n_labels <= _FEW_LABELS else "coarse_to_fine"
        keys = np.empty((n_labels, self.encoder.dim + 1), dtype=np.float32)
        keys[:, :-1] = self.vectors
        keys[:, -1] = (self.biases + preference) / (self.scale * _CONSTANT)
        # Keys and vectors are large where labels are many: one of them is enough.
        self.exact_vectors = None
        if kind == "exact":
            self.index = ExactIndex(keys, self.labels)
            return
        if self.directions is None:
            self.directions = principal_directions(keys[:, :-1], _DIRECTIONS)
        n_directions = _DIRECTIONS if n_labels <= _MANY_LABELS else _FEWER_DIRECTIONS
        some = np.ascontiguousarray(self.directions[:, :n_directions])
        self.index = CoarseToFineIndex(keys, self.labels, some, storage=storage)

    def search(self, X: csr_matrix, k: int) -> SearchResult:
        """Return the labels with the largest scores for rows ``X``, and the scores."""
        return self.search_at(self.encoder.encode(X), k)

    def search_at(self, Z: Floats, k: int) -> SearchResult:
        """Return the same for rows that lie at ``Z``."""
        constant = np.full((len(Z), 1), _CONSTANT, dtype=np.float32)
        found = self.index.search(np.concatenate((Z, constant), axis=1), k)
        return SearchResult(found.ids, self.scale * found.products)

    def estimate_statistics(self, X: csr_matrix, Y: csr_matrix) -> None:
        """Note where rows lie and how they score their labels.

        The rows have the features that the encoder takes; Y's columns are ``labels``.
        """
        X, Y = X[:_SAMPLED_ROWS], Y[:_SAMPLED_ROWS]
        if not Y.nnz:
            return
        Z = self.encoder.encode_taken(X)
        own = np.repeat(Z, np.diff(Y.indptr), axis=0)
        products = np.einsum("ij,ij->i", own, self.vectors[Y.indices])
        self.mean_own_score = float((self.scale * products + self.biases[Y.indices]).mean())
        self.mean_row = Z.mean(axis=0)
        if len(self.labels) > _FEW_LABELS:
            self.directions = principal_directions(Z, _DIRECTIONS)

    def add_labels(self, new: NDArray[np.int64], X: csr_matrix, Y: csr_matrix) -> None:
        """Give new labels, the columns of ``Y``, vectors and biases; each has a row.

        They point from the mean of all rows to the mean of theirs. The bias is such that their
        rows score them as rows score their labels on average, but not above every other bias.
        """
        own = csr_matrix(Y.T)
        counts = np.diff(own.indptr).astype(np.float32)
        means = np.asarray(own @ self.encoder.encode(X), dtype=np.float32)
        means /= counts[:, np.newaxis]
        vectors = sphere.keys(means - self.mean_row)
        biases = np.zeros(len(new), dtype=np.float32)
        if self.biases.any():
            products = np.einsum("ij,ij->i", means, vectors)
            biases = np.minimum(self.mean_own_score - self.scale * products, self.biases.max())
        self.exact_vectors = np.concatenate((self.vectors, vectors))
        self.biases = np.concatenate((self.biases, biases.astype(np.float32)))
        self.labels = np.concatenate((self.labels, new))
