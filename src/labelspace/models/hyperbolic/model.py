"""Hyperbolic: rows and labels in one Poincaré ball, rows near the labels that they have.

Gerald and Baskiotis (2019) learn a place v for each label and a linear map of rows into the ball,
where trees fit well, since room grows outwards as fast as the number of branches does. With d the
ball's distance, row j at u_j, i one of its labels and k over labels that it does not have,

    min  Σ_j Σ_i −log  e^{−α d(u_j, v_i)} / ( Σ_k e^{−α d(u_j, v_k)} + e^{−α d(u_j, v_i)} )

A new row is mapped, and its nearest training rows vote with their labels; several learners vote
together. Since labels lie in the same space, the nearest of them can be asked too, which the paper
does not try. ``preset="paper"`` has the paper's map, steps and votes; ``space`` takes the same
model to the sphere or to euclidean space.
"""

from __future__ import annotations

from dataclasses import fields, replace
from numbers import Integral, Real
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from labelspace import progress
from labelspace.base import LabelRanker
from labelspace.encoders.unit_rows import UnitRows
from labelspace.labels import with_rows
from labelspace.models.hyperbolic.learners import JointLearner
from labelspace.models.hyperbolic.metric_index import KINDS
from labelspace.models.hyperbolic.training import OPTIMIZERS, JointSettings, hold_out
from labelspace.search.result import NO_KEY, SearchResult
from labelspace.selection import usable_rows
from labelspace.spaces import poincare
from labelspace.threads import train_in_parallel
from labelspace.voting import Votes, VoteWeights, VotingRanker, best_votes

PRESETS: dict[str, dict[str, Any]] = {
    "best": {
        "n_learners": 3,
        "way": "lift",
        "optimizer": "adagrad",
        "patience": 3,
        "map_scale": None,
        "label_scale": None,
        "answer": "both",
        "voting": "weighted",
        "search": "kmeans",
    },
    "paper": {
        "n_learners": 15,
        "way": "clip",
        "optimizer": "adam",
        "learning_rate": 0.01,
        "n_epochs": 100,
        "patience": 25,
        "map_scale": 1e-4,
        "label_scale": 1e-3,
        "answer": "rows",
        "n_neighbors": 10,
        "voting": "counts",
        "search": "centroids",
    },
}
# Up to ten dimensions, and beyond: the best of a few values on rows held out of train.
_FEW_DIMENSIONS = 10
_ALPHAS = {"poincare": (2.0, 6.0), "sphere": (4.0, 10.0), "euclidean": (2.0, 4.0)}
_LEARNING_RATES = (0.4, 0.2)
# Rows that a learner looks at, each several times, unless there are more of them than that.
_ROWS_IN_ALL = 130_000


