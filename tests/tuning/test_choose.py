"""Which of what was tried is trained in the end."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from labelspace import metrics
from labelspace.topk import TopK, topk_dense
from labelspace.tuning.choose import Choice, Finalist, _pool
from labelspace.tuning.space import Configuration

RANDOM = np.random.default_rng(0)
TRUTH = (RANDOM.random((400, 8)) < 0.25).astype(np.float32)
Y = csr_matrix(TRUTH)


def measure(top: TopK) -> dict[str, float]:
    return {"P@1": metrics.evaluate(Y, top, ks=(1,))["P@1"]}


CHOICE = Choice(Y, measure, "P@1", 1)


def finalist(method: str, noise: float, seconds: float = 1.0, **features: int) -> Finalist:
    top = topk_dense(
        TRUTH + np.random.default_rng(len(method)).normal(scale=noise, size=Y.shape), 8
    )
    return Finalist(Configuration(method, {}, features), measure(top), top, seconds)


def test_methods_that_err_differently_are_blended() -> None:
    default, other = finalist("labelspace", 0.7), finalist("knn", 0.8)
    best = CHOICE.ranking([default, other])[0]
    assert {one.configuration.method for one in best.members} == {"labelspace", "knn"}
    assert best.figures["P@1"] > default.figures["P@1"]
    assert best.seconds == 2.0


def test_nothing_comes_before_the_default_that_is_not_better() -> None:
    default = finalist("labelspace", 0.7)
    same = Finalist(Configuration("knn"), default.figures, None, 1.0)
    worse = Finalist(Configuration("one-vs-all"), {"P@1": 1.0}, None, 1.0)
    assert [str(one) for one in CHOICE.ranking([default, worse, same])] == [
        "labelspace",
        "knn",
        "one-vs-all",
    ]


def test_what_there_is_no_time_for_is_left_out_but_not_the_default() -> None:
    default, other = finalist("labelspace", 0.7, seconds=60.0), finalist("knn", 0.3, seconds=50.0)
    assert [str(one) for one in CHOICE.ranking([default, other], 10.0)] == ["labelspace"]
    assert str(CHOICE.ranking([default, other], 55.0)[0]) == "knn"


def test_only_configurations_with_the_same_features_are_blended() -> None:
    default, other = finalist("labelspace", 0.7), finalist("knn", 0.8, ngrams=2)
    assert all(len(one.members) == 1 for one in CHOICE.ranking([default, other]))


def test_without_answers_there_are_no_blends() -> None:
    default, other = finalist("labelspace", 0.7), finalist("knn", 0.8)
    forgotten = Finalist(other.configuration, other.figures, None, 1.0)
    assert all(len(one.members) == 1 for one in CHOICE.ranking([default, forgotten]))


def test_each_method_may_be_part_of_a_blend_before_one_is_there_twice() -> None:
    many = [
        Finalist(Configuration("labelspace", {"C": n}), {"P@1": 90.0 - n}, None, 1.0)
        for n in range(20)
    ]
    last = Finalist(Configuration("knn"), {"P@1": 1.0}, None, 1.0)
    pool = _pool([*many, last])
    assert pool == [many[0], many[1], last]


def test_the_best_within_the_time_is_chosen() -> None:
    default, other = finalist("labelspace", 0.7, seconds=60.0), finalist("knn", 0.3, seconds=50.0)
    assert str(CHOICE.best([default, other], 10.0)) == "labelspace"
    assert str(CHOICE.best([default, other], 55.0)) == "knn"
