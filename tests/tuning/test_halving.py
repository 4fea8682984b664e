"""The order of trials: known answers, with figures that are made up."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from labelspace.tuning.halving import BRACKET, Search, rung_sizes
from labelspace.tuning.space import DEFAULT, Configuration

Figure = Callable[[Configuration, int], "float | None"]


def carried_out(search: Search, figure: Figure, most: int = 60) -> list[tuple[str, int]]:
    """Return the trials of a plan, as text and rung, ``most`` of them."""
    plan, trials = search.plan(), []
    try:
        configuration, rung = next(plan)
        while len(trials) < most:
            trials.append((str(configuration), rung))
            configuration, rung = plan.send(figure(configuration, rung))
    except StopIteration:
        pass
    return trials


def search(n_rungs: int = 3, has_texts: bool = False, metric: str = "P@5", seed: int = 0) -> Search:
    methods = ["labelspace", "one-vs-all", "annexml", "label-tree", "knn"]
    return Search(methods, n_rungs, metric=metric, seed=seed, has_texts=has_texts)


# By alphabet, so that the right order is plain; larger rungs are better.
GOOD = {"labelspace": 5, "one-vs-all": 4, "annexml": 3, "label-tree": 2, "knn": 1}


def good(configuration: Configuration, rung: int) -> float:
    return GOOD[configuration.method] + 10 * rung


@pytest.mark.parametrize(
    ("n_rows", "sizes"),
    [(100, [100]), (1999, [1999]), (2000, [500, 2000]), (40_000, [625, 2500, 10_000, 40_000])],
)
def test_rungs_go_from_few_rows_to_all_by_four(n_rows: int, sizes: list[int]) -> None:
    assert rung_sizes(n_rows) == sizes


def test_the_default_comes_first_and_every_method_climbs_the_better_ones_first() -> None:
    others = ["one-vs-all", "annexml", "label-tree", "knn"]
    assert carried_out(search(), good, most=14) == [
        ("labelspace", 0),
        ("labelspace", 2),
        *[(name, 0) for name in others],
        *[(name, 1) for name in others],
        *[(name, 2) for name in others],
    ]


def test_the_better_half_of_what_is_drawn_goes_on() -> None:
    order: list[str] = []

    def figure(configuration: Configuration, rung: int) -> float:
        if str(configuration) not in order:
            order.append(str(configuration))
        return good(configuration, rung) - 0.001 * order.index(str(configuration))

    drawn = carried_out(search(), figure, most=14 + 6 + 3 + 2)[14:]
    at = [name for name, rung in drawn if rung == 0]
    assert [name.split()[0] for name in at] == ["labelspace", "one-vs-all", "annexml"] * 2
    assert drawn[6:] == [
        (at[0], 1),
        (at[3], 1),
        (at[1], 1),
        (at[0], 2),
        (at[3], 2),
    ]


def test_what_fails_does_not_go_on() -> None:
    def figure(configuration: Configuration, rung: int) -> float | None:
        return None if configuration.method == "one-vs-all" else good(configuration, rung)

    trials = carried_out(search(), figure, most=12)
    assert ("one-vs-all", 1) not in trials
    assert ("annexml", 2) in trials


def test_without_a_figure_of_the_default_there_is_nothing_more() -> None:
    trials = carried_out(search(), lambda configuration, rung: None if rung else 1.0)
    assert trials == [("labelspace", 0), ("labelspace", 2)]


def test_with_one_rung_the_default_is_tried_once() -> None:
    trials = carried_out(search(n_rungs=1), good, most=6)
    assert [name for name, _ in trials[:5]] == list(GOOD)


def test_later_brackets_draw_new_settings_of_the_best_methods() -> None:
    trials = carried_out(search(n_rungs=1), good, most=5 + BRACKET)
    drawn = [name for name, _ in trials[5:]]
    assert [name.split()[0] for name in drawn] == ["labelspace", "one-vs-all", "annexml"] * 2
    assert len({name for name, _ in trials}) == len(trials)


def test_the_same_seed_gives_the_same_plan_and_another_one_another() -> None:
    one, same = carried_out(search(seed=3), good), carried_out(search(seed=3), good)
    assert one == same
    assert one != carried_out(search(seed=4), good)


def test_a_plan_ends_when_nothing_more_can_be_tried() -> None:
    only = Search(["most-common"], 1, metric="P@5", seed=0, has_texts=False)
    trials = carried_out(only, lambda configuration, rung: 1.0)
    assert ("most-common", 0) in trials
    assert len(trials) < 60


def test_text_features_are_tried_with_the_default_and_the_best_are_kept() -> None:
    def figure(configuration: Configuration, rung: int) -> float:
        return good(configuration, rung) + (2 if configuration.features.get("ngrams") == 2 else 0)

    trials = [name for name, _ in carried_out(search(n_rungs=1, has_texts=True), figure)]
    assert trials[5:8] == [
        "labelspace char_ngrams=3-5",
        "labelspace ngrams=2",
        "labelspace ngrams=2 char_ngrams=3-5",
    ]
    assert trials[8:11] == ["one-vs-all ngrams=2", "annexml ngrams=2", "label-tree ngrams=2"]
    assert all("ngrams=2" in name for name in trials[11:])


def test_rare_labels_may_count_more_where_the_metric_asks_for_it() -> None:
    trials = carried_out(search(n_rungs=1, metric="PSP@5"), good, most=3)
    assert ("labelspace propensity=True", 0) in trials
    assert DEFAULT.parameters == {}
