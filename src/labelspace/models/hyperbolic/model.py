"""Hyperbolic: rows and labels in one Poincaré ball, rows near the labels that they have.

Gerald and Baskiotis (2019) learn a point v for each label and a linear map of rows into the ball,
where trees fit well, since room grows outwards as fast as the number of branches does. With d the
ball's distance, row j at u_j, i one of its labels and k over labels that it does not have,

    min  Σ_j Σ_i −log  e^{−α d(u_j, v_i)} / ( Σ_k e^{−α d(u_j, v_k)} + e^{−α d(u_j, v_i)} )

A new row is mapped, and its nearest training rows vote with their labels; several learners vote
together. Since labels lie in the same space, the nearest of them can be asked too, which the paper
does not try. ``preset="paper"`` has the paper's map, steps and votes; ``space`` takes the same
model to the sphere or to euclidean space.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.base import LabelRanker
from labelspace.ensemble import train_learners
from labelspace.labels import with_rows
from labelspace.models.hyperbolic.learners import JointLearner, train_learner
from labelspace.models.hyperbolic.settings import HyperbolicSettings
from labelspace.parameters import FLAG, one_of, whole
from labelspace.search.result import NO_KEY, SearchResult
from labelspace.selection import hold_out, usable_rows
from labelspace.spaces import poincare
from labelspace.store import schema
from labelspace.voting import Votes, VoteWeights, VotingRanker, best_votes

# Labels farther away than so many others are not heard.
_LABELS_FOUND = 50
# What is tried on rows held out, if there are enough of them: votes as sharp as the loss, sharper
# or less so, and what all labels count against all rows.
_ENOUGH_TO_CHOOSE = 250
_VOTE_ALPHAS = (0.25, 0.5, 1.0, 2.0, 4.0)
_LABEL_VOTES = (0.0, 0.25, 0.5, 1.0)

_TURNED = (
    "space",
    "dim",
    "n_learners",
    "alpha",
    "learning_rate",
    "n_epochs",
    "answer",
    "n_neighbors",
)

Found = list[tuple[SearchResult, SearchResult]]


class Hyperbolic(VotingRanker):
    """Votes of the nearest training rows and labels in a Poincaré ball.

    Parameters that are None take the value of the preset; the values of "best" are given first,
    those of "paper" in brackets.

    Parameters
    ----------
    preset : {"best", "paper"}, default="best"
        "best" is what measures best; "paper" follows the publication.
    space : {"poincare", "sphere", "euclidean"}, optional
        Where rows and labels are embedded: poincare (poincare).
    dim : int, optional
        Dimensions of the space: 50 (50); 2 gives a map of the labels that can be drawn.
    n_learners : int, optional
        Models that are learned and vote together: 3 (15).
    alpha : float, optional
        Sharpness of the loss; unless given 6 in the ball, 10 on the sphere and 4 in euclidean
        space; up to ten dimensions 2, 4 and 2 (60).
    learning_rate : float, optional
        First step size, falling to zero: 0.2, but 0.4 up to ten dimensions (0.001 all the time).
    n_epochs : int, optional
        Passes over the rows at most: 5, and up to 20 for fewer than 26,000 rows (100).
    answer : {"both", "rows", "labels"}, optional
        Who votes: nearest rows and nearest labels (rows).
    n_neighbors : int, optional
        Training rows that vote, for each learner: 80, fewer with more than 3 learners (10).
    use_learners : int, optional
        Learners that are asked at prediction; all unless given.
    idf : bool, default=False
        Whether features are weighted by inverse document frequency: for 0-1 features or counts.
    settings : dict or HyperbolicSettings, optional
        Everything else that can be told: see
        :class:`labelspace.models.hyperbolic.settings.HyperbolicSettings`.
    k, threshold, random_state, n_threads
        As in every estimator; see :class:`labelspace.base.LabelRanker`. Scores are shares of the
        votes, from 0 to 1; where votes are counted (paper) they are counts.

    Attributes
    ----------
    learners_ : list of JointLearner
    Y_ : csr_matrix of shape (n_examples_, n_labels_)
        Labels of the training rows.
    label_vectors_ : ndarray of shape (n_labels_, dim)
        Points of the labels as the first learner sees them; zero for a label without rows.
    label_map_ : ndarray of shape (n_labels_, 2)
        Only with ``dim=2`` in the ball: a map that can be drawn. The same points, moved so that
        the middle of all labels, each counted as often as it is given, is that of the ball; their
        distances stay as they are.
    settings_ : HyperbolicSettings
        The settings as preset, corpus, parameters and rows held out have made them.

    Examples
    --------
    >>> from labelspace.models import Hyperbolic
    >>> labels = [["red"], ["red"], ["round"], ["round"]]
    >>> X = [[1.0, 0.0], [0.9, 0.2], [0.0, 1.0], [0.1, 0.9]]
    >>> disk = Hyperbolic(dim=2, random_state=0).fit(X, labels)
    >>> disk.classes_[disk.predict_topk([[0.7, 0.1]], k=1).labels]
    array([['red']], dtype='<U5')
    >>> disk.label_map_.shape
    (2, 2)
    """

    settings_type = HyperbolicSettings
    settings_: HyperbolicSettings

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LabelRanker._parameter_constraints,
        **{name: [*HyperbolicSettings.rules[name], None] for name in _TURNED},
        "preset": [one_of(*HyperbolicSettings.presets)],
        "use_learners": [whole(), None],
        "idf": [FLAG],
    }

    _schema: ClassVar[schema.Schema] = {
        "settings_": schema.part("HyperbolicSettings"),
        "learners_": schema.list_of(
            schema.part(
                "JointLearner",
                n_features="n_features",
                dim="dim",
                rows_end=schema.up_to("n_examples"),
                labels_end=schema.up_to("n_labels"),
            ),
            least=1,
        ),
    }

    def __init__(
        self,
        *,
        preset: str = "best",
        space: str | None = None,
        dim: int | None = None,
        n_learners: int | None = None,
        alpha: float | None = None,
        learning_rate: float | None = None,
        n_epochs: int | None = None,
        answer: str | None = None,
        n_neighbors: int | None = None,
        use_learners: int | None = None,
        idf: bool = False,
        settings: Mapping[str, Any] | HyperbolicSettings | None = None,
        k: int = 5,
        threshold: float | None = None,
        random_state: Any = None,
        n_threads: int | None = None,
    ) -> None:
        super().__init__(k=k, threshold=threshold, random_state=random_state, n_threads=n_threads)
        self.preset = preset
        self.space = space
        self.dim = dim
        self.n_learners = n_learners
        self.alpha = alpha
        self.learning_rate = learning_rate
        self.n_epochs = n_epochs
        self.answer = answer
        self.n_neighbors = n_neighbors
        self.use_learners = use_learners
        self.idf = idf
        self.settings = settings

    @property
    def label_vectors_(self) -> NDArray[np.float32]:
        index = self._first_learner("label_vectors_").labels
        vectors = np.zeros((self.n_labels_, self.settings_.dim), dtype=np.float32)
        vectors[index.ids] = index.points
        return vectors

    @property
    def label_map_(self) -> NDArray[np.float32]:
        if self._first_learner("label_map_").labels.space != "poincare" or self.settings_.dim != 2:
            raise AttributeError("label_map_ is there only with dim=2 in the Poincaré ball")
        points = self.label_vectors_
        middle = poincare.midpoint(points, self.label_counts_)
        return poincare.mobius_add(-middle, points).astype(np.float32)

    def _fit(self, X: csr_matrix, Y: csr_matrix) -> None:
        self.settings_ = self._resolved(X, Y)
        X = self._learn_rows(X, Y, normalize=self.settings_.normalize)
        seeds = self._seeds(self.settings_.n_learners)
        held_out = self._held_out(X, Y, seeds[0])
        inputs = X, Y, held_out, self.settings_
        self.learners_ = train_learners(train_learner, inputs, seeds, self.n_threads)
        alpha, label_votes = self._vote_weights(X, held_out)
        self.settings_ = replace(self.settings_, vote_alpha=alpha, label_votes=label_votes)

    def _partial_fit(self, X: csr_matrix, Y: csr_matrix) -> None:
        """Put new rows where the maps have them, and new labels amid their rows."""
        X = self.rows_.encode(X)
        n_old = self.Y_.shape[0]
        self.Y_ = with_rows(self.Y_, Y)
        for learner in self.learners_:
            learner.append(X, Y, n_old)

    def _votes(self, X: csr_matrix, k: int) -> Votes:
        return self._cast(self._found(X, k), self.settings_.vote_weights)

    def _found(self, X: csr_matrix, k: int) -> Found:
        """Return the training rows and the labels that each learner finds near each row."""
        answer, votes = self.settings_.answer, self.settings_.vote_weights
        n_rows = 0 if answer == "labels" else self.settings_.n_neighbors
        heard = answer == "labels" or (answer == "both" and votes.label_votes > 0)
        n_labels = max(_LABELS_FOUND, k) if heard else 0
        asked = self.learners_[: self.use_learners]
        return [learner.search(X, n_rows, n_labels) for learner in asked]

    def _cast(self, found: Found, weights: VoteWeights) -> Votes:
        rows, labels = (list(some) for some in zip(*found, strict=True))
        both = weights.label_votes / (1.0 + weights.label_votes)
        label_share = {"rows": 0.0, "labels": 1.0, "both": both}[self.settings_.answer]
        alpha = self.settings_.alpha
        votes = Votes.by_distance(rows, labels, weights.sharpness, alpha, label_share)
        if self.settings_.voting == "weighted":
            return votes
        return replace(votes, row_weights=(votes.rows != NO_KEY).astype(np.float32))

    def _held_out(self, X: csr_matrix, Y: csr_matrix, seed: int) -> NDArray[np.int64]:
        """Return rows to stop and to choose the weights of votes by, if rows are not too few."""
        told, usable = self.settings_, usable_rows(X, Y)
        n_rows = int(told.validation_fraction * usable.size)
        if told.max_held_out is not None:
            n_rows = min(n_rows, told.max_held_out)
        return hold_out(usable, n_rows if n_rows >= told.min_held_out else 0, seed)

    def _vote_weights(self, X: csr_matrix, rows: NDArray[np.int64]) -> VoteWeights:
        """Return what votes count: as told, or chosen by asking about rows held out."""
        told = self.settings_
        if rows.size < _ENOUGH_TO_CHOOSE or told.voting != "weighted":
            return told.vote_weights
        sharpness = [told.alpha * factor for factor in _VOTE_ALPHAS]
        alphas = sharpness if told.vote_alpha is None else [told.vote_alpha]
        weights = _LABEL_VOTES if told.label_votes is None else [told.label_votes]
        found = self._found(csr_matrix(X[rows]), self.k)
        for near, _ in found:
            near.ids[near.ids == rows[:, np.newaxis]] = NO_KEY
        return best_votes(
            [VoteWeights(alpha, label_votes) for alpha in alphas for label_votes in weights],
            lambda tried: self._cast(found, tried),
            self.Y_,
            csr_matrix(self.Y_[rows]),
        )

    def _first_learner(self, attribute: str) -> JointLearner:
        if not hasattr(self, "learners_"):
            raise AttributeError(f"{attribute} is there once the estimator is fitted")
        return self.learners_[0]
