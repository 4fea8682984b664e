"""What can be tried: every value has to be one that the method takes."""

from __future__ import annotations

import numpy as np
import pytest

from labelspace import models
from labelspace.errors import UsageError
from labelspace.parameters import Span
from labelspace.tuning import space
from labelspace.tuning.space import Configuration


@pytest.mark.parametrize("method", models.METHODS)
def test_what_is_drawn_is_what_the_method_takes(method: str) -> None:
    pytest.importorskip("torch")
    random = np.random.default_rng(0)
    for _ in range(40):
        models.make(method, **space.draw(method, random))._validate_params()


@pytest.mark.parametrize("method", space.CANDIDATES)
def test_candidates_have_parameters_that_matter(method: str) -> None:
    random = np.random.default_rng(0)
    drawn = [space.draw(method, random) for _ in range(40)]
    assert len({name for one in drawn for name in one}) >= 3
    assert {} in drawn or len(set(map(str, drawn))) > 30


def test_spans_are_drawn_between_their_ends_and_whole_from_whole_ends() -> None:
    random = np.random.default_rng(0)
    drawn = [space._one_of(Span(1, 100), random) for _ in range(200)]
    assert all(isinstance(one, int) for one in drawn)
    assert (min(drawn), max(drawn)) >= (1, 90)
    assert sum(one <= 10 for one in drawn) > 70  # as likely at each order of magnitude


def test_a_configuration_is_the_same_with_lists_for_tuples() -> None:
    one = Configuration("knn", {"power": 2.0}, {"char_ngrams": (3, 5)})
    assert one.key == Configuration("knn", {"power": 2.0}, {"char_ngrams": [3, 5]}).key
    assert one.key != Configuration("knn", {"power": 2.0}).key


def test_methods_that_do_not_exist_are_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean 'annexml'"):
        space.checked_methods(["anexml"])
    with pytest.raises(UsageError, match="names no method"):
        space.checked_methods([])
    assert space.checked_methods(["knn", "knn"]) == ["knn"]
