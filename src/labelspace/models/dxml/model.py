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

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.utils import check_random_state

from labelspace import engine, progress, threads
from labelspace.base import LabelRanker
from labelspace.deep.requirements import check_network
from labelspace.ensemble import search_all
from labelspace.graph.cooccurrence import label_graph
from labelspace.labels import with_rows
from labelspace.models.dxml.choose_neighbors import N_NEIGHBORS, choose_neighbors
from labelspace.models.dxml.hierarchy import hierarchy_graph
from labelspace.models.dxml.learners import DXMLLearner, NetworkTraining, train_network
from labelspace.models.dxml.settings import LITTLE_WORK, SMALL, TINY, DXMLSettings
from labelspace.parameters import FLAG, one_of
from labelspace.search.result import SearchResult
from labelspace.selection import hold_out, usable_rows
from labelspace.store import schema
from labelspace.voting import Votes, VotingRanker

if TYPE_CHECKING:
    from labelspace.deep.history import History

# Rows to choose by how many neighbours vote; with few rows none can be spared.
_HELD_OUT = (1000, 4000)
_LABELS_FOUND = 40
# Settings that are parameters too.
_TURNED = ("n_learners", "dim", "hidden", "n_epochs", "n_probes", "n_neighbors", "label_votes")


class DXML(VotingRanker):
    """Votes of nearest training rows, where a network puts rows near their labels.

    The default is not the paper's method: targets stand against those of other rows, labels learn
    along and vote, nearer rows count more, and several networks vote together.
    Learning needs torch (``pip install 'labelspace[deep]'``); prediction does not. Parameters that
    are None take the value of the preset; :class:`DXMLSettings` has these and all others.

    Parameters
    ----------
    preset : {"best", "paper"}, default="best"
        "best" is what measures best; "paper" has the setting of the paper, and ours where it says
        nothing.
    hierarchy : str or sparse matrix, optional
        A label graph that is known, instead of the one that the rows show: a file of
        ``parent<TAB>child`` lines with names (or numbers) of labels, or a matrix of edges. A
        ``Tagger`` takes ``"vocabulary"`` for the broader labels of its vocabulary.
    n_learners : int, optional
        Networks that are learned and vote together.
    dim : int, optional
        Dimensions of the space.
    hidden : tuple of int, optional
        Widths of hidden layers.
    n_epochs : int, optional
        Passes over the rows.
    n_probes : int, optional
        Clusters of training rows that are searched, nearest first.
    n_neighbors : int, optional
        Training rows that vote, for each network; chosen by asking about rows that a network has
        not seen unless given.
    label_votes : float, optional
        What all votes of labels for themselves count against all votes of rows; chosen as
        ``n_neighbors`` is.
    device : {"auto", "cpu", "cuda"}, default="auto"
        Where to learn; auto takes a GPU if there is one.
    idf : bool, default=False
        Whether features are weighted by inverse document frequency: for 0-1 features or counts.
    settings : dict or DXMLSettings, optional
        All else, such as ``{"learning_rate": 0.001, "targets": "svd"}``.
    k, threshold, random_state, n_threads
        As in every estimator; see :class:`labelspace.base.LabelRanker`. Scores are shares of the
        votes, from 0 to 1; where votes are counted they are counts.

    Attributes
    ----------
    learners_ : list of DXMLLearner
        Network, clustered training rows and labels of each.
    Y_ : csr_matrix of shape (n_examples_, n_labels_)
        Labels of the training rows.
    history_ : History
        Loss of each epoch of the network that learned last.
    settings_ : DXMLSettings
        The settings as preset, corpus, parameters and the rows held out have made them.

    Examples
    --------
    >>> from labelspace.models import DXML
    >>> X = [[1.0, 0.0, 0.1], [0.9, 0.2, 0.0], [0.0, 1.0, 0.1], [0.1, 0.9, 0.3]]
    >>> Y = [["red"], ["red"], ["round"], ["round"]]
    >>> model = DXML(dim=8, hidden=(8,), random_state=0).fit(X, Y)
    >>> model.classes_[model.predict_topk([[0.7, 0.1, 0.0]], k=1).labels]
    array([['red']], dtype='<U5')
    """

    settings_type = DXMLSettings
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LabelRanker._parameter_constraints,
        **{name: [*DXMLSettings.rules[name], None] for name in _TURNED},
        "preset": [one_of(*DXMLSettings.presets)],
        "hierarchy": [str, "sparse matrix", None],
        "device": [one_of("auto", "cpu", "cuda")],
        "idf": [FLAG],
    }

    _schema: ClassVar[schema.Schema] = {
        "settings_": schema.part("DXMLSettings"),
        "learners_": schema.list_of(
            schema.part(
                "DXMLLearner",
                n_features="n_features",
                rows_end=schema.up_to("n_examples"),
                n_placed=schema.up_to("n_labels"),
            ),
            least=1,
        ),
        "history_": schema.maybe(schema.part("History")),
    }

    def __init__(
        self,
        *,
        preset: str = "best",
        hierarchy: Any = None,
        n_learners: int | None = None,
        dim: int | None = None,
        hidden: tuple[int, ...] | None = None,
        n_epochs: int | None = None,
        n_probes: int | None = None,
        n_neighbors: int | None = None,
        label_votes: float | None = None,
        device: str = "auto",
        idf: bool = False,
        settings: Mapping[str, Any] | DXMLSettings | None = None,
        k: int = 5,
        threshold: float | None = None,
        random_state: Any = None,
        n_threads: int | None = None,
    ) -> None:
        super().__init__(k=k, threshold=threshold, random_state=random_state, n_threads=n_threads)
        self.preset = preset
        self.hierarchy = hierarchy
        self.n_learners = n_learners
        self.dim = dim
        self.hidden = hidden
        self.n_epochs = n_epochs
        self.n_probes = n_probes
        self.n_neighbors = n_neighbors
        self.label_votes = label_votes
        self.device = device
        self.idf = idf
        self.settings = settings

    def _validate_params(self) -> None:
        super()._validate_params()
        check_network(self)

    def _fit(self, X: csr_matrix, Y: csr_matrix) -> None:
        self.settings_: DXMLSettings = self._resolved(X, Y)
        X = self._learn_rows(X, Y, normalize=self.settings_.normalize)
        seeds = self._seeds(self.settings_.n_learners)
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
            trained = self._networks(training, (X, Y, held_out, usable), seeds)
            self.learners_ = [learner for learner, _ in trained]
            self.history_ = trained[-1][1]
            if held_out.size:
                self._choose_votes(X, held_out)
        self.settings_ = self.settings_.with_usual_votes()

    def _networks(
        self, training: NetworkTraining, rows: tuple[Any, ...], seeds: Sequence[int]
    ) -> list[tuple[DXMLLearner, History]]:
        """Return a network for each seed, one after another or each by a worker of an engine."""
        X, Y, held_out, voters = rows
        if engine.is_active():
            inputs = {"X": X, "Y": Y, "held_out": held_out, "voters": voters}
            inputs |= {"settings": training.settings, "device": training.device}
            inputs["graph"] = None if self.hierarchy is None else self._label_graph(Y)
            return engine.run_blocks(
                train_network, inputs, seeds, "training networks", may_lose=True
            )
        return [
            training.learner(X, Y, held_out, voters, seed)
            for seed in progress.track(seeds, "Training networks")
        ]

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
        assert self.settings_.n_neighbors is not None
        rows, labels = self._found(X, self.settings_.n_neighbors)
        # A row without known features lies nowhere, but a network puts it somewhere.
        rows.products[np.diff(X.indptr) == 0] = 0.0
        return self.settings_.votes(rows, labels)

    def _found(self, X: csr_matrix, n_rows: int) -> tuple[SearchResult, SearchResult]:
        """Return the training rows and the labels that the networks find near each row."""
        n_labels = 0 if self.settings_.label_votes == 0 else _LABELS_FOUND
        return search_all(self.learners_, X, n_rows, n_labels)

    def _choose_votes(self, X: csr_matrix, rows: NDArray[np.int64]) -> None:
        """Choose what was not told about votes by asking about rows held out.

        If one network is asked for many, they together let as many rows vote as is best for one.
        """
        told, n_asked = self.settings_, len(self.learners_)
        n_found = max(N_NEIGHBORS) if told.n_neighbors is None else told.n_neighbors
        found, labels = self._found(csr_matrix(X[rows]), n_found + 1)
        found.products[found.ids == rows[:, np.newaxis]] = -np.inf
        truth = csr_matrix(self.Y_[rows])
        chosen = choose_neighbors(told, found, labels, self.Y_, truth, n_learners=n_asked)
        if told.n_neighbors is None and chosen.n_neighbors is not None:
            n_votes = chosen.n_neighbors * n_asked
            chosen = replace(chosen, n_neighbors=-(-n_votes // told.n_learners))
        self.settings_ = chosen

    def _held_out(self, usable: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
        """Return rows to choose by how many neighbours vote, if there is something to choose."""
        if usable.size < TINY or self.settings_.is_told_of_votes:
            return usable[:0]
        n_rows = min(int(np.clip(usable.size // 20, *_HELD_OUT)), usable.size // 5)
        return hold_out(usable, n_rows, seed)

    def _label_graph(self, Y: csr_matrix) -> csr_matrix:
        if self.hierarchy is None:
            return label_graph(Y, self.settings_.edges)
        return hierarchy_graph(self.hierarchy, Y.shape[1], self._labels.names)

    def _training(self, X: csr_matrix) -> NetworkTraining:
        return NetworkTraining(
            self.settings_,
            self._label_graph,
            device=self.device,
            # Threads that share little work wait for each other.
            n_threads=1 if X.nnz < LITTLE_WORK else self.n_threads,
        )
