"""XML-CNN reads words in their order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from labelspace import Tagger
from labelspace.data import TextFeatures
from labelspace.errors import DataError, UsageError
from labelspace.models import XMLCNN
from labelspace.models.xml_cnn.settings import XMLCNNSettings
from labelspace.parameters import CorpusShape

pytest.importorskip("torch")

SMALL: dict[str, Any] = {"dim": 8, "n_filters": 16, "hidden": 16, "n_parts": 1, "random_state": 0}
BITES = ["the dog bites the man", "the man bites the dog"]


def bitten(n: int) -> tuple[list[str], list[list[str]]]:
    """Texts with the same words, of which only the order tells who bites, with words around."""
    random = np.random.default_rng(0)
    others = ["one", "day", "here", "again", "loudly", "now"]
    texts, labels = [], []
    for _ in range(n):
        who = int(random.integers(2))
        before, after = (random.choice(others, size=random.integers(4)) for _ in range(2))
        texts.append(" ".join([*before, BITES[who], *after]))
        labels.append([["dog", "man"][who]])
    return texts, labels


@pytest.fixture(scope="module")
def tagger() -> Tagger:
    nothing_left_out = {"dropout": 0.0, "word_dropout": 0.0}
    return Tagger("xml-cnn", **SMALL, settings=nothing_left_out).fit(*bitten(200))


def test_the_order_of_words_tells(tagger: Tagger) -> None:
    texts, labels = bitten(300)
    assert tagger.score(texts[200:], labels[200:]) > 0.97
    plain = Tagger("one-vs-all").fit(texts[:200], labels[:200])
    assert plain.score(texts[200:], labels[200:]) < 0.8  # bags of words are all the same


def test_a_saved_tagger_answers_alike(tagger: Tagger, tmp_path: Path) -> None:
    tagger.save(tmp_path / "model")
    again = Tagger.load(tmp_path / "model")
    assert again.tag(BITES[0], k=2) == tagger.tag(BITES[0], k=2)


def test_unknown_words_and_empty_texts_get_an_answer(tagger: Tagger) -> None:
    texts = ["", "unheard of", BITES[1]]
    together = tagger.predict_topk(texts, 2)
    assert np.all(together.labels >= 0)
    alone = tagger.predict_topk(texts[2:], 2)
    assert np.array_equal(alone.labels[0], together.labels[2])
    assert np.allclose(alone.scores[0], together.scores[2], atol=1e-5)


def test_the_loss_falls(tagger: Tagger) -> None:
    losses = tagger.estimator_.history_["loss"]
    assert losses[-1] < 0.5 * losses[0]


def test_words_that_are_not_read_in_order_count_in_bags() -> None:
    texts, labels = [], []
    random = np.random.default_rng(0)
    for _ in range(150):
        what = int(random.integers(3))
        others = random.choice(["one", "day", "here", "again"], size=6)
        texts.append(" ".join([*others, ["cat", "bird", "fish"][what]]))
        labels.append([f"about {what}"])

    def score(**settings: int) -> float:
        tagger = Tagger("xml-cnn", **SMALL, max_words=4, settings=settings)
        return tagger.fit(texts[:100], labels[:100]).score(texts[100:], labels[100:])

    assert score(bag_dim=8) > 0.97
    assert score(bag_dim=0) < 0.7  # the word that tells is the seventh
    assert score(bag_dim=8, bag_words=4) < 0.7


def test_without_bags_nothing_is_kept_of_them() -> None:
    model = XMLCNN(**SMALL, settings={"min_steps": 1, "bag_dim": 0}, n_epochs=1)
    model.fit([[1, 2], [2, 1]], [["a"], ["b"]])
    assert model.network_.bag_vectors is None
    assert model.network_.hidden.shape == (3 * 16, 16)


def test_rows_of_features_are_bags_of_words() -> None:
    texts, labels = bitten(60)
    X = TextFeatures().fit_transform(texts)
    model = XMLCNN(**SMALL, settings={"min_steps": 5}).fit(X, labels)
    assert model.rows_ is not None
    assert model.network_.word_vectors.shape[0] == X.shape[1]


def test_what_cannot_be_read_is_an_error() -> None:
    with pytest.raises(DataError, match="no word numbers"):
        XMLCNN(reads="sequences").fit(csr_matrix([[0.5, 0.2], [0.1, 0.3]]), [["a"], ["b"]])
    with pytest.raises(UsageError, match="widths"):
        XMLCNN(widths=(0, 2)).fit([[1, 2], [2, 1]], [["a"], ["b"]])
    with pytest.raises(UsageError, match="encoder"):
        Tagger("xml-cnn", encoder=lambda texts: np.ones((len(texts), 2))).fit(*bitten(4))


def test_paper_has_the_sizes_of_the_publication() -> None:
    # Liu, Chang, Wu and Yang (2017), whose text could not be opened: sizes are recalled, and no
    # section is known to us.
    paper = XMLCNNSettings.for_corpus("paper", CorpusShape(1000, 500, 3000))
    assert vars(paper) == {
        "max_words": 500,
        "dim": 300,
        "widths": (2, 4, 8),
        "n_filters": 128,
        "n_parts": 8,
        "hidden": 512,
        "dropout": 0.5,
        "word_dropout": 0.0,
        "n_sampled": 3000,  # the loss of all labels
        "bag_dim": 0,  # the publication has no bag
        "bag_words": 500,  # of no effect without one
        # Theirs begin with GloVe's vectors, which are not ours to ship
        "word_start": "random",
        # Left open as far as we recall it: ours
        "n_epochs": 20,
        "min_steps": 0,
        "batch_size": 128,
        "learning_rate": 1e-3,
        "row_learning_rate": 1e-3,
        "normalize": True,  # of rows of features, which the publication has none of
    }


def test_the_default_has_bags_and_shorter_vectors() -> None:
    best = XMLCNNSettings.for_corpus("best", CorpusShape(1000, 500, 3000))
    assert (best.dim, best.bag_dim) == (128, 256)
