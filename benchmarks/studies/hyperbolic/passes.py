"""How many passes over the rows a learner makes, and after which one it was best."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from labelspace.models.hyperbolic import training
from labelspace.models.hyperbolic.training import Stopping


class CountedPasses(Stopping):
    """Counts how often it is asked: after every pass, where steps do not fall."""

    made = 0
    best_at = 0

    def enough(self, *state: Any) -> bool:
        """Tell whether another pass is not worth it."""
        over = super().enough(*state)
        self.made += 1
        if self.best is not None and self._waited == 0:
            self.best_at = self.made
        return over


@contextmanager
def counted() -> Iterator[list[CountedPasses]]:
    """Count the passes of all that is trained by this thread in the block, learner by learner."""
    learners: list[CountedPasses] = []

    def made(*told: Any) -> CountedPasses:
        learners.append(CountedPasses(*told))
        return learners[-1]

    with patch.object(training, "Stopping", made):
        yield learners
