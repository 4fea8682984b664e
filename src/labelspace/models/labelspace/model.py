"""LabelSpace: neighbours propose labels, classifiers rank them, held-out rows say whom to trust.

Nearest training rows in a learned space are good at rare labels, linear classifiers at frequent
ones. A linear map is trained as in AnnexML; the neighbours of a row vote for a short list of
labels. Each label has a linear classifier, trained against all other rows or, where these are too
many, against those that the neighbours would wrongly give it (``classifiers``). Rows that neither
half has seen then teach how votes, margins and nearness are stacked into a probability
(``stacking``), with boosted trees that know whom to trust in which case:

    p(label | x) = σ( a · φ(margin, share of the votes, cosine, frequency) + trees(…) )

As these are probabilities, the ranking that expects the best PSP@k is by p / propensity:
``propensity=True``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.utils import check_random_state

from labelspace import metrics, partial_labels
from labelspace.base import LabelRanker
from labelspace.calibration import Threshold
from labelspace.csr import dense_tail
from labelspace.encoders.unit_rows import UnitRows
from labelspace.explanation import Explanation
from labelspace.labels import without_rows
from labelspace.models.labelspace.candidates import LabelCentroids
from labelspace.models.labelspace.classifiers import index_classifiers, train_classifiers
from labelspace.models.labelspace.cross_fitting import CrossFit, measure_scores
from labelspace.models.labelspace.evidence import LabelEvidence, vote
from labelspace.models.labelspace.label_partners import label_partners
from labelspace.models.labelspace.leaf_mates import grow_leaf_mates
from labelspace.models.labelspace.learners import (
    encode,
    held_out_rows,
    miss_many_rows,
    train_spaces,
)
from labelspace.models.labelspace.learning_on import LearnsOn
from labelspace.models.labelspace.name_index import NameIndex
from labelspace.models.labelspace.reservoir import draw_reservoir
from labelspace.models.labelspace.settings import LabelSpaceSettings
from labelspace.models.labelspace.stacking import best_candidates, learn_stacker
from labelspace.models.labelspace.vector_space import VectorSpace
from labelspace.parameters import FLAG, one_of, real
from labelspace.search.ivf import IVFIndex
from labelspace.search.self_join import self_join
from labelspace.search.sparse import SparseIndex
from labelspace.selection import row_groups
from labelspace.store import schema
from labelspace.threads import in_blocks
from labelspace.topk import TopK

_TURNED = ("dim", "n_learners", "n_neighbors", "min_weight")


class LabelSpace(LearnsOn):
    """Votes of neighbours and linear classifiers, stacked into probabilities; the default method.

    Parameters
    ----------
    effort : {"balanced", "fast", "best"}, default="balanced"
        How much training and prediction may cost: "fast" has one small space and fewer trees,
        "best" more spaces, trees of rows that vote as well, more rows held out and classifiers
        trained to the end.
    propensity : bool, default=False
        Whether rare labels count more, as PSP@k counts them. Scores are then p / propensity, as
        a share of the largest that there can be.
    C : float or "auto", default="auto"
        Weight of the classifiers' training error: larger fits closer. "auto" tries 1.0 and 0.3 on
        rows held out of a sample; 0.2, 0.5 and 1.0 where classifiers do not see all rows.
    dim : int, optional
        Dimensions of each space in which neighbours are searched: 128 unless given.
    n_learners : int, optional
        Spaces whose neighbours vote together: four unless given.
    n_neighbors : int, optional
        Training rows that vote, for each learner: 100, falling to 40 between 10,000 and 40,000
        rows.
    min_weight : float, optional
        Classifiers' weights closer to zero are cut: 0.05 unless given.
    idf : bool or "auto", default="auto"
        Whether features are weighted by inverse document frequency; "auto" does so where all are
        whole numbers: 0-1 features or counts.
    settings : dict or LabelSpaceSettings, optional
        Everything else that can be told: see
        :class:`labelspace.models.labelspace.settings.LabelSpaceSettings`.
    k, threshold, random_state, n_threads
        As in every estimator; see :class:`labelspace.base.LabelRanker`. Scores are probabilities.

    Attributes
    ----------
    settings_ : LabelSpaceSettings
        The settings as corpus and parameters have made them.
    learners_ : list of Learner
        Maps into the spaces, and the training rows there.
    mates_ : LeafMates or None
        Trees of rows, and the training rows in their leaves, with ``effort="best"``.
    C_ : float
        The C that was used.
    classifiers_ : SparseIndex or ImpactIndex
        The classifiers' weights, by feature.
    label_centroids_ : LabelCentroids
        Where labels lie in the spaces.
    names_ : NameIndex or None
        What labels are called.
    vectors_ : VectorSpace or None
        Labels and their names in the space of an encoder, where rows end with its vectors.
    partners_ : csr_matrix of shape (n_labels_, n_labels_)
        Which labels go together.
    stacker_ : Stacker
        How votes, margins, names and nearness make a probability.
    calibration_ : Calibration
        What scores were worth on rows held out: error of the probabilities, operating points.
    Y_ : csr_matrix of shape (n_examples_, n_labels_)
        Labels of the training rows.
    reservoir_ : csr_matrix of shape (1000 at most, n_features_in_)
        Some of the training rows, which labels that come later are told apart from.

    Examples
    --------
    >>> from labelspace.models import LabelSpace
    >>> X = [[1.0, 0.0, 0.1], [0.9, 0.2, 0.0], [0.0, 1.0, 0.1], [0.1, 0.9, 0.3]]
    >>> model = LabelSpace(random_state=0).fit(X, [["red"], ["red"], ["round"], ["round"]])
    >>> model.classes_[model.predict_topk([[0.7, 0.1, 0.0]], k=1).labels]
    array([['red']], dtype='<U5')
    """

    settings_type = LabelSpaceSettings
    settings_: LabelSpaceSettings

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LabelRanker._parameter_constraints,
        "effort": [one_of(*LabelSpaceSettings.presets)],
        "propensity": [FLAG],
        "C": [real(0), one_of("auto")],
        **{name: [*LabelSpaceSettings.rules[name], None] for name in _TURNED},
        "idf": [FLAG, one_of("auto")],
    }

    _schema: ClassVar[schema.Schema] = {
        "rows_": schema.part("UnitRows", n_features="n_features"),
        "settings_": schema.part("LabelSpaceSettings"),
        "Y_": schema.csr("int8", "n_examples", "n_labels"),
        "learners_": schema.list_of(
            schema.part(
                "Learner",
                n_features="n_features",
                dim="dim",
                rows_end=schema.up_to("n_examples"),
                features_end=schema.up_to("n_features"),
            ),
            least=1,
        ),
        "mates_": schema.maybe(
            schema.optional(schema.part("LeafMates", rows_end=schema.up_to("n_examples")))
        ),
        "C_": schema.number(0),
        "classifiers_": schema.part(
            "SparseIndex",
            "ImpactIndex",
            n_features="n_features",
            n_keys="n_labels",
        ),
        "label_centroids_": schema.part("LabelCentroids", n_labels="n_labels", dim="joined_dim"),
        "names_": schema.optional(
            schema.part("NameIndex", n_labels="n_labels", n_features="n_features")
        ),
        "vectors_": schema.maybe(schema.optional(schema.part("VectorSpace", n_labels="n_labels"))),
        "partners_": schema.csr("float32", "n_labels", "n_labels"),
        "stacker_": schema.part("Stacker"),
        "calibration_": schema.part("Calibration"),
        "reservoir_": schema.csr("float32", None, "n_features"),
        "partial_": partial_labels.ATTRIBUTE,
    }

    def __init__(
        self,
        *,
        effort: str = "balanced",
        propensity: bool = False,
        C: float | Literal["auto"] = "auto",
        dim: int | None = None,
        n_learners: int | None = None,
        n_neighbors: int | None = None,
        min_weight: float | None = None,
        idf: bool | Literal["auto"] = "auto",
        settings: Mapping[str, Any] | LabelSpaceSettings | None = None,
        k: int = 5,
        threshold: Threshold = None,
        random_state: Any = None,
        n_threads: int | None = None,
    ) -> None:
        super().__init__(k=k, threshold=threshold, random_state=random_state, n_threads=n_threads)
        self.effort = effort
        self.propensity = propensity
        self.C = C
        self.dim = dim
        self.n_learners = n_learners
        self.n_neighbors = n_neighbors
        self.min_weight = min_weight
        self.idf = idf
        self.settings = settings

    _is_calibrated = True
    takes_label_features = True

    @classmethod
    def _check_state(cls, state: schema.State, sizes: schema.Sizes) -> None:
        super()._check_state(state, sizes)
        if "learners_" in state:
            # Labels lie in all spaces together.
            sizes.settle("joined_dim", len(state["learners_"]) * sizes.known["dim"])

    @property
    def preset(self) -> str:
        """The effort, by the name that settings know it by."""
        return self.effort

    @property
    def gives_probabilities(self) -> bool:
        """Whether a score is the probability that the label is right."""
        return not self.propensity

    def fit(self, X: Any, Y: Any, label_features: Any = None, groups: Any = None) -> LabelSpace:
        """Learn from examples, and from what labels are called.

        Parameters
        ----------
        X, Y
            As in every estimator; see :meth:`labelspace.base.LabelRanker.fit`.
        label_features : sparse array of shape (n_labels, n_features) or LabelFeatures, optional
            Names of the labels as rows of the same features as ``X``; ``LabelFeatures`` has
            several for a label. Labels without any example can be answered by their names.
        groups : array of shape (n_examples,), optional
            Where each example comes from. Those of one group are never held out from each other,
            so that nearness counts as it does for examples from elsewhere.
        """
        return self._learn(X, Y, label_features=label_features, groups=groups)

    def _fit(
        self, X: csr_matrix, Y: csr_matrix, label_features: Any = None, groups: Any = None
    ) -> None:
        n_dense = dense_tail(X)
        told = self.settings_ = self._resolved(X, Y, n_dense)
        seed = int(check_random_state(self.random_state).randint(1 << 30))
        how: dict[str, Any] = {"n_threads": self.n_threads, "seed": seed}
        self.rows_ = UnitRows(idf=self.idf).learn(X)
        self.Y_ = csr_matrix(Y, dtype=np.int8)
        self.partial_ = None
        X = self.rows_.encode(X)
        kin = row_groups(groups, X.shape[0])
        names = self._label_features(label_features)
        self.names_ = None if names is None else NameIndex(names, X, Y.shape[1])
        self.vectors_ = VectorSpace(X, Y, n_dense, seed) if n_dense else None
        self._name_vectors(label_features)
        held_out = held_out_rows(X, Y, told, seed, kin)
        seen = without_rows(Y, np.flatnonzero(held_out))
        self.learners_ = train_spaces(X, seen, self.Y_, told, **how)
        self.mates_ = grow_leaf_mates(X, seen, self.Y_, told, **how)
        hard = partial(self._hard_negatives, Y)
        self.C_, every, honest = train_classifiers(X, Y, held_out, hard, self.C, told, **how)
        longest = told.longest_list
        index = index_classifiers(honest, longest, n_dense)
        del honest  # with millions of labels, most of the memory
        self._learn_stacker(X, Y, seen, np.flatnonzero(held_out), index, kin)
        del index
        if miss_many_rows(X, Y, told):
            self.learners_ = train_spaces(X, Y, self.Y_, told, **how)
        self.classifiers_ = index_classifiers(every, longest, n_dense)
        self.label_centroids_ = self._label_centroids(X, Y)
        self.partners_ = label_partners(self.Y_, told.n_partners)
        self.reservoir_ = draw_reservoir(X, told.reservoir_size, seed)

    def _hard_negatives(self, Y: csr_matrix) -> csr_matrix:
        """Return the labels that training rows' neighbours propose for them."""
        told, index = self.settings_, self.learners_[0].rows
        assert isinstance(index, IVFIndex)
        found = self_join(index, Y.shape[0], told.hard_neighbors, self.n_threads)
        return vote(found, self.Y_, told.hard_negatives, told.vote_gamma).to_csr(Y.shape[1])

    def _learn_stacker(
        self,
        X: csr_matrix,
        Y: csr_matrix,
        seen: csr_matrix,
        rows: NDArray[np.int64],
        classifiers: SparseIndex,
        groups: NDArray[np.int64] | None,
    ) -> None:
        """Learn from the rows held out, which here look as new rows do."""
        if self.names_ is not None:
            self.names_.counts = self.names_.learn(X, seen)
        counts = np.bincount(seen.indices, minlength=seen.shape[1])
        asked, truth = csr_matrix(X[rows]), csr_matrix(Y[rows])
        if self.vectors_ is not None:
            self.vectors_.place_labels(X, seen)
        evidence = self._evidence(classifiers, self._label_centroids(X, seen))
        candidates = evidence.candidates(asked, rows, groups)
        told = candidates, truth, counts, label_partners(seen, self.settings_.n_partners)
        halves = CrossFit(*told, n_trees=self.settings_.n_trees)
        n_trees = halves.best_n_trees()
        self.stacker_ = learn_stacker(*told, n_trees=halves.n_trees_for_all(n_trees))
        gains = self._gains() if self.propensity else None
        unseen = halves.probabilities(n_trees)
        self.calibration_ = measure_scores(candidates, unseen, truth, gains)
        if self.names_ is not None:
            self.names_.counts = self.names_.learn(asked, truth)
        if self.vectors_ is not None:
            self.vectors_.place_labels(X, Y)

    def _label_centroids(self, X: csr_matrix, Y: csr_matrix) -> LabelCentroids:
        """Return where labels lie in the spaces: in the middle of their rows."""
        return LabelCentroids.amid(Y, encode(self.learners_, X))

    def _evidence(self, classifiers: SparseIndex, centroids: LabelCentroids) -> LabelEvidence:
        told = self.names_, self.vectors_, self.settings_, self.partial_, self.mates_
        return LabelEvidence(self.learners_, self.Y_, classifiers, centroids, *told)

    def _predict_topk(self, X: csr_matrix, k: int) -> TopK:
        X = self.rows_.encode(X)
        return TopK.stack(in_blocks(lambda block: self._answer(block, k), X, self.n_threads))

    def _answer(self, X: csr_matrix, k: int) -> TopK:
        candidates = self._evidence(self.classifiers_, self.label_centroids_).candidates(X)
        scores = self.stacker_.probabilities(candidates, self.label_counts_, self.partners_)
        if self.propensity:
            scores *= self._gains()[np.maximum(candidates.labels, 0)]
        return self._filled(best_candidates(candidates.labels, scores, k))

    def _explain(self, X: csr_matrix, top: TopK, n_reasons: int) -> list[list[Explanation]]:
        """Reasons are rows that voted, features that the classifier likes, and words of names."""
        evidence = self._evidence(self.classifiers_, self.label_centroids_)
        return evidence.explanations(self.rows_.encode(X), top, n_reasons)

    def _gains(self) -> NDArray[np.float32]:
        """Return what a label counts in PSP@k, as a share of what one without rows would."""
        gains = metrics.inverse_propensity(self.label_counts_, self.n_examples_)
        most = metrics.inverse_propensity([0], self.n_examples_)
        return (gains / most).astype(np.float32)
