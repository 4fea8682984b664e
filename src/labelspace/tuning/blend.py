"""Several methods that have learned from the same rows, asked together.

Each names its best labels for a row, and a ``Mixture`` that was learned on rows held out turns
their scores into one probability for each label.
"""

from __future__ import annotations

from typing import Any, ClassVar

from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if

from labelspace import progress
from labelspace.base import LabelRanker
from labelspace.calibration import Calibration, Threshold
from labelspace.errors import UsageError
from labelspace.explanation import Explanation
from labelspace.store import schema
from labelspace.topk import TopK
from labelspace.tuning.mixture import N_CANDIDATES, Mixture


class Blend(LabelRanker):
    """Methods that answer together; what ``Tuner`` makes where that is better than each alone.

    Parameters
    ----------
    members : list of estimators
        The methods, not fitted; the most trusted first, which explains the answers.
    mixture : Mixture
        What their scores are worth, learned on rows held out from methods with the same settings.
    k, threshold, random_state, n_threads
        As in every estimator; see :class:`labelspace.base.LabelRanker`. Scores are probabilities.

    Attributes
    ----------
    members_ : list of LabelRanker
        The fitted methods.
    calibration_ : Calibration
        What scores were worth on rows held out.

    Examples
    --------
    >>> from labelspace.models import NearestNeighbors, OneVsAll
    >>> X = Y = csr_matrix([[1, 0], [0, 1]] * 20)
    >>> members = [OneVsAll(random_state=0), NearestNeighbors()]
    >>> mixture = Mixture.learn([clone(one).fit(X, Y).predict_topk(X, 2) for one in members], Y)
    >>> Blend(members, mixture).fit(X, Y).predict_topk(X[:2], k=1).labels.ravel()
    array([0, 1])
    """

    _schema: ClassVar[schema.Schema] = {
        "members_": schema.list_of(schema.fitted, least=1),
        "calibration_": schema.part("Calibration"),
    }
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LabelRanker._parameter_constraints,
        "members": [list],
        "mixture": [Mixture],
    }
    _is_calibrated = True

    def __init__(
        self,
        members: list[LabelRanker],
        mixture: Mixture,
        *,
        k: int = 5,
        threshold: Threshold = None,
        random_state: Any = None,
        n_threads: int | None = None,
    ) -> None:
        super().__init__(k=k, threshold=threshold, random_state=random_state, n_threads=n_threads)
        self.members = members
        self.mixture = mixture

    @property
    def gives_probabilities(self) -> bool:
        """Whether a score is the probability that the label is right."""
        return True

    takes_label_features = True  # for those members that do

    def fit(self, X: Any, Y: Any, label_features: Any = None) -> Blend:
        """Learn from examples; ``label_features`` are for the members that go by names."""
        return self._learn(X, Y, label_features=label_features)

    @available_if(lambda self: all(hasattr(one, "partial_fit") for one in self.members))
    def partial_fit(self, X: Any, Y: Any, classes: Any = None, label_features: Any = None) -> Blend:
        """Learn on from new rows, where all members can."""
        return self._learn_on(X, Y, label_features=label_features)

    def _fit(self, X: csr_matrix, Y: csr_matrix, label_features: Any = None) -> None:
        self.members_ = []
        for member in progress.track(self.members, "Training the methods of a blend"):
            fitted = clone(member).set_params(n_threads=self.n_threads)
            self.members_.append(fitted.fit(X, Y, **_names_for(member, label_features)))
        self.calibration_: Calibration = self.mixture.calibration

    def _partial_fit(self, X: csr_matrix, Y: csr_matrix, label_features: Any = None) -> None:
        for member in self.members_:
            partial_fit: Any = member.partial_fit
            partial_fit(X, Y, **_names_for(member, label_features))

    def _predict_topk(self, X: csr_matrix, k: int) -> TopK:
        n_asked = min(max(k, N_CANDIDATES), self.n_labels_)
        for member in self.members_:
            member.n_threads = self.n_threads
        tops = [member.predict_topk(X, n_asked) for member in self.members_]
        return self._filled(self.mixture.mix(tops, self.n_labels_, k))

    def _explain(self, X: csr_matrix, top: TopK, n_reasons: int) -> list[list[Explanation]]:
        """Give the reasons of the most trusted member that has any, for the labels of all."""
        for member in self.members_:
            if hasattr(member, "explain"):
                return member._explain(X, top, n_reasons)
        names = ", ".join(type(member).__name__ for member in self.members_)
        raise UsageError(f"None of {names} explains its answers: use a method that does.")

    @classmethod
    def _check_state(cls, state: schema.State, sizes: schema.Sizes) -> None:
        super()._check_state(state, sizes)
        learned: Any = state.get("members_", state["members"])
        if len({len(state["members"]), len(state["mixture"].weights), len(learned)}) != 1:
            raise schema.Mismatch("mixture is not one of as many methods as there are")


def _names_for(member: LabelRanker, label_features: Any) -> dict[str, Any]:
    if label_features is None or not member.takes_label_features:
        return {}
    return {"label_features": label_features}
