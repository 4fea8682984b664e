"""Which of what was tried is to be trained on all rows: one configuration, or some together.

Blends begin with the best configuration and take in the one that helps most, again and again, as
long as it is worth its time. They are measured on the rows held out, each fold by a mixture of the
other folds, so that their figures can be compared with those of a single configuration.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix

from labelspace.topk import TopK
from labelspace.tuning.mixture import Evidence
from labelspace.tuning.space import Configuration

MOST_MEMBERS = 4
POOL = 8  # configurations that blends are made of, the best ones
PER_METHOD = 2  # of one method
WORTH = 0.03  # percent that another member has to add
N_RANKED = 10  # labels of each member that blends are compared by


@dataclass(frozen=True)
class Finalist:
    """A configuration that learned from all rows, and what it said of the rows held out."""

    configuration: Configuration
    figures: dict[str, float]
    answer: TopK | None
    seconds: float  # that training on everything will take


@dataclass(frozen=True)
class Chosen:
    """One configuration, or several that are blended, with figures on the rows held out."""

    members: tuple[Finalist, ...]
    figures: dict[str, float]

    @property
    def seconds(self) -> float:
        """Time that training on everything will take."""
        return sum(member.seconds for member in self.members)

    def __str__(self) -> str:
        return " + ".join(str(member.configuration) for member in self.members)


class Choice:
    """Puts configurations and blends of them in order.

    Parameters
    ----------
    Y : csr_matrix
        Labels of the rows held out.
    measure : callable
        Returns the figures of a ranking of these rows.
    metric : str
        The figure that counts.
    k : int
        Labels of each row that figures need.
    """

    def __init__(
        self, Y: csr_matrix, measure: Callable[[TopK], dict[str, float]], metric: str, k: int
    ) -> None:
        self.Y = Y
        self.measure = measure
        self.metric = metric
        self.k = k

    def best(self, finalists: Sequence[Finalist], seconds: float) -> Chosen:
        """Return the best that can be trained within ``seconds``; the default at worst."""
        return self.ranking(finalists, seconds)[0]

    def ranking(self, finalists: Sequence[Finalist], seconds: float = np.inf) -> list[Chosen]:
        """Return what can be trained within ``seconds``, the best first.

        The first finalist is the default: it is there whatever time is left, and comes before
        others with the same figure.
        """
        within = [*finalists[:1], *(one for one in finalists[1:] if one.seconds <= seconds)]
        ranked = sorted((Chosen((one,), one.figures) for one in within), key=self._worst)
        groups: dict[str, list[Finalist]] = {}
        for one in ranked:
            finalist = one.members[0]
            if finalist.answer is not None:
                groups.setdefault(finalist.configuration.features_key, []).append(finalist)
        blends = [blend for group in groups.values() for blend in self._blends(group, seconds)]
        return sorted([*ranked, *blends], key=self._worst)

    def _worst(self, one: Chosen) -> float:
        return -one.figures[self.metric]

    def _blends(self, group: Sequence[Finalist], seconds: float) -> list[Chosen]:
        """Return blends of configurations with the same features, each a member larger."""
        pool = _pool(group)
        if len(pool) < 2:
            return []
        evidence = Evidence([one.answer.first(N_RANKED) for one in pool if one.answer], self.Y)
        members, best = [0], Chosen((pool[0],), pool[0].figures)
        blends: list[Chosen] = []
        while len(members) < min(MOST_MEMBERS, len(pool)):
            tried = []
            for at, other in enumerate(pool):
                if at not in members and best.seconds + other.seconds <= seconds:
                    figures = self.measure(evidence.ranking([*members, at], self.k))
                    tried.append((figures[self.metric], -at, figures))
            if not tried or max(one[0] for one in tried) < best.figures[self.metric] + WORTH:
                break
            _, minus_at, figures = max(tried, key=lambda one: one[:2])
            members.append(-minus_at)
            best = Chosen(tuple(pool[one] for one in members), figures)
            blends.append(best)
        return blends


def _pool(group: Sequence[Finalist]) -> list[Finalist]:
    """Return the best of each method, then the second best, and so on."""
    seen: dict[str, int] = {}
    turns = []
    for place, one in enumerate(group):
        turn = seen[one.configuration.method] = seen.get(one.configuration.method, 0) + 1
        turns.append((turn, place))
    chosen = sorted(turn for turn in turns if turn[0] <= PER_METHOD)[:POOL]
    return [group[place] for place in sorted(place for _, place in chosen)]
