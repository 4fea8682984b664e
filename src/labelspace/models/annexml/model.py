"""AnnexML: place rows so that the neighbours of a row are the rows with like labels.

Tagami (2017) builds the k-NN graph of label vectors and learns a linear map that reproduces it:
with R(i, j) = cos(V x_i, V x_j) and j a label-graph neighbour of i,

    min_V  Σ_i Σ_j −log  e^{γ R(i,j)} / ( e^{γ R(i,j)} + Σ_{n} e^{γ R(i,n)} )

A new row is mapped, its nearest training rows are searched, and their labels are counted; several
learners vote together. Here negatives are the other pairs of a batch, a nearer row's vote counts
e^{γ(cos − 1)}, and labels have vectors of their own in the same space, which vote for themselves.
``preset="paper"`` is the original program: parts of 6,000 rows, 50 dimensions, plain counts.
"""

from __future__ import annotations

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
from labelspace.ensemble import Learner, search_all
from labelspace.graph.label_knn import label_knn
from labelspace.labels import with_rows, without_rows
from labelspace.linear.contrastive import ContrastiveSettings
from labelspace.models.annexml.learners import LearnerTraining, PartitionedLearner
from labelspace.search.result import SearchResult
from labelspace.selection import usable_rows
from labelspace.threads import train_in_parallel
from labelspace.voting import GAMMAS, LABEL_VOTES, Votes, VotingRanker, choose_votes

# Small corpora are overfitted by a sharp contrast and large steps.
_SMALL = 20_000
_SMALL_CORPUS = {
    "n_learners": 4,
    "dim": 96,
    "gamma": 10.0,
    "learning_rate": 0.1,
    "vote_gamma": 20.0,
    "label_votes": 0.5,
}
_LARGE_CORPUS = {
    "n_learners": 4,
    "dim": 192,
    "gamma": 20.0,
    "learning_rate": 0.2,
    "vote_gamma": 20.0,
    "label_votes": 0.5,
}
_MANY = 6
_CHOSEN = ("vote_gamma", "label_votes")
# Rows to choose the weights of votes by, at least and at most; with few rows none can be spared.
_HELD_OUT = (500, 4000)
_FEW = 5_000

PRESETS: dict[str, dict[str, Any]] = {
    "best": {
        "graph_neighbors": 10,
        "similarity": "cosine",
        "n_epochs": 5,
        "partition": "none",
        "voting": "weighted",
        "label_weight": 1.0,
        "search": "ivf",
    },
    "paper": {
        "n_learners": 15,
        "dim": 50,
        "graph_neighbors": 10,
        "similarity": "overlap",
        "gamma": 10.0,
        "n_epochs": 10,
        "learning_rate": 0.1,
        "partition": "learned",
        "n_neighbors": 10,
        "voting": "counts",
        "label_weight": 0.0,
        "label_votes": 0.0,
        "search": "exact",
    },
}


