"""DXML: walks on the graph of labels say where labels are, a network learns to put rows there.

Zhang et al. (2018) join labels that ever come together in a row, walk on that graph and learn a
vector V of each label from the walks (DeepWalk). A row's target is the mean of its labels' vectors,
and a network f with one hidden layer learns to hit it, both on the unit sphere:

    min_f  Σ_i Σ_d h(f(x_i)_d − t_id),   t_i = V y_i / |y_i|,   h: smooth L1

Embedded training rows are clustered by k-means; a new row asks its nearest cluster, and the labels
of its nearest neighbours there are averaged. Here edges are weighted, targets contrast with those
of other rows, labels' vectors learn along so that they can vote too, and a few networks vote
together. ``preset="paper"`` is the original.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from labelspace import progress, threads
from labelspace.base import LabelRanker
from labelspace.deep.requirements import check_network
from labelspace.encoders.unit_rows import UnitRows
from labelspace.ensemble import search_all
from labelspace.graph.cooccurrence import EDGES, label_graph
from labelspace.labels import with_rows
from labelspace.models.dxml.choose_neighbors import (
    GAMMAS,
    LABEL_VOTES,
    N_NEIGHBORS,
    choose_neighbors,
)
from labelspace.models.dxml.hierarchy import hierarchy_graph
from labelspace.models.dxml.label_vectors import KINDS
from labelspace.models.dxml.learners import NetworkTraining
from labelspace.models.dxml.settings import CHOSEN, FEW, LITTLE_WORK, PRESETS, SMALL, preset
from labelspace.search.result import SearchResult
from labelspace.selection import usable_rows
from labelspace.voting import Votes, VotingRanker

# Rows to choose by how many neighbours vote; with few rows none can be spared.
_HELD_OUT = (1000, 4000)
_LABELS_FOUND = 40


class DXML(VotingRanker):
    """Votes of nearest training rows, where a network puts rows near their labels.

    Learning needs torch (``pip install 'labelspace[deep]'``); prediction does not. Parameters that
    are None take the value of the preset; the values of "best" are given first, with those for
    fewer than 20,000 rows after "few" and for 500 to 10,000 rows after "tiny", and those of "paper"
    in brackets.

    Parameters
    ----------
    preset : {"best", "paper"}, default="best"
        "best" is what measures best; "paper" has the setting of the paper.
    hierarchy : str or sparse matrix, optional
        A label graph that is known, instead of the one that the rows show: a file of
        ``parent<TAB>child`` lines with names (or numbers) of labels, or a matrix of edges.
    edges : {"binary", "counts", "arithmetic", "geometric", "jaccard", "pmi"}, optional
        What an edge of the label graph weighs: the number of rows that have both labels (one), or
        a likeness of the two.
    targets : {"deepwalk", "svd", "random", "neighbors"}, optional
        Where label vectors come from: deepwalk (deepwalk). "neighbors" has none: rows are put near
        rows with like labels.
    n_walks, walk_length, window : int, default=10, 40, 5
        Walks from each label, their length, and how far on a walk labels are met.
    n_learners : int, optional
        Networks that are learned and vote together: 2, few 4, tiny 8, fewer 1 (1).
    dim : int, optional
        Dimensions of the space: 256, few 100, tiny 600 (300, few 100).
    hidden : tuple of int, optional
        Widths of hidden layers: (512,), few (256,); the paper's are the same.
    activation : {"relu", "linear"}, default="relu"
        What stands between layers.
    keep_features : float, optional
        Probability with which training keeps a row's feature: 0.7, few 0.5 (1).
    dropout : float, optional
        Share of the last layer's outputs that training leaves out: 0 (0.5).
    loss : {"smooth-l1", "contrastive", "triplet", "softmax"}, optional
        What rows lack of their targets: softmax over the targets of a batch (smooth-l1).
    gamma : float, optional
        Sharpness of softmax and of ``label_weight``: 20, few 10.
    margin : float, default=0.5
        Of contrastive and triplet.
    label_weight : float, optional
        What it weighs that a row's labels are nearer to it than labels that it lacks; their
        vectors then learn along: 1 (0).
    n_epochs : int, optional
        Passes over the rows: 8 (30, few 40); very small corpora get more, for 60 steps.
    batch_size : int, optional
        Rows in a step: 512, few 128 (128).
    learning_rate : float, optional
        Step size: 0.003, few 0.005, tiny 0.002, of Adam, falling to zero (0.015 of momentum SGD
        with weight decay 0.0005, throughout).
    n_clusters : int, optional
        Clusters of the embedded training rows; the root of their number unless given.
    n_probes : int, optional
        Clusters that are searched, nearest first: 8 (1).
    n_neighbors : int, optional
        Training rows that vote, for each network. Chosen by asking about rows that a network has
        not seen unless given; 20 for fewer than 500 rows.
    voting : {"weighted", "counts"}, optional
        Whether a vote counts e^{γ(cos − 1)} or one: weighted (counts).
    vote_gamma : float, optional
        γ of the votes; chosen as ``n_neighbors`` is.
    label_votes : float, optional
        What all votes of labels for themselves count against all votes of rows; chosen as
        ``n_neighbors`` is. 0 without ``label_weight``.
    storage : {"int8", "float32"}, default="int8"
        How the first layer and the index are kept.
    idf : bool, default=False
        Whether features are weighted by inverse document frequency: for 0-1 features or counts.
    device : {"auto", "cpu", "cuda"}, default="auto"
        Where to learn; auto takes a GPU if there is one.
    k, threshold, random_state, n_threads
        As in every estimator; see :class:`labelspace.base.LabelRanker`. Scores are shares of the
        votes, from 0 to 1; with ``voting="counts"`` they are counts.

    Attributes
    ----------
    learners_ : list of DeepLearner
        Network, clustered training rows and labels of each.
    Y_ : csr_matrix of shape (n_examples_, n_labels_)
        Labels of the training rows.
    history_ : History
        Loss of each epoch of the network that learned last.
    settings_ : dict
        The parameters as the preset, the corpus and the rows held out have made them.

    Examples
    --------
    >>> from labelspace.models import DXML
    >>> X = [[1.0, 0.0, 0.1], [0.9, 0.2, 0.0], [0.0, 1.0, 0.1], [0.1, 0.9, 0.3]]
    >>> Y = [["red"], ["red"], ["round"], ["round"]]
    >>> model = DXML(dim=8, hidden=(8,), random_state=0).fit(X, Y)
    >>> model.classes_[model.predict_topk([[0.7, 0.1, 0.0]], k=1).labels]
    array([['red']], dtype='<U5')
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LabelRanker._parameter_constraints,
        "preset": [StrOptions(set(PRESETS))],
        "hierarchy": [str, "sparse matrix", None],
        "edges": [StrOptions(set(EDGES)), None],
        "targets": [StrOptions({*KINDS, "neighbors"}), None],
        "n_walks": [Interval(Integral, 1, None, closed="left")],
        "walk_length": [Interval(Integral, 2, None, closed="left")],
        "window": [Interval(Integral, 1, None, closed="left")],
        "n_learners": [Interval(Integral, 1, None, closed="left"), None],
        "dim": [Interval(Integral, 1, None, closed="left"), None],
        "hidden": [tuple, list, None],
        "activation": [StrOptions({"relu", "linear"})],
        "keep_features": [Interval(Real, 0, 1, closed="right"), None],
        "dropout": [Interval(Real, 0, 1, closed="left"), None],
        "loss": [StrOptions({"smooth-l1", "contrastive", "triplet", "softmax"}), None],
        "gamma": [Interval(Real, 0, None, closed="neither"), None],
        "margin": [Interval(Real, 0, None, closed="left")],
        "label_weight": [Interval(Real, 0, None, closed="left"), None],
        "n_epochs": [Interval(Integral, 1, None, closed="left"), None],
        "batch_size": [Interval(Integral, 1, None, closed="left"), None],
        "learning_rate": [Interval(Real, 0, None, closed="neither"), None],
        "n_clusters": [Interval(Integral, 1, None, closed="left"), None],
        "n_probes": [Interval(Integral, 1, None, closed="left"), None],
        "n_neighbors": [Interval(Integral, 1, None, closed="left"), None],
        "voting": [StrOptions({"weighted", "counts"}), None],
        "vote_gamma": [Interval(Real, 0, None, closed="left"), None],
        "label_votes": [Interval(Real, 0, None, closed="left"), None],
        "storage": [StrOptions({"int8", "float32"})],
        "idf": ["boolean"],
        "device": [StrOptions({"auto", "cpu", "cuda"})],
    }

    def __init__(
        self,
        *,
        preset: str = "best",
        hierarchy: Any = None,
        edges: str | None = None,
        targets: str | None = None,
        n_walks: int = 10,
        walk_length: int = 40,
        window: int = 5,
        n_learners: int | None = None,
        dim: int | None = None,
        hidden: tuple[int, ...] | None = None,
        activation: str = "relu",
        keep_features: float | None = None,
        dropout: float | None = None,
        loss: str | None = None,
        gamma: float | None = None,
        margin: float = 0.5,
        label_weight: float | None = None,
        n_epochs: int | None = None,
        batch_size: int | None = None,
        learning_rate: float | None = None,
        n_clusters: int | None = None,
        n_probes: int | None = None,
        n_neighbors: int | None = None,
        voting: str | None = None,
        vote_gamma: float | None = None,
        label_votes: float | None = None,
        storage: str = "int8",
        idf: bool = False,
        device: str = "auto",
        k: int = 5,
        threshold: float | None = None,
        random_state: Any = None,
        n_threads: int | None = None,
    ) -> None:
        super().__init__(k=k, threshold=threshold, random_state=random_state, n_threads=n_threads)
        self.preset = preset
        self.hierarchy = hierarchy
        self.edges = edges
        self.targets = targets
        self.n_walks = n_walks
        self.walk_length = walk_length
        self.window = window
        self.n_learners = n_learners
        self.dim = dim
        self.hidden = hidden
        self.activation = activation
        self.keep_features = keep_features
        self.dropout = dropout
        self.loss = loss
        self.gamma = gamma
        self.margin = margin
        self.label_weight = label_weight
        self.n_epochs = n_epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.n_clusters = n_clusters
        self.n_probes = n_probes
        self.n_neighbors = n_neighbors
        self.voting = voting
        self.vote_gamma = vote_gamma
        self.label_votes = label_votes
        self.storage = storage
        self.idf = idf
        self.device = device

    def _validate_params(self) -> None:
        super()._validate_params()
        check_network(self)

    def _fit(self, X: csr_matrix, Y: csr_matrix) -> None:
        self.settings_ = self._chosen(X.shape[0])
        self.rows_ = UnitRows(idf=self.idf).learn(X)
        self.Y_ = csr_matrix(Y, dtype=np.int8)
        X = self.rows_.encode(X)
        random = check_random_state(self.random_state)
        seeds = random.randint(1 << 31, size=self.settings_["n_learners"]).tolist()
        usable = usable_rows(X, Y)
        held_out = self._held_out(usable, seeds[0])
        training = self._training(X)
        with threads.limit(training.n_threads):
            if held_out.size and X.shape[0] < SMALL:
                # So few rows are missed in training: they are held out of one more network only.
                learner, _ = training.learner(X, Y, held_out, usable, seeds[0] // 2)
                self.learners_ = [learner]
                self._choose_votes(X, held_out)
                held_out = held_out[:0]
            self.learners_ = []
            for seed in progress.track(seeds, "Training networks"):
                learner, self.history_ = training.learner(X, Y, held_out, usable, seed)
                self.learners_.append(learner)
            if held_out.size:
                self._choose_votes(X, held_out)

    def _partial_fit(self, X: csr_matrix, Y: csr_matrix) -> None:
        X = self.rows_.encode(X)
        n_old = self.Y_.shape[0]
        self.Y_ = with_rows(self.Y_, Y)
        new = usable_rows(X, Y)
        if not new.size:
            return
        X, Y = csr_matrix(X[new]), csr_matrix(Y[new])
        random = check_random_state(self.random_state)
        training = self._training(X)
        for learner in self.learners_:
            seed = int(random.randint(1 << 31))
            self.history_ = training.append(learner, X, Y, n_old + new, seed)

    def _votes(self, X: csr_matrix, k: int) -> Votes:
        rows, labels = self._found(X, self.settings_["n_neighbors"])
        # A row without known features lies nowhere, but a network puts it somewhere.
        rows.products[np.diff(X.indptr) == 0] = 0.0
        if self.settings_["voting"] == "counts":
            return Votes.counted(rows)
        chosen = self.settings_
        return Votes.weighted(rows, labels, chosen["vote_gamma"], chosen["label_votes"])

    def _found(self, X: csr_matrix, n_rows: int) -> tuple[SearchResult, SearchResult]:
        """Return the training rows and the labels that the networks find near each row."""
        n_labels = _LABELS_FOUND if self.settings_["label_votes"] else 0
        return search_all(self.learners_, X, n_rows, n_labels)

    def _choose_votes(self, X: csr_matrix, rows: NDArray[np.int64]) -> None:
        """Choose what was not given about votes by asking about rows held out.

        If one network is asked for many, they together let as many rows vote as is best for one.
        """
        given = {name: getattr(self, name) for name in CHOSEN}
        numbers = N_NEIGHBORS if given["n_neighbors"] is None else [given["n_neighbors"]]
        found, labels = self._found(csr_matrix(X[rows]), max(numbers) + 1)
        found.products[found.ids == rows[:, np.newaxis]] = -np.inf
        if not self.settings_["label_votes"]:
            given["label_votes"] = 0.0
        choice = choose_neighbors(
            found,
            labels,
            self.Y_,
            csr_matrix(self.Y_[rows]),
            n_learners=len(self.learners_),
            counted=self.settings_["voting"] == "counts",
            n_neighbors=numbers,
            gammas=GAMMAS if given["vote_gamma"] is None else [given["vote_gamma"]],
            label_votes=LABEL_VOTES if given["label_votes"] is None else [given["label_votes"]],
        )
        self.settings_.update(zip(CHOSEN, choice, strict=True))
        if given["n_neighbors"] is None:
            n_votes = choice.n_neighbors * len(self.learners_)
            self.settings_["n_neighbors"] = -(-n_votes // self.settings_["n_learners"])

    def _held_out(self, usable: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
        """Return rows to choose by how many neighbours vote, if there is something to choose."""
        wanted = ["n_neighbors"] if self.settings_["voting"] == "counts" else list(CHOSEN)
        if usable.size < FEW or all(getattr(self, name) is not None for name in wanted):
            return usable[:0]
        n_rows = min(int(np.clip(usable.size // 20, *_HELD_OUT)), usable.size // 5)
        return np.sort(np.random.default_rng(seed).permutation(usable)[:n_rows])

    def _label_graph(self, Y: csr_matrix) -> csr_matrix:
        if self.hierarchy is None:
            return label_graph(Y, self.settings_["edges"])
        return hierarchy_graph(self.hierarchy, Y.shape[1], self._labels.names)

    def _training(self, X: csr_matrix) -> NetworkTraining:
        same = ("n_walks", "walk_length", "window", "n_clusters", "storage", "device")
        return NetworkTraining(
            self.settings_,
            self._label_graph,
            # Threads that share little work wait for each other.
            n_threads=1 if X.nnz < LITTLE_WORK else self.n_threads,
            **{name: getattr(self, name) for name in same},
        )

    def _chosen(self, n_examples: int) -> dict[str, Any]:
        """Return the preset's parameters, those that were given in their place."""
        chosen = preset(self.preset, n_examples)
        same = ("activation", "margin")
        chosen = self._given(chosen | {name: getattr(self, name) for name in same})
        if not chosen["label_weight"] and self.label_votes is None:
            chosen["label_votes"] = 0.0
        return chosen
