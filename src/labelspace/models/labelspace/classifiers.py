"""The classifiers of LabelSpace: against all rows where that is affordable, else against some."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.linear.sampled_hinge import Classifiers, train_sampled_hinge
from labelspace.linear.squared_hinge import train_with_held_out
from labelspace.models.labelspace.choose_c import USUAL, choose_C
from labelspace.models.labelspace.impact_index import ImpactIndex
from labelspace.models.labelspace.settings import LabelSpaceSettings
from labelspace.search.sparse import SparseIndex

WORTH_CUTTING = 20  # times as long as a list may be, from which on it is cut


def train_classifiers(
    X: csr_matrix,
    Y: csr_matrix,
    held_out: NDArray[np.bool_],
    hard_negatives: Callable[[], csr_matrix],
    C: float | Literal["auto"],
    settings: LabelSpaceSettings,
    **how: Any,
) -> tuple[float, Classifiers, Classifiers]:
    """Return the C that was used, and the classifiers of all rows and of those not held out.

    ``hard_negatives`` is asked, for labels that rows lack but might be taken to have, only where
    classifiers do not see all rows.
    """
    how["min_weight"] = settings.min_weight
    chosen = USUAL if C == "auto" else float(C)
    if C == "auto" and settings.try_C:
        chosen = choose_C(X, Y, **how)
    if settings.exact:
        every, honest = train_with_held_out(X, Y, held_out, C=chosen, tol=settings.tol, **how)
        return chosen, Classifiers(*every[:2]), Classifiers(*honest[:2])
    how["fewest"] = settings.min_negatives
    solved = train_sampled_hinge(X, Y, hard_negatives(), held_out=held_out, C=chosen, **how)
    return chosen, *solved


def index_classifiers(classifiers: Classifiers, longest: int, n_dense: int) -> SparseIndex:
    """Return classifiers ready to be asked, with lists of weights cut where any is far longer.

    Summing all weights of a few labels costs something, too: lists must be worth cutting.

    The last ``n_dense`` features, which all rows have, are multiplied as they are.
    """
    lengths = np.bincount(classifiers.weights.indices, minlength=classifiers.weights.shape[1])
    if n_dense or lengths.max(initial=0) <= WORTH_CUTTING * longest:
        return SparseIndex(*classifiers, n_dense)
    return ImpactIndex(*classifiers, longest=longest)