class Hyperbolic(VotingRanker):
    """Votes of the nearest training rows and labels in a Poincaré ball.

    Parameters that are None take the value of the preset; the values of "best" are given first,
    those of "paper" in brackets.

    Parameters
    ----------
    preset : {"best", "paper"}, default="best"
        "best" is what measures best; "paper" follows the publication.
    space : {"poincare", "sphere", "euclidean"}, default="poincare"
        Where rows and labels are placed.
    dim : int, default=50
        Dimensions of the space; 2 gives a map of the labels that can be drawn.
    n_learners : int, optional
        Models that are learned and vote together: 3 (15).
    alpha : float, optional
        Sharpness of the loss; unless given 6 in the ball, 10 on the sphere and 4 in euclidean
        space; up to ten dimensions 2, 4 and 2.
    way : {"lift", "clip"}, optional
        How rows get into the ball: by the Lorentz form (clipped at the edge).
    n_hidden : int, optional
        Units of a tanh layer between features and places; unless given the map is linear.
    optimizer : {"adagrad", "adam", "rsgd"}, optional
        adagrad (adam), or projected Riemannian gradient descent.
    learning_rate : float, optional
        First step size, falling to zero: 0.2, but 0.4 up to ten dimensions (0.01).
    n_epochs : int, optional
        Passes over the rows at most: 5, and up to 20 for fewer than 26,000 rows (100).
    patience : int, optional
        Epochs without a better precision on held-out rows after which learning stops: 3 (25).
    validation_fraction : float, default=0.05
        Share of the rows held out for that and to choose the weights of votes, at most 1,000 of
        them; 0 for none. They vote all the same.
    batch_size : int, default=128
        Rows in a batch at most.
    n_negatives : int, default=128
        Labels drawn evenly to be kept away from, beside those of the batch's other rows.
    map_scale : float, optional
        Deviation of the map's first weights: 1/√dim (0.0001).
    label_scale : float, optional
        Deviation of the labels' first places from the middle of the ball: unless given each label
        starts amid its rows (0.001).
    answer : {"both", "rows", "labels"}, optional
        Who votes: nearest rows and nearest labels (rows).
    n_neighbors : int, optional
        Training rows that vote, for each learner: 80, fewer with more than 3 learners (10).
    voting : {"weighted", "counts"}, optional
        Whether a row's vote counts e^{−α d} or one: weighted (counts).
    vote_alpha : float, optional
        α of the votes: chosen by asking about the rows held out; with fewer than 5,000 rows that of
        the loss.
    label_votes : float, optional
        With both, what all votes of labels count against all votes of rows: chosen as
        ``vote_alpha`` is; with fewer than 5,000 rows 0.5.
    search : {"kmeans", "clustered", "centroids", "exact"}, optional
        Index of the training rows and of the labels: kmeans (centroids, one random row in 3,000).
    n_probes : int, default=24
        Lists that a search looks into unless it is exact: more finds more and takes longer.
    storage : {"int8", "float32"}, default="int8"
        How maps are kept.
    use_learners : int, optional
        Learners that are asked at prediction; all unless given.
    idf : bool, default=False
        Whether features are weighted by inverse document frequency: for 0-1 features or counts.
    k, threshold, random_state, n_threads
        As in every estimator; see :class:`labelspace.base.LabelRanker`. Scores are shares of the
        votes, from 0 to 1; with ``voting="counts"`` they are counts.

    Attributes
    ----------
    learners_ : list of JointLearner
    Y_ : csr_matrix of shape (n_examples_, n_labels_)
        Labels of the training rows.
    label_vectors_ : ndarray of shape (n_labels_, dim)
        Places of the labels as the first learner sees them; zero for a label without rows.
    label_map_ : ndarray of shape (n_labels_, 2)
        Only with ``dim=2`` in the ball: a map that can be drawn. The same places, moved so that
        the middle of all labels, each counted as often as it is given, is that of the ball; their
        distances stay as they are.
    settings_ : dict
        The parameters as the preset and the space have made them.

    Examples
    --------
    >>> from labelspace.models import Hyperbolic
    >>> X = [[1.0, 0.0, 0.1], [0.9, 0.2, 0.0], [0.0, 1.0, 0.1], [0.1, 0.9, 0.3]]
    >>> model = Hyperbolic(random_state=0).fit(X, [["red"], ["red"], ["round"], ["round"]])
    >>> model.classes_[model.predict_topk([[0.7, 0.1, 0.0]], k=1).labels]
    array([['red']], dtype='<U5')
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LabelRanker._parameter_constraints,
        "preset": [StrOptions(set(PRESETS))],
        "space": [StrOptions(set(_ALPHAS))],
        "dim": [Interval(Integral, 1, None, closed="left")],
        "n_learners": [Interval(Integral, 1, None, closed="left"), None],
        "alpha": [Interval(Real, 0, 100, closed="neither"), None],
        "way": [StrOptions({"lift", "clip"}), None],
        "n_hidden": [Interval(Integral, 1, None, closed="left"), None],
        "optimizer": [StrOptions(set(OPTIMIZERS)), None],
        "learning_rate": [Interval(Real, 0, None, closed="neither"), None],
        "n_epochs": [Interval(Integral, 1, None, closed="left"), None],
        "patience": [Interval(Integral, 1, None, closed="left"), None],
        "validation_fraction": [Interval(Real, 0, 0.5, closed="left")],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "n_negatives": [Interval(Integral, 0, None, closed="left")],
        "map_scale": [Interval(Real, 0, None, closed="neither"), None],
        "label_scale": [Interval(Real, 0, 0.1, closed="neither"), None],
        "answer": [StrOptions({"both", "rows", "labels"}), None],
        "n_neighbors": [Interval(Integral, 1, None, closed="left"), None],
        "voting": [StrOptions({"weighted", "counts"}), None],
        "vote_alpha": [Interval(Real, 0, None, closed="left"), None],
        "label_votes": [Interval(Real, 0, None, closed="left"), None],
        "search": [StrOptions(set(KINDS)), None],
        "n_probes": [Interval(Integral, 1, None, closed="left")],
        "storage": [StrOptions({"int8", "float32"})],
        "use_learners": [Interval(Integral, 1, None, closed="left"), None],
        "idf": ["boolean"],
    }

    def __init__(
        self,
        *,
        preset: str = "best",
        space: str = "poincare",
        dim: int = 50,
        n_learners: int | None = None,
        alpha: float | None = None,
        way: str | None = None,
        n_hidden: int | None = None,
        optimizer: str | None = None,
        learning_rate: float | None = None,
        n_epochs: int | None = None,
        patience: int | None = None,
        validation_fraction: float = 0.05,
        batch_size: int = 128,
        n_negatives: int = 128,
        map_scale: float | None = None,
        label_scale: float | None = None,
        answer: str | None = None,
        n_neighbors: int | None = None,
        voting: str | None = None,
        vote_alpha: float | None = None,
        label_votes: float | None = None,
        search: str | None = None,
        n_probes: int = 24,
        storage: str = "int8",
        use_learners: int | None = None,
        idf: bool = False,
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
        self.way = way
        self.n_hidden = n_hidden
        self.optimizer = optimizer
        self.learning_rate = learning_rate
        self.n_epochs = n_epochs
        self.patience = patience
        self.validation_fraction = validation_fraction
        self.batch_size = batch_size
        self.n_negatives = n_negatives
        self.map_scale = map_scale
        self.label_scale = label_scale
        self.answer = answer
        self.n_neighbors = n_neighbors
        self.voting = voting
        self.vote_alpha = vote_alpha
        self.label_votes = label_votes
        self.search = search
        self.n_probes = n_probes
        self.storage = storage
        self.use_learners = use_learners
        self.idf = idf

    def _fit(self, X: csr_matrix, Y: csr_matrix) -> None:
        self.settings_ = self._chosen(X.shape[0])
        self.rows_ = UnitRows(idf=self.idf).learn(X)
        self.Y_ = csr_matrix(Y, dtype=np.int8)
        X = self.rows_.encode(X)
        random = check_random_state(self.random_state)
        seeds = random.randint(1 << 31, size=self.settings_["n_learners"]).tolist()
        held_out = hold_out(usable_rows(X, Y), self.validation_fraction, seeds[0])
        with progress.task("Training", total=len(seeds)) as advance:

            def train(seed: int) -> JointLearner:
                learner = JointLearner.trained(
                    X,
                    Y,
                    held_out,
                    self._training(),
                    search=self.settings_["search"],
                    n_probes=self.n_probes,
                    storage=self.storage,
                    seed=seed,
                )
                advance(1)
                return learner

            self.learners_ = train_in_parallel(train, seeds, self.n_threads)
        if held_out.size >= _ENOUGH_TO_CHOOSE and self.settings_["voting"] == "weighted":
            self._choose_votes(csr_matrix(X[held_out]), held_out)

    def _partial_fit(self, X: csr_matrix, Y: csr_matrix) -> None:
        """Put new rows where the maps have them, and new labels amid their rows."""
        X = self.rows_.encode(X)
        n_old = self.Y_.shape[0]
        self.Y_ = with_rows(self.Y_, Y)
        for learner in self.learners_:
            learner.append(X, Y, n_old)

    def _choose_votes(self, X: csr_matrix, rows: NDArray[np.int64]) -> None:
        """Choose the weights of votes that were not given by asking about rows held out."""
        sharpness = [self.settings_["alpha"] * factor for factor in _VOTE_ALPHAS]
        alphas = sharpness if self.vote_alpha is None else [self.vote_alpha]
        weights = _LABEL_VOTES if self.label_votes is None else [self.label_votes]
        found = self._found(X, self.k)
        for near, _ in found:
            near.ids[near.ids == rows[:, np.newaxis]] = NO_KEY
        chosen = best_votes(
            [VoteWeights(alpha, label_votes) for alpha in alphas for label_votes in weights],
            lambda tried: self._ballot(found, *tried),
            self.Y_,
            csr_matrix(self.Y_[rows]),
        )
        self.settings_ |= {"vote_alpha": chosen[0], "label_votes": chosen[1]}

    def _votes(self, X: csr_matrix, k: int) -> Votes:
        chosen = SimpleNamespace(**self.settings_)
        return self._ballot(self._found(X, k), chosen.vote_alpha, chosen.label_votes)

    def _found(self, X: csr_matrix, k: int) -> list[tuple[SearchResult, SearchResult]]:
        """Return the training rows and the labels that each learner finds near each row."""
        chosen = SimpleNamespace(**self.settings_)
        n_rows = 0 if chosen.answer == "labels" else chosen.n_neighbors
        heard = chosen.answer == "labels" or (chosen.answer == "both" and chosen.label_votes > 0)
        n_labels = max(_LABELS_FOUND, k) if heard else 0
        asked = self.learners_[: self.use_learners]
        return [learner.search(X, n_rows, n_labels) for learner in asked]

    def _ballot(
        self, found: list[tuple[SearchResult, SearchResult]], alpha: float, label_votes: float
    ) -> Votes:
        rows, labels = (list(some) for some in zip(*found, strict=True))
        shares = {"rows": 0.0, "labels": 1.0, "both": label_votes / (1.0 + label_votes)}
        share = shares[self.settings_["answer"]]
        votes = Votes.by_distance(rows, labels, alpha, self.settings_["alpha"], share)
        if self.settings_["voting"] == "weighted":
            return votes
        return replace(votes, row_weights=(votes.rows != NO_KEY).astype(np.float32))

    @property
    def label_vectors_(self) -> NDArray[np.float32]:
        index = self._first_learner("label_vectors_").labels
        places = np.zeros((self.n_labels_, self.dim), dtype=np.float32)
        places[index.ids] = index.places
        return places

    @property
    def label_map_(self) -> NDArray[np.float32]:
        if self.dim != 2 or self.space != "poincare":
            raise AttributeError("label_map_ is there only with dim=2 in the Poincaré ball")
        places = self.label_vectors_
        middle = poincare.midpoint(places, self.label_counts_)
        return poincare.mobius_add(-middle, places).astype(np.float32)

    def _first_learner(self, attribute: str) -> JointLearner:
        if not hasattr(self, "learners_"):
            raise AttributeError(f"{attribute} is there once the estimator is fitted")
        return self.learners_[0]

    def _chosen(self, n_examples: int) -> dict[str, Any]:
        """Return the preset's parameters, those that were given in their place."""
        few = self.dim <= _FEW_DIMENSIONS
        chosen = {
            "alpha": _ALPHAS[self.space][0 if few else 1],
            "learning_rate": _LEARNING_RATES[0 if few else 1],
            "n_epochs": int(np.clip(_ROWS_IN_ALL // n_examples, 5, 20)),
            "label_votes": 0.5,
            **PRESETS[self.preset],
        }
        chosen = self._given(chosen)
        # The more learners there are, the fewer rows need each of them ask.
        n_neighbors = int(np.clip(240 // chosen["n_learners"], 30, 80))
        vote_alpha = chosen["alpha"] if self.vote_alpha is None else self.vote_alpha
        return (
            {"n_neighbors": self.n_neighbors or n_neighbors} | chosen | {"vote_alpha": vote_alpha}
        )

    def _training(self) -> JointSettings:
        chosen = {**self.get_params(), **self.settings_}
        return JointSettings(
            **{one.name: chosen[one.name] for one in fields(JointSettings) if one.name in chosen}
        )


# Labels farther away than so many others are not heard.
_LABELS_FOUND = 50
# What is tried on rows held out, if there are enough of them: votes as sharp as the loss, sharper
# or less so, and what all labels count against all rows.
_ENOUGH_TO_CHOOSE = 250
_VOTE_ALPHAS = (0.25, 0.5, 1.0, 2.0, 4.0)
_LABEL_VOTES = (0.0, 0.25, 0.5, 1.0)
