"""Features of texts that are chosen: what helps is taken, what does not help is not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from labelspace import Tagger
from labelspace.data.text.choosing import choose_features
from labelspace.data.text.features import TextFeatures
from labelspace.errors import DataError

SYLLABLES = [a + b + c for a in "bdgklmnprst" for b in "aeiou" for c in "klmnrst"]


def corpus(kind: str, n_rows: int = 900) -> tuple[list[str], csr_matrix]:
    """Return texts whose labels are told by words, pairs, parts of compounds, or titles."""
    rng = np.random.default_rng(0)
    parts = rng.integers(12, size=(n_rows, 2))
    if kind == "pairs":  # either word alone says nothing
        told = (parts[:, 0] + parts[:, 1]) % 12
        texts = [f"w{one:02}x w{two:02}y" for one, two in parts]
    elif kind == "compounds":  # the first half is always another
        told = parts[:, 0]
        first = rng.integers(len(SYLLABLES), size=(n_rows, 3))
        texts = [
            "".join(SYLLABLES[at] for at in own) + 2 * SYLLABLES[30 * part]
            for own, part in zip(first, told, strict=True)
        ]
    elif kind == "titles":  # what follows has words of other labels
        told = parts[:, 0]
        fill = rng.integers(300, size=(n_rows, 10))
        after = rng.integers(12, size=(n_rows, 24))
        texts = [
            " ".join(
                [
                    f"word{part:02}",
                    *(f"other{one:03}" for one in own),
                    *(f"word{one:02}" for one in rest),
                ]
            )
            for part, own, rest in zip(told, fill, after, strict=True)
        ]
    else:
        told = parts[:, 0]
        fill = rng.integers(300, size=(n_rows, 4))
        texts = [
            f"word{part:02} " + " ".join(f"other{one:03}" for one in own)
            for part, own in zip(told, fill, strict=True)
        ]
    return texts, csr_matrix(np.eye(12, dtype=np.float32)[told])


@pytest.mark.parametrize(
    ("kind", "chosen"),
    [
        ("words", {}),
        ("pairs", {"ngrams": 2}),
        ("compounds", {"char_ngrams": (4, 4)}),
    ],
)
def test_what_tells_labels_is_chosen(kind: str, chosen: dict) -> None:
    found = choose_features(*corpus(kind))
    assert found.get_params() == TextFeatures(**chosen).get_params()


def test_words_at_the_beginning_count_more_where_titles_tell_labels() -> None:
    assert choose_features(*corpus("titles", 600)).lead == 12


def test_a_tagger_takes_what_is_chosen_and_remembers_that_it_was(tmp_path) -> None:
    texts, Y = corpus("pairs")
    tagger = Tagger("knn", features="auto").fit(iter(texts), Y)
    assert tagger.features_.ngrams == 2
    tagger.save(tmp_path / "model")
    again = Tagger.load(tmp_path / "model")
    assert again.features == "auto"
    assert again.features_.ngrams == 2


def test_texts_and_labels_of_different_number_are_refused() -> None:
    texts, Y = corpus("words")
    with pytest.raises(DataError, match="899 texts but labels for 900"):
        Tagger("knn", features="auto").fit(texts[1:], Y)
