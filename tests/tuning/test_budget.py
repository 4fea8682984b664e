"""Budgets as people write them, and estimates from trials that are over."""

from __future__ import annotations

import pytest

from labelspace.errors import UsageError
from labelspace.tuning.budget import CAUTION, Clock, estimate, parse_budget, shown_seconds
from labelspace.tuning.journal import Outcome
from labelspace.tuning.space import Configuration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("10m", 600),
        ("90s", 90),
        ("1h30m", 5400),
        ("1h", 3600),
        ("1h0m5s", 3605),
        ("1.5m", 90),
        (" 2M ", 120),
        ("45", 45),
        (30, 30),
    ],
)
def test_a_budget_is_read_as_seconds(text: str | float, seconds: float) -> None:
    assert parse_budget(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "soon", "10 minutes", "m", "30m1h", "10m30", "-5m", "0s", 0, -1, float("inf")]
)
def test_what_is_no_span_of_time_is_refused_in_a_sentence(text: str | float) -> None:
    with pytest.raises(UsageError, match=r"budget .*: (write it as 10m|give a span)"):
        parse_budget(text)


@pytest.mark.parametrize("text", ["10m", "1h30m", "42s", "2h", "1h1s"])
def test_spans_are_shown_as_they_are_written(text: str) -> None:
    assert shown_seconds(parse_budget(text)) == text


def test_an_estimate_follows_the_trial_most_like_it() -> None:
    def outcome(method: str, n_rows: int, seconds: float, **parameters: object) -> Outcome:
        return Outcome(0, Configuration(method, parameters), 0, n_rows, {}, seconds, 0.0)

    outcomes = [outcome("knn", 400, 8.0), outcome("dxml", 400, 99.0)]
    assert estimate(outcomes, Configuration("knn"), 800) == CAUTION * 16.0
    assert estimate(outcomes, Configuration("knn", {"power": 2.0}), 400) == CAUTION * 8.0
    outcomes.append(outcome("knn", 100, 5.0, power=2.0))
    assert estimate(outcomes, Configuration("knn", {"power": 2.0}), 400) == CAUTION * 20.0
    assert estimate([], Configuration("knn"), 400) == 0.0


def test_what_does_not_grow_with_the_rows_is_told_by_two_trials() -> None:
    def outcomes(*seconds: float) -> list[Outcome]:
        rows = (100, 400)
        return [
            Outcome(0, Configuration("knn"), 0, n_rows, {}, took, 0.0)
            for n_rows, took in zip(rows, seconds, strict=True)
        ]

    knn = Configuration("knn")
    assert estimate(outcomes(5.0, 8.0), knn, 1600) == pytest.approx(CAUTION * 20.0)
    assert estimate(outcomes(9.0, 8.0), knn, 1600) == pytest.approx(CAUTION * 8.0)
    # A second trial that was in bad company does not make it worse than in proportion.
    assert estimate(outcomes(0.5, 8.0), knn, 1600) == pytest.approx(CAUTION * 32.0)


def test_a_clock_goes_on_from_earlier_sittings() -> None:
    clock = Clock(600.0, before=250.0)
    assert 250.0 <= clock.spent < 260.0
    assert 340.0 < clock.left <= 350.0
