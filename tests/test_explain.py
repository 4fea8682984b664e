"""What spoke for a label; the sums of votes are in test_voting.py."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from labelspace.explain import FeatureContributions, Voters, in_equal_parts
from labelspace.explanation import Reason
from labelspace.search.sparse import SparseIndex


def test_only_voters_that_have_the_label_are_named_heaviest_first() -> None:
    ids, weights = np.array([2, -1, 0, 1, 2]), np.array([0.1, 9.0, 0.2, 0.0, 0.3])
    voters = Voters(ids, weights, csr_matrix([[1, 0], [1, 0], [1, 1]]))
    assert [reason.id for reason in voters.reasons_for(0)] == [2, 0]
    assert [reason.id for reason in voters.reasons_for(1)] == [2]


def test_what_speaks_against_a_label_is_no_reason() -> None:
    classifiers = SparseIndex(csr_matrix([[1.0, -2.0, 3.0, 4.0]]))
    row = csr_matrix([[2.0, 1.0, -1.0, 0.0]])
    reasons = FeatureContributions(row, classifiers).reasons_for(0)
    assert reasons == [Reason("feature", 0, 2.0)]


def test_a_kind_takes_the_room_that_the_other_leaves() -> None:
    examples = [Reason("example", number, 1.0) for number in range(4)]
    features = [Reason("feature", 9, 5.0)]
    mixed = in_equal_parts([examples, features], 4)
    assert [reason.kind for reason in mixed] == ["feature", "example", "example", "example"]
    assert [reason.weight for reason in mixed] == [0.5, 0.125, 0.125, 0.125]
    assert [reason.weight for reason in in_equal_parts([examples, []], 2)] == [0.25, 0.25]
