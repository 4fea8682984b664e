"""What a linear model consists of: classifiers, how rows are scaled, and names of labels."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.errors import UsageError
from labelspace.registry import method_name
from labelspace.search.sparse import SparseIndex
from labelspace.tagger import Tagger

# Methods whose classifiers are all that there is to a model.
LINEAR = ("one-vs-all", "ppdsparse", "proxml")


class Rows(NamedTuple):
    """Weights of features (none: empty), whether rows get length one, and names of labels."""

    feature_weights: NDArray[np.float32]
    norm: bool
    labels: list[str]

    @staticmethod
    def of(tagger: Tagger) -> Rows:
        """Return what a tagger whose estimator has ``rows_`` does to rows before they are used."""
        estimator: Any = tagger.estimator_
        own = estimator.rows_.feature_weights
        labels = [tagger.catalog.name(label) for label in range(estimator.n_labels_)]
        none = np.zeros(0, dtype=np.float32)
        return Rows(none if own is None else own, bool(estimator.rows_.norm), labels)


class LinearModel(NamedTuple):
    """Weights (n_features, n_labels), offsets, weights of features (none: empty), and names."""

    weights: csr_matrix
    offsets: NDArray[np.float32]
    feature_weights: NDArray[np.float32]
    norm: bool
    labels: list[str]

    @staticmethod
    def of(tagger: Tagger) -> LinearModel:
        """Return the parts of a tagger whose method is linear; any other is an error."""
        estimator: Any = tagger.estimator_
        index = getattr(estimator, "index_", None)
        is_linear = method_name(type(estimator)) in LINEAR
        if not is_linear or not isinstance(index, SparseIndex) or index.n_dense:
            raise UsageError(
                f"{type(estimator).__name__} has no linear classifiers on words alone: export a "
                "model of one-vs-all, ppdsparse or proxml (or, as .pyz, of parabel, label-tree or "
                "balanced-label-tree), or serve this one."
            )
        rows = Rows.of(tagger)
        return LinearModel(index.inverted, index.offsets, *rows)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the weights by feature, and the offsets."""
        W = self.weights
        return {
            "indptr": W.indptr, "indices": W.indices, "data": W.data, "offsets": self.offsets,
        }  # fmt: skip