class AnnexML(VotingRanker):
    """Votes of nearest training rows and labels in a learned space.

    Parameters that are None take the value of the preset; the values of "best" are given first,
    those of "paper" in brackets.

    Parameters
    ----------
    preset : {"best", "paper"}, default="best"
        "best" is what measures best; "paper" has the defaults of the original program.
    n_learners : int, optional
        Maps that are learned and vote together: 4 (15).
    dim : int, optional
        Dimensions of the space: 192, but 96 for fewer than 20,000 rows or more than 6 learners
        (50).
    graph_neighbors : int, optional
        Neighbours of each row in the label graph: 10 (10).
    similarity : {"cosine", "overlap", "smce"}, optional
        What makes rows neighbours: cosine of label vectors (share of the neighbour's labels), or
        "smce", which lets each row choose; see :func:`labelspace.models.annexml.smce.smce_graph`.
    gamma : float, optional
        Sharpness of the contrast: 20, but 10 for fewer than 20,000 rows (10).
    n_epochs : int, optional
        Passes over the rows: 5 (10); small corpora get more, for 100 steps.
    batch_size : int, default=512
        Anchors in a batch at most.
    learning_rate : float, optional
        First step size, falling to zero: 0.2, but 0.1 for fewer than 20,000 rows (0.1).
    label_weight : float, optional
        Weight in training of labels' own vectors: 1 (0, no such vectors).
    partition : {"none", "learned", "kmeans", "smce"}, optional
        How rows are divided into parts with a map and an index each: none (learned). "kmeans"
        clusters features and "smce" labels.
    part_size : int, default=6000
        Rows in a part, on average.
    balanced : bool, default=False
        Whether parts are kept from growing beyond a tenth over that.
    n_neighbors : int, optional
        Training rows that vote, for each learner: 40, fewer with more than 6 learners (10).
    voting : {"weighted", "counts"}, optional
        Whether a vote counts e^{γ(cos − 1)} or one: weighted (counts).
    vote_gamma : float, optional
        γ of the votes: chosen by asking about a twentieth of the rows, which is held out of the
        maps' training; 20 for fewer than 5,000 rows.
    label_votes : float, optional
        What all votes of labels for themselves count against all votes of rows: chosen as
        ``vote_gamma`` is; 0.5 for fewer than 5,000 rows (0).
    search : {"ivf", "exact"}, optional
        Index of the training rows: inverted lists around centroids (exact).
    n_probes : int, optional
        Inverted lists that a search looks into: more finds more and takes longer. 8, fewer
        with more than 4 learners.
    storage : {"int8", "float32"}, default="int8"
        How maps and vectors are kept.
    use_learners : int, optional
        Learners that are asked at prediction; all unless given.
    idf : bool, default=False
        Whether features are weighted by inverse document frequency: for 0-1 features or counts.
    k, threshold, random_state, n_threads
        As in every estimator; see :class:`labelspace.base.LabelRanker`. Scores are shares of the
        votes, from 0 to 1; with ``voting="counts"`` they are counts.

    Attributes
    ----------
    learners_ : list of Learner or PartitionedLearner
    Y_ : csr_matrix of shape (n_examples_, n_labels_)
        Labels of the training rows.
    settings_ : dict
        The parameters as the preset and the corpus have made them.

    Examples
    --------
    >>> from labelspace.models import AnnexML
    >>> X = [[1.0, 0.0, 0.1], [0.9, 0.2, 0.0], [0.0, 1.0, 0.1], [0.1, 0.9, 0.3]]
    >>> model = AnnexML(random_state=0).fit(X, [["red"], ["red"], ["round"], ["round"]])
    >>> model.classes_[model.predict_topk([[0.7, 0.1, 0.0]], k=1).labels]
    array([['red']], dtype='<U5')
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LabelRanker._parameter_constraints,
        "preset": [StrOptions(set(PRESETS))],
        "n_learners": [Interval(Integral, 1, None, closed="left"), None],
        "dim": [Interval(Integral, 1, None, closed="left"), None],
        "graph_neighbors": [Interval(Integral, 1, None, closed="left"), None],
        "similarity": [StrOptions({"cosine", "overlap", "smce"}), None],
        "gamma": [Interval(Real, 0, 40, closed="right"), None],
        "n_epochs": [Interval(Integral, 1, None, closed="left"), None],
        "batch_size": [Interval(Integral, 2, None, closed="left")],
        "learning_rate": [Interval(Real, 0, None, closed="neither"), None],
        "label_weight": [Interval(Real, 0, None, closed="left"), None],
        "partition": [StrOptions({"none", "learned", "kmeans", "smce"}), None],
        "part_size": [Interval(Integral, 1, None, closed="left")],
        "balanced": ["boolean"],
        "n_neighbors": [Interval(Integral, 1, None, closed="left"), None],
        "voting": [StrOptions({"weighted", "counts"}), None],
        "vote_gamma": [Interval(Real, 0, None, closed="left"), None],
        "label_votes": [Interval(Real, 0, None, closed="left"), None],
        "search": [StrOptions({"ivf", "exact"}), None],
        "n_probes": [Interval(Integral, 1, None, closed="left"), None],
        "storage": [StrOptions({"int8", "float32"})],
        "use_learners": [Interval(Integral, 1, None, closed="left"), None],
        "idf": ["boolean"],
    }

    def __init__(
        self,
        *,
        preset: str = "best",
        n_learners: int | None = None,
        dim: int | None = None,
        graph_neighbors: int | None = None,
        similarity: str | None = None,
        gamma: float | None = None,
        n_epochs: int | None = None,
        batch_size: int = 512,
        learning_rate: float | None = None,
        label_weight: float | None = None,
        partition: str | None = None,
        part_size: int = 6000,
        balanced: bool = False,
        n_neighbors: int | None = None,
        voting: str | None = None,
        vote_gamma: float | None = None,
        label_votes: float | None = None,
        search: str | None = None,
        n_probes: int | None = None,
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
        self.n_learners = n_learners
        self.dim = dim
        self.graph_neighbors = graph_neighbors
        self.similarity = similarity
        self.gamma = gamma
        self.n_epochs = n_epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.label_weight = label_weight
        self.partition = partition
        self.part_size = part_size
        self.balanced = balanced
        self.n_neighbors = n_neighbors
        self.voting = voting
        self.vote_gamma = vote_gamma
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
        held_out = self._held_out(X, Y, seeds[0])
        # Rows held out have no labels in training, so the maps do not learn from them.
        seen = without_rows(Y, held_out)
        learning = self._learning()
        graph = learning.graph(seen, seeds[0])
        with progress.task("Training", total=len(seeds)) as advance:

            def train(seed: int) -> Learner | PartitionedLearner:
                learner = learning.learner(X, seen, graph, seed)
                advance(1)
                return learner

            self.learners_ = train_in_parallel(train, seeds, self.n_threads)
        if held_out.size:
            self._choose_votes(csr_matrix(X[held_out]), held_out)

    def _partial_fit(self, X: csr_matrix, Y: csr_matrix) -> None:
        """Train the maps on, then put the rows where these map them."""
        X = self.rows_.encode(X)
        n_old = self.Y_.shape[0]
        self.Y_ = with_rows(self.Y_, Y)
        random = check_random_state(self.random_state)
        seeds = random.randint(1 << 31, size=len(self.learners_)).tolist()
        graph = label_knn(
            self.Y_,
            self.settings_["graph_neighbors"],
            queries=Y,
            first_query=n_old,
            similarity="overlap" if self.settings_["similarity"] == "overlap" else "cosine",
            seed=seeds[0],
            n_threads=self.n_threads,
        )

        learning = self._learning()

        def learn_on(number: int) -> None:
            learner, seed = self.learners_[number], seeds[number]
            if isinstance(learner, Learner):
                learning.append(learner, X, Y, graph, np.arange(X.shape[0]), n_old, seed)
                return
            assigned = learner.partition.assign(X)
            for chosen in np.unique(assigned):
                part = learner.parts[chosen]
                if part is not None:
                    new = np.flatnonzero(assigned == chosen)
                    learning.append(part, X, Y, None, new, n_old, seed)

        train_in_parallel(learn_on, range(len(seeds)), self.n_threads)

    def _choose_votes(self, X: csr_matrix, rows: NDArray[np.int64]) -> None:
        """Choose the weights of votes that were not given by asking about rows held out."""
        truth = csr_matrix(self.Y_[rows])
        found, labels = self._found(X)
        found.products[found.ids == rows[:, np.newaxis]] = -np.inf
        gammas = GAMMAS if self.vote_gamma is None else [self.vote_gamma]
        weights = LABEL_VOTES if self.label_votes is None else [self.label_votes]
        chosen = choose_votes(found, labels, self.Y_, truth, gammas=gammas, label_votes=weights)
        self.settings_.update(zip(_CHOSEN, chosen, strict=True))

    def _votes(self, X: csr_matrix, k: int) -> Votes:
        rows, labels = self._found(X)
        if self.settings_["voting"] == "counts":
            return Votes.counted(rows)
        return Votes.weighted(
            rows, labels, self.settings_["vote_gamma"], self.settings_["label_votes"]
        )

    def _found(self, X: csr_matrix) -> tuple[SearchResult, SearchResult]:
        """Return the training rows and the labels that the learners find near each row."""
        asked = self.learners_[: self.use_learners]
        n_found = self.settings_["n_neighbors"]
        return search_all(asked, X, n_found, n_found if self.settings_["label_votes"] else 0)

    def _chosen(self, n_examples: int) -> dict[str, Any]:
        """Return the preset's parameters, those that were given in their place."""
        chosen = (_SMALL_CORPUS if n_examples < _SMALL else _LARGE_CORPUS) | PRESETS[self.preset]
        given = {name: getattr(self, name) for name in self._parameter_constraints}
        n_learners = given["n_learners"] or chosen["n_learners"]
        # The more learners there are, the less each of them has to hold and to find.
        if n_learners > _MANY:
            chosen |= {"dim": min(chosen["dim"], 96)}
        chosen = {
            "n_neighbors": int(np.clip(240 // n_learners, 10, 40)),
            "n_probes": int(np.clip(32 // n_learners, 2, 8)),
        } | chosen
        return {
            name: value if given[name] is None else given[name] for name, value in chosen.items()
        }

    def _held_out(self, X: csr_matrix, Y: csr_matrix, seed: int) -> NDArray[np.int64]:
        """Return rows to choose the weights of votes by, if there are weights to choose."""
        given = all(getattr(self, name) is not None for name in _CHOSEN)
        usable = usable_rows(X, Y)
        if given or self.settings_["voting"] == "counts" or usable.size < _FEW:
            return usable[:0]
        n_rows = int(np.clip(usable.size // 20, *_HELD_OUT))
        return np.sort(np.random.default_rng(seed).permutation(usable)[:n_rows])

    def _learning(self) -> LearnerTraining:
        chosen = SimpleNamespace(**self.settings_)
        return LearnerTraining(
            Y=self.Y_,
            training=ContrastiveSettings(
                dim=chosen.dim,
                gamma=chosen.gamma,
                n_epochs=chosen.n_epochs,
                batch_size=self.batch_size,
                learning_rate=chosen.learning_rate,
                label_weight=chosen.label_weight,
                min_steps=100,
            ),
            graph_neighbors=chosen.graph_neighbors,
            similarity=chosen.similarity,
            partition=chosen.partition,
            part_size=self.part_size,
            balanced=self.balanced,
            search=chosen.search,
            n_probes=chosen.n_probes,
            storage=self.storage,
            n_threads=self.n_threads,
        )
