from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from labelspace.csr import with_constant_feature
from labelspace.models import LEML
from labelspace.models.leml.settings import LEMLSettings, RobustXMLSettings
from labelspace.models.leml.squared_loss import CONSTANT
from labelspace.parameters import CorpusShape
from tests.planted import planted_corpus


@pytest.mark.parametrize("loss", ["squared", "logistic", "squared-hinge"])
def test_each_loss_learns(loss: str) -> None:
    model = LEML(loss=loss, penalty=0.3, random_state=0).fit(*planted_corpus())
    assert model.score(*planted_corpus(100, seed=1)) > 0.95


def test_rank_is_what_limits_it() -> None:
    """Twelve labels that come independently of each other do not fit into two dimensions."""
    X, Y = planted_corpus()
    new = planted_corpus(100, seed=1)
    low, full = (LEML(dim=dim, penalty=0.3, random_state=0).fit(X, Y) for dim in (2, 12))
    assert low.encoder_.dim == 2
    assert full.score(*new) > low.score(*new) + 0.3


def test_a_row_without_features_gets_the_frequent_labels() -> None:
    X, Y = planted_corpus()
    model = LEML(random_state=0).fit(X, Y)
    top = model.predict_topk(csr_matrix((1, X.shape[1]), dtype=np.float32), k=3)
    assert top.labels[0].tolist() == np.argsort(-model.label_counts_, kind="stable")[:3].tolist()


def test_scores_are_products_of_row_and_label() -> None:
    X, Y = planted_corpus()
    model = LEML(random_state=0).fit(X, Y)
    rows = with_constant_feature(model.rows_.encode(X), CONSTANT)
    W, H = model._factors(rows, Y, int(np.random.RandomState(0).randint(1 << 31)))
    expected = rows.toarray() @ W @ H.T
    top = model.predict_topk(X, k=3)
    assert np.allclose(top.scores, -np.sort(-expected, axis=1)[:, :3], atol=1e-4)
    assert np.allclose(top.scores, np.take_along_axis(expected, top.labels, axis=1), atol=1e-4)


def test_paper_has_rank_and_rounds_of_the_publication() -> None:
    # Yu, Jain, Kar and Dhillon (2014), of which only the abstract could be opened, and of the
    # program only its list of parameters: no section can be named for what is recalled.
    chosen = LEMLSettings.for_corpus("paper", CorpusShape(12920, 500, 983))
    assert vars(chosen) == {
        "loss": "squared",
        "n_rounds": 10,  # as their program has
        "dim": 500,  # four fifths of the labels as recalled; 500 at most is ours
        # Left open: λ is chosen on rows held out, as recalled; steps and lengths are not known.
        "penalty": 2.0,
        "n_steps": 20,
        "normalize": True,
    }
    assert LEMLSettings.for_corpus("paper", CorpusShape(4880, 1836, 159)).dim == 127


@pytest.mark.parametrize(
    ("shape", "dim", "penalty"),
    [
        (CorpusShape(4880, 1836, 159), 159, 2.0),
        (CorpusShape(12920, 500, 983), 200, 2.0),
        (CorpusShape(80_000, 100_000, 40_000), 1000, 0.5),
        (CorpusShape(80_000, 2_000_000, 40_000), 200, 0.5),  # so that the map stays small
        (CorpusShape(2000, 1000, 100_000), 200, 0.5),
    ],
)
def test_rank_grows_with_labels_and_penalty_falls_where_they_have_few_rows(
    shape: CorpusShape, dim: int, penalty: float
) -> None:
    alone = LEMLSettings.for_corpus("best", shape)
    assert (alone.dim, alone.penalty) == (dim, penalty)
    beside = RobustXMLSettings.for_corpus("best", shape)
    assert (beside.dim, beside.penalty) == (dim, penalty)
