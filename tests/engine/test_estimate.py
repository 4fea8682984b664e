"""What training needs is told before it starts, and what cannot fit is refused."""

from __future__ import annotations

import pytest

from labelspace import engine
from labelspace.engine.estimate import GIB, CorpusSize, Need, check_fits, estimate, memory_here
from labelspace.errors import EngineError

SMALL = CorpusSize(5000, 1800, 159, 350_000, 12_000)
HUGE = CorpusSize(10**9, 10**7, 10**8, 10**11, 10**10)


def test_more_of_anything_needs_no_less() -> None:
    for name in CorpusSize._fields:
        more = SMALL._replace(**{name: 10 * getattr(SMALL, name)})
        assert all(b >= a for a, b in zip(estimate(SMALL, 2), estimate(more, 2), strict=True))
    assert estimate(SMALL, 4).worker_machine > estimate(SMALL, 2).worker_machine


def test_what_does_not_fit_is_refused_with_the_figures() -> None:
    need = Need(4 * GIB, 2 * GIB, 3 * GIB)
    check_fits(need, 4 * GIB, 3 * GIB)
    check_fits(need, None, None)
    with pytest.raises(EngineError, match=r"4\.0 GiB of memory on each .* there are 3\.0 GiB"):
        check_fits(need, 3 * GIB, None)
    with pytest.raises(EngineError, match=r"--workdir has room for 1\.0 GiB: give a larger"):
        check_fits(need, None, GIB)


def test_an_engine_refuses_a_corpus_that_is_too_large_for_this_machine(tmp_path) -> None:
    with engine.using("threads", workdir=tmp_path, n_workers=1) as used:
        assert used.check_fits(SMALL).disk < GIB
        with pytest.raises(EngineError, match="of memory on each machine"):
            used.check_fits(HUGE)


def test_this_machine_has_memory() -> None:
    assert memory_here() > GIB // 4
