"""All that speaks for a label on a row, held together: spaces, classifiers, centroids, names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.ensemble import Learner
from labelspace.explain import FeatureContributions, Voters, in_equal_parts
from labelspace.explanation import Explanation, Reason
from labelspace.models.labelspace.candidates import (
    Candidates,
    LabelCentroids,
    Neighbors,
    gather_candidates,
)
from labelspace.models.labelspace.leaf_mates import LeafMates
from labelspace.models.labelspace.learners import find_neighbors, neighbor_weights
from labelspace.models.labelspace.name_index import NameIndex
from labelspace.models.labelspace.settings import LabelSpaceSettings
from labelspace.models.labelspace.vector_space import VectorSpace
from labelspace.partial_labels import PartialRows
from labelspace.search.result import SearchResult
from labelspace.search.sparse import SparseIndex
from labelspace.topk import TopK
from labelspace.voting import count_votes


@dataclass(frozen=True)
class LabelEvidence:
    """What is asked about rows; ``Y`` has labels of the training rows, or some (``partial``)."""

    learners: Sequence[Learner]
    Y: csr_matrix
    classifiers: SparseIndex
    centroids: LabelCentroids
    names: NameIndex | None
    vectors: VectorSpace | None
    settings: LabelSpaceSettings
    partial: PartialRows | None = None
    mates: LeafMates | None = None

    def candidates(
        self,
        X: csr_matrix,
        own: NDArray[np.int64] | None = None,
        groups: NDArray[np.int64] | None = None,
    ) -> Candidates:
        """Return the candidates of each row; a row in ``own`` is no neighbour of its group."""
        told = self.settings
        found, weights, Z = self._voters(X, own, groups)
        complete = None if self.partial is None else ~self.partial.are_among(found.ids)
        neighbors = Neighbors(found, weights, complete)
        votes, support = neighbors.count_votes(self.Y, min(told.n_voted, self.Y.shape[1]))
        if self.partial is not None:
            votes = self.partial.shares(votes, found.ids, weights)
        return gather_candidates(
            X,
            Z,
            votes,
            neighbors,
            support,
            self.classifiers,
            self.centroids,
            self.names,
            self.vectors,
            n_by_margin=told.n_by_margin,
            n_by_name=told.n_by_name,
        )

    def explanations(self, X: csr_matrix, top: TopK, n_reasons: int) -> list[list[Explanation]]:
        """Return rows that voted, features that classifiers like and words of names, in parts."""
        found, weights, _ = self._voters(X)
        explained = []
        for row in range(len(top)):
            voters = Voters(found.ids[row], weights[row], self.Y)
            features = FeatureContributions(X[row], self.classifiers)
            explanations = []
            for label, score in top.given(row):
                kinds = [voters.reasons_for(label), features.reasons_for(label)]
                if self.names is not None:
                    kinds.append(_name_reasons(self.names, X[row], label))
                explanations.append(Explanation(label, score, in_equal_parts(kinds, n_reasons)))
            explained.append(explanations)
        return explained

    def _voters(
        self,
        X: csr_matrix,
        own: NDArray[np.int64] | None = None,
        groups: NDArray[np.int64] | None = None,
    ) -> tuple[SearchResult, NDArray[np.float32], NDArray[np.float32]]:
        """Return who votes on rows, what each vote counts, and where rows lie in the spaces."""
        told = self.settings
        found, Z = find_neighbors(self.learners, X, told.n_neighbors)
        weights = neighbor_weights(found, told.vote_gamma, own, groups)
        if self.mates is not None:
            found, weights = self.mates.beside(X, found, weights, own, groups)
        if self.partial is not None:
            weights = self.partial.silenced(found.ids, weights)
        return found, weights, Z


def vote(
    found: SearchResult,
    Y: csr_matrix,
    k: int,
    gamma: float,
    own: NDArray[np.int64] | None = None,
) -> TopK:
    """Return the labels that neighbours vote for."""
    return count_votes(found.ids, neighbor_weights(found, gamma, own), Y, min(k, Y.shape[1]))


def _name_reasons(names: NameIndex, row: csr_matrix, label: int) -> list[Reason]:
    """Return the features of a row that are words of a label's name."""
    features, weights = names.words_in(row, label)
    order = np.argsort(-weights, kind="stable")
    return [Reason("name", int(features[at]), float(weights[at])) for at in order]
