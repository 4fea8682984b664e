"""AnnexML: place rows so that the neighbours of a row are the rows with like labels.

Tagami (2017) builds the k-NN graph of label vectors and learns a linear map that reproduces it:
with R(i, j) = cos(V x_i, V x_j) and j a label-graph neighbour of i,

    min_V  Σ_i Σ_j −log  e^{γ R(i,j)} / ( e^{γ R(i,j)} + Σ_{n} e^{γ R(i,n)} )

A new row is mapped, its nearest training rows are searched, and their labels are counted; several
learners vote together. Here negatives are the other pairs of a batch, but for those about as alike,
and partners choose among rows, too; a nearer row's vote counts e^{γ(cos − 1)}, and labels
have vectors of their own in the same space, which vote for themselves.
``preset="paper"`` does as the original program does: parts of 6,000 rows, ten neighbours of each
row against ten rows of the part with a step for each pair, 50 dimensions, a greedy walk on the
graph of nearest rows, plain counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.base import LabelRanker
from labelspace.ensemble import search_all, train_learners
from labelspace.graph.label_knn import label_knn
from labelspace.labels import with_rows, without_rows
from labelspace.models.annexml.learners import LearnerTraining, train_learner
from labelspace.models.annexml.settings import AnnexMLSettings
from labelspace.parameters import FLAG, one_of, whole
from labelspace.search.result import SearchResult
from labelspace.selection import hold_out, usable_rows
from labelspace.store import schema
from labelspace.threads import train_in_parallel
from labelspace.voting import (
    GAMMAS,
    LABEL_VOTES,
    Votes,
    VoteWeights,
    VotingRanker,
    choose_votes,
)

# Rows to choose the weights of votes by, at least and at most; with few rows none can be spared.
_HELD_OUT = (500, 4000)
_FEW = 5_000

_TURNED = (
    "n_learners",
    "dim",
    "gamma",
    "n_epochs",
    "learning_rate",
    "partition",
    "n_neighbors",
    "label_votes",
)


class AnnexML(VotingRanker):
    """Votes of nearest training rows and labels in a learned space.

    Parameters that are None take the value of the preset; the values of "best" are given first,
    those of "paper" in brackets.

    Parameters
    ----------
    preset : {"best", "paper"}, default="best"
        "best" is what measures best; "paper" learns and answers as the original program does.
    n_learners : int, optional
        Maps that are learned and vote together: 4 (15).
    dim : int, optional
        Dimensions of the space: 192, but 96 for fewer than 20,000 rows or more than 6 learners
        (50).
    gamma : float, optional
        Sharpness of the contrast: 20, but 10 for fewer than 20,000 rows (10).
    n_epochs : int, optional
        Passes over the rows: 5 (10); small corpora get more, for 100 steps.
    learning_rate : float, optional
        First step size, falling to zero: 0.2, but 0.1 for fewer than 20,000 rows (0.1 to the end).
    partition : {"none", "learned", "kmeans", "smce"}, optional
        How rows are divided into parts with a map and an index each: none (learned). "kmeans"
        clusters features and "smce" labels.
    n_neighbors : int, optional
        Training rows that vote, for each learner: 40, fewer with more than 6 learners (10).
    label_votes : float, optional
        What all votes of labels for themselves count against all votes of rows: chosen by asking
        about a twentieth of the rows, which is held out of the maps' training; 0.5 for fewer than
        5,000 rows (0).
    use_learners : int, optional
        Learners that are asked at prediction; all unless given.
    idf : bool, default=False
        Whether features are weighted by inverse document frequency: for 0-1 features or counts.
    settings : dict or AnnexMLSettings, optional
        Everything else that can be told: see
        :class:`labelspace.models.annexml.settings.AnnexMLSettings`.
    k, threshold, random_state, n_threads
        As in every estimator; see :class:`labelspace.base.LabelRanker`. Scores are shares of the
        votes, from 0 to 1; where votes are counted (paper) they are counts.

    Attributes
    ----------
    learners_ : list of Learner or PartitionedLearner
    Y_ : csr_matrix of shape (n_examples_, n_labels_)
        Labels of the training rows.
    settings_ : AnnexMLSettings
        The settings as preset, corpus, parameters and rows held out have made them.

    Examples
    --------
    >>> from labelspace.models import AnnexML
    >>> X = [[1.0, 0.0, 0.1], [0.9, 0.2, 0.0], [0.0, 1.0, 0.1], [0.1, 0.9, 0.3]]
    >>> model = AnnexML(random_state=0).fit(X, [["red"], ["red"], ["round"], ["round"]])
    >>> model.classes_[model.predict_topk([[0.7, 0.1, 0.0]], k=1).labels]
    array([['red']], dtype='<U5')
    """

    settings_type = AnnexMLSettings
    settings_: AnnexMLSettings

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LabelRanker._parameter_constraints,
        **{name: [*AnnexMLSettings.rules[name], None] for name in _TURNED},
        "preset": [one_of(*AnnexMLSettings.presets)],
        "use_learners": [whole(), None],
        "idf": [FLAG],
    }

    _schema: ClassVar[schema.Schema] = {
        "settings_": schema.part("AnnexMLSettings"),
        "learners_": schema.list_of(
            schema.part(
                "Learner",
                "PartitionedLearner",
                n_features="n_features",
                rows_end=schema.up_to("n_examples"),
                labels_end=schema.up_to("n_labels"),
                features_end=schema.up_to("n_features"),
            ),
            least=1,
        ),
    }

    def __init__(
        self,
        *,
        preset: str = "best",
        n_learners: int | None = None,
        dim: int | None = None,
        gamma: float | None = None,
        n_epochs: int | None = None,
        learning_rate: float | None = None,
        partition: str | None = None,
        n_neighbors: int | None = None,
        label_votes: float | None = None,
        use_learners: int | None = None,
        idf: bool = False,
        settings: Mapping[str, Any] | AnnexMLSettings | None = None,
        k: int = 5,
        threshold: float | None = None,
        random_state: Any = None,
        n_threads: int | None = None,
    ) -> None:
        super().__init__(k=k, threshold=threshold, random_state=random_state, n_threads=n_threads)
        self.preset = preset
        self.n_learners = n_learners
        self.dim = dim
        self.gamma = gamma
        self.n_epochs = n_epochs
        self.learning_rate = learning_rate
        self.partition = partition
        self.n_neighbors = n_neighbors
        self.label_votes = label_votes
        self.use_learners = use_learners
        self.idf = idf
        self.settings = settings

    def _fit(self, X: csr_matrix, Y: csr_matrix) -> None:
        self.settings_ = self._resolved(X, Y)
        X = self._learn_rows(X, Y, normalize=self.settings_.normalize)
        seeds = self._seeds(self.settings_.n_learners)
        held_out = self._held_out(X, Y, seeds[0])
        # Rows held out have no labels in training, so the maps do not learn from them.
        seen = without_rows(Y, held_out)
        learning = LearnerTraining(self.Y_, self.settings_, self.n_threads)
        graph = learning.graph(seen, seeds[0])
        inputs = X, seen, self.Y_, graph.neighbors, graph.similarities, self.settings_
        self.learners_ = train_learners(train_learner, inputs, seeds, self.n_threads)
        gamma, label_votes = self._vote_weights(X, held_out)
        self.settings_ = replace(self.settings_, vote_gamma=gamma, label_votes=label_votes)

    def _partial_fit(self, X: csr_matrix, Y: csr_matrix) -> None:
        """Train the maps on, then put the rows where these map them."""
        X = self.rows_.encode(X)
        n_old = self.Y_.shape[0]
        self.Y_ = with_rows(self.Y_, Y)
        seeds = self._seeds(len(self.learners_))
        graph = label_knn(
            self.Y_,
            self.settings_.graph_neighbors,
            queries=Y,
            first_query=n_old,
            similarity="overlap" if self.settings_.similarity == "overlap" else "cosine",
            seed=seeds[0],
            n_threads=self.n_threads,
        )
        learning = LearnerTraining(self.Y_, self.settings_, self.n_threads)

        def learn_on(number: int) -> None:
            learning.append(self.learners_[number], X, Y, graph, n_old, seeds[number])

        train_in_parallel(learn_on, range(len(seeds)), self.n_threads)

    def _votes(self, X: csr_matrix, k: int) -> Votes:
        rows, labels = self._found(X)
        if self.settings_.voting == "counts":
            # The original program counts what its walk finds, however far it is.
            return Votes.counted(rows, all_found=self.settings_.search == "walk")
        return Votes.weighted(rows, labels, *self.settings_.vote_weights)

    def _found(self, X: csr_matrix) -> tuple[SearchResult, SearchResult]:
        """Return the training rows and the labels that the learners find near each row."""
        asked = self.learners_[: self.use_learners]
        n_found = self.settings_.n_neighbors
        heard = self.settings_.vote_weights.label_votes > 0
        return search_all(asked, X, n_found, n_found if heard else 0)

    def _held_out(self, X: csr_matrix, Y: csr_matrix, seed: int) -> NDArray[np.int64]:
        """Return rows to choose the weights of votes by, if there are weights to choose."""
        usable = usable_rows(X, Y)
        given = None not in (self.settings_.vote_gamma, self.settings_.label_votes)
        if given or self.settings_.voting == "counts" or usable.size < _FEW:
            return usable[:0]
        return hold_out(usable, int(np.clip(usable.size // 20, *_HELD_OUT)), seed)

    def _vote_weights(self, X: csr_matrix, rows: NDArray[np.int64]) -> VoteWeights:
        """Return what votes count: as told, or chosen by asking about rows held out."""
        if not rows.size:
            return self.settings_.vote_weights
        gamma, label_votes = self.settings_.vote_gamma, self.settings_.label_votes
        found, labels = self._found(csr_matrix(X[rows]))
        found.products[found.ids == rows[:, np.newaxis]] = -np.inf
        return choose_votes(
            found,
            labels,
            self.Y_,
            csr_matrix(self.Y_[rows]),
            gammas=GAMMAS if gamma is None else [gamma],
            label_votes=LABEL_VOTES if label_votes is None else [label_votes],
        )
