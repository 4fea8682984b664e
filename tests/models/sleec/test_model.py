from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix, vstack

from labelspace.models import SLEEC
from labelspace.models.sleec.settings import SLEECSettings
from labelspace.parameters import CorpusShape
from tests.planted import planted_corpus


def test_parts_together_know_what_one_knows() -> None:
    X, Y = planted_corpus(600)
    model = SLEEC(n_learners=2, part_size=200, dim=16, n_neighbors=8, random_state=0).fit(X, Y)
    assert [len(learner.parts) for learner in model.learners_] == [3, 3]
    assert model.score(*planted_corpus(100, seed=1)) > 0.9


def test_regression_places_a_new_row_beside_rows_of_its_labels() -> None:
    """Noise outweighs the words that matter, so that plain neighbours mislead."""
    rng = np.random.default_rng(0)
    X, Y = planted_corpus(600)
    noise = csr_matrix(rng.random((600, 60)) * (rng.random((600, 60)) < 0.3), dtype=np.float32)
    X = csr_matrix(np.hstack([X.toarray(), 4.0 * noise.toarray()]))
    learned = SLEEC(dim=16, n_neighbors=10, random_state=0).fit(X[:500], Y[:500])
    from labelspace.models import NearestNeighbors

    plain = NearestNeighbors(n_neighbors=10).fit(X[:500], Y[:500])
    assert learned.score(X[500:], Y[500:]) > plain.score(X[500:], Y[500:]) + 0.3


def test_new_rows_vote_at_once_with_labels_that_are_new() -> None:
    X, Y = planted_corpus(300)
    model = SLEEC(dim=16, n_neighbors=5, random_state=0).fit(X, Y)
    fresh = csr_matrix(X[:6])
    labels = csr_matrix(np.hstack([np.zeros((6, 12)), np.ones((6, 1))]), dtype=np.float32)
    model.partial_fit(vstack([fresh] * 5, format="csr"), vstack([labels] * 5, format="csr"))
    assert np.all(model.predict_topk(fresh, k=1).labels == 12)


# Bhatia and others (2015): the parameter files of their program, and its sources.
ALL_CORPORA = {
    "max_steps": 200,
    "n_rounds": 2,
    "rho": 0.001,
    "l1": 0.01,
    "voting": "counts",
    "storage": "float32",
    "normalize": True,  # left open: the page says why
}
SMALL_CORPORA = {
    **ALL_CORPORA,
    "n_learners": 1,
    "part_size": 15_000,  # one part
    "dim": 100,
    "cut_weights": 0.01,
    "cut_codes": 0.01,
}
LARGE_CORPORA = {
    **ALL_CORPORA,
    "n_learners": 10,
    "part_size": 6000,
    "dim": 50,
    "cut_weights": 0.8,
    "cut_codes": 0.5,
}


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        (  # bibtex
            CorpusShape(4880, 1836, 159),
            {**SMALL_CORPORA, "graph_neighbors": 250, "C": 0.2, "n_neighbors": 25},
        ),
        (  # delicious
            CorpusShape(12920, 500, 983),
            {**SMALL_CORPORA, "graph_neighbors": 500, "C": 0.1, "n_neighbors": 70},
        ),
        (
            CorpusShape(76_195, 41_993, 13_564),
            {**LARGE_CORPORA, "graph_neighbors": 25, "C": 0.1, "n_neighbors": 10},
        ),
    ],
)
def test_paper_has_the_settings_of_the_authors(shape: CorpusShape, expected: dict) -> None:
    assert vars(SLEECSettings.for_corpus("paper", shape)) == expected


def test_many_rows_ask_for_more_restraint_and_more_votes() -> None:
    few = SLEECSettings.for_corpus("best", CorpusShape(12920, 500, 983))
    many = SLEECSettings.for_corpus("best", CorpusShape(76_195, 41_993, 13_564))
    assert (few.C, few.n_neighbors) == (0.1, 70)
    assert (many.C, many.n_neighbors, many.part_size) == (0.03, 40, 100_000)


def test_votes_are_counted_or_weighted_by_distance() -> None:
    X, Y = planted_corpus(300)
    counted = SLEEC(dim=16, n_neighbors=8, settings={"voting": "counts"}, random_state=0).fit(X, Y)
    scores = counted.predict_topk(X, 3).scores
    assert np.allclose(scores * 8, np.round(scores * 8), atol=1e-4)
    weighted = SLEEC(dim=16, n_neighbors=8, random_state=0).fit(X, Y).predict_topk(X, 3).scores
    assert not np.allclose(weighted * 8, np.round(weighted * 8), atol=1e-4)
