"""The encoder's own space: where labels and names lie in it, and how it learns on."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack

from labelspace import Tagger
from labelspace.models.labelspace.vector_space import N_FIGURES, NAME, VectorSpace

DIM, N_ROWS, N_LABELS = 80, 300, 6
NONE = np.zeros((1, 0), dtype=np.int64)


def corpus(seed: int = 0) -> tuple[csr_matrix, csr_matrix, NDArray[np.float32]]:
    """Return rows that lie around the direction of their label, and the directions."""
    rng = np.random.default_rng(seed)
    directions = rng.normal(size=(N_LABELS, DIM)).astype(np.float32)
    label = np.arange(N_ROWS) % N_LABELS
    cone = 3.0 * np.ones(DIM, dtype=np.float32)  # which all texts of an encoder lie in
    vectors = directions[label] + cone + rng.normal(scale=0.5, size=(N_ROWS, DIM))
    words = csr_matrix((N_ROWS, 4), dtype=np.float32)
    X = csr_matrix(hstack((words, csr_matrix(vectors.astype(np.float32))), format="csr"))
    Y = csr_matrix(np.eye(N_LABELS, dtype=np.float32)[label])
    return X, Y, directions + cone


@pytest.fixture
def space() -> VectorSpace:
    X, Y, _ = corpus()
    return VectorSpace(X, Y, DIM)


def test_a_row_is_near_to_the_middle_of_its_label(space: VectorSpace) -> None:
    X, _, _ = corpus()
    queries = space.encode(csr_matrix(X[:3]))
    figures = space.figures(queries, np.tile(np.arange(N_LABELS), (3, 1)))
    assert figures.shape == (3, N_LABELS, N_FIGURES)
    assert figures[:, :, 0].argmax(axis=1).tolist() == [0, 1, 2]
    assert not figures[:, :, NAME].any(), "there are no names"
    assert space.proposed(queries, np.array([[4], [1], [-1]])).tolist() == [[4], [1], [-1]]


def test_names_reach_labels_that_no_row_has(space: VectorSpace) -> None:
    _, _, directions = corpus()
    new = (np.random.default_rng(5).normal(size=DIM) + 3.0).astype(np.float32)
    nothing = csr_matrix((0, DIM + 4), dtype=np.float32), csr_matrix((0, N_LABELS + 1))
    space.learn_on(*nothing, np.zeros(N_LABELS + 1, dtype=np.int64))
    space.name_labels(np.vstack((directions, new)), np.arange(N_LABELS + 1))
    row = csr_matrix(hstack((csr_matrix((1, 4), dtype=np.float32), csr_matrix(new))))
    queries = space.encode(row)
    assert N_LABELS in space.proposed(queries, NONE)[0]
    figures = space.figures(queries, np.arange(N_LABELS + 1)[np.newaxis])
    assert figures[0, :, NAME].argmax() == N_LABELS
    assert figures[0, N_LABELS, 0] == 0.0, "it has no rows to be in the middle of"


def test_labels_proposed_twice_are_proposed_once(space: VectorSpace) -> None:
    X, _, directions = corpus()
    space.name_labels(directions, np.arange(N_LABELS))
    queries = space.encode(csr_matrix(X[:2]))
    proposed = space.proposed(queries, np.array([[4, -1], [1, 4]]))
    for row in proposed:
        there = row[row >= 0]
        assert sorted(there) == list(range(N_LABELS))
        assert np.all(row[len(there) :] == -1)
    assert proposed[:, 0].tolist() == [4, 1]


def test_a_row_without_a_vector_is_near_to_nothing(space: VectorSpace) -> None:
    space.name_labels(corpus()[2], np.arange(N_LABELS))
    queries = space.encode(csr_matrix((1, DIM + 4), dtype=np.float32))
    assert np.all(space.proposed(queries, NONE) == -1)
    assert not space.figures(queries, np.arange(N_LABELS)[np.newaxis]).any()


def test_new_rows_pull_at_their_labels_old_and_new(space: VectorSpace) -> None:
    _, Y, directions = corpus()
    turned = np.tile(-directions[0], (4, 1))
    far = csr_matrix(hstack((csr_matrix((4, 4)), csr_matrix(turned))), dtype=np.float32)
    new = np.zeros((4, N_LABELS + 1), dtype=np.float32)
    new[:, [1, N_LABELS]] = 1.0
    counts = np.asarray(Y.sum(axis=0)).ravel()
    counts = np.concatenate((counts, [0])).astype(np.int64) + new.sum(axis=0).astype(np.int64)
    labels = np.array([[1, N_LABELS]])
    before = space.figures(space.encode(csr_matrix(far[:1])), labels[:, :1])[0, 0, 0]
    space.learn_on(far, csr_matrix(new), counts)
    old, fresh = space.figures(space.encode(csr_matrix(far[:1])), labels)[0, :, 0]
    assert before < old < 0.9 < fresh


WORDS = ["red", "green", "blue", "ball", "cube", "cone", "big", "small"]
SIGNS = np.random.default_rng(1).normal(size=(len(WORDS) + 1, DIM))
ALSO = {"rouge": "red", "vert": "green", "tiny": "small"}


def in_any_language(texts: list[str]) -> NDArray[np.floating]:
    """Encode texts so that words which mean the same have the same vector."""
    known = [[ALSO.get(word, word) for word in text.lower().split()] for text in texts]
    rows = [[WORDS.index(word) if word in WORDS else -1 for word in words] for words in known]
    return np.array([SIGNS[row].sum(axis=0) for row in rows])


@pytest.fixture(scope="module")
def tagger() -> Tagger:
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(WORDS, 3, replace=False)) for _ in range(400)]
    return Tagger(encoder=in_any_language, n_threads=1).fit(texts, [text.split() for text in texts])


def test_a_tagger_with_an_encoder_has_its_space_and_comes_back_with_it(
    tagger: Tagger, tmp_path
) -> None:
    space = tagger.estimator_.vectors_
    assert space.names.n_keys == len(WORDS)
    assert {name for name, _ in tagger.tag("rouge vert tiny", k=3)} == {"red", "green", "small"}
    tagger.save(tmp_path / "model")
    again = Tagger.load(tmp_path / "model", encoder=in_any_language)
    assert again.tag("rouge ball") == tagger.tag("rouge ball")


def test_a_label_is_added_by_a_name_of_which_only_the_encoder_knows_a_word(
    tagger: Tagger, tmp_path
) -> None:
    tagger.save(tmp_path / "model")
    other = Tagger.load(tmp_path / "model", encoder=in_any_language)
    other.add_labels(["rouge"])
    assert other.estimator_.vectors_.names.n_keys == len(WORDS) + 1
    given = dict(other.tag("red ball cone", k=9))
    assert "rouge" in given
