"""In which order configurations are tried, and on how many rows: successive halving.

All configurations of a bracket learn from few rows; the better half of them goes on to four times
as many, and so on up to all. Only the methods as they are by themselves all go on, as far as there
is time. The plan is a generator that gives a configuration and a rung, and is
sent the figure that was reached, or None where there is none: so it depends on the figures and the
seed alone, and can be gone through again with those that are written down.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterable
from typing import Any, TypeVar

import numpy as np

from labelspace.tuning import space
from labelspace.tuning.space import DEFAULT, Configuration

FACTOR = 4
FEWEST_ROWS = 500  # of a rung: fewer tell nothing of all
BRACKET = 6
N_METHODS = 3  # that are drawn from, those with the best figures
_MOST_DRAWS = 100

# Gives (configuration, rung) and is sent a figure, larger is better.
Result = TypeVar("Result")
Plan = Generator[tuple[Configuration, int], float | None, Result]


def rung_sizes(n_rows: int) -> list[int]:
    """Return how many rows each rung learns from, up to all of them.

    >>> rung_sizes(20_000), rung_sizes(1_900)
    ([1250, 5000, 20000], [1900])
    """
    sizes = [n_rows]
    while sizes[0] >= FACTOR * FEWEST_ROWS:
        sizes.insert(0, math.ceil(sizes[0] / FACTOR))
    return sizes


class Search:
    """The plan of a search.

    Parameters
    ----------
    methods : list of str
        The methods to choose among.
    n_rungs : int
    metric : str
        Name of the figure.
    seed : int
    has_texts : bool
        Whether there are text features to choose, too.
    """

    def __init__(
        self, methods: list[str], n_rungs: int, *, metric: str, seed: int, has_texts: bool
    ) -> None:
        self.methods = methods
        self.top = n_rungs - 1
        self.metric = metric
        self.seed = seed
        self.has_texts = has_texts
        self._figures: dict[tuple[int, str], tuple[float, Configuration]] = {}

    def plan(self) -> Plan[None]:
        """Try the default, then every method, then text features, then what is drawn."""
        if self.top:
            yield from self._asked(DEFAULT, 0)  # tells how long all rows will take
        if (yield from self._asked(DEFAULT, self.top)) is None:
            return
        # A method that is not the best may be what a blend lacks, so that none is left behind.
        own = space.own_settings(self.methods, self.metric)
        yield from self._bracket(own, keep=1.0)
        features = DEFAULT.features
        if self.has_texts:
            variants = space.feature_variants()
            yield from self._bracket(Configuration(DEFAULT.method, {}, one) for one in variants)
            features = self._best().features
        if features:
            methods = [name for name in self._by_figure() if name != DEFAULT.method]
            yield from self._bracket(
                Configuration(name, {}, features) for name in methods[:N_METHODS]
            )
        number = 0
        drawn = True
        while drawn:
            bracket = self._drawn(number, features)
            drawn = yield from self._bracket(bracket)
            number += 1

    def _bracket(self, configurations: Iterable[Configuration], keep: float = 1 / 2) -> Plan[bool]:
        """Let the better of the configurations climb, best first; tell whether any had a figure."""
        left = list(configurations)
        found = False
        for rung in range(self.top + 1):
            scored = []
            for at, configuration in enumerate(left):
                figure = yield from self._asked(configuration, rung)
                if figure is not None:
                    scored.append((-figure, at))
            found = found or bool(scored)
            left = [left[at] for _, at in sorted(scored)[: math.ceil(keep * len(scored))]]
        return found

    def _asked(self, configuration: Configuration, rung: int) -> Plan[float | None]:
        figure = yield configuration, rung
        if figure is not None:
            self._figures[rung, configuration.key] = figure, configuration
        return figure

    def _drawn(self, number: int, features: dict[str, Any]) -> list[Configuration]:
        """Return new configurations of the methods that are best so far, in turn."""
        random = np.random.default_rng((self.seed, number))
        seen = {key for _, key in self._figures}
        methods = self._by_figure()[:N_METHODS]
        bracket: list[Configuration] = []
        for _ in range(_MOST_DRAWS):
            method = methods[len(bracket) % len(methods)]
            one = Configuration(method, space.draw(method, random), features)
            if one.key not in seen and len(bracket) < BRACKET:
                bracket.append(one)
                seen.add(one.key)
        return bracket

    def _by_figure(self) -> list[str]:
        """Return the methods that learned from most rows, best first."""
        best: dict[str, tuple[int, float]] = {}
        for (rung, _), (figure, configuration) in self._figures.items():
            if configuration.method in self.methods:
                reached = (rung, figure)
                best[configuration.method] = max(best.get(configuration.method, reached), reached)
        return sorted(best, key=lambda name: best[name], reverse=True) or [DEFAULT.method]

    def _best(self) -> Configuration:
        """Return what has the best figure on all rows, the first of equal ones."""
        on_all = [found for (rung, _), found in self._figures.items() if rung == self.top]
        return max(on_all, key=lambda found: found[0])[1]
