"""Words that are used alike get like vectors, and a text is the mean of its words."""

from __future__ import annotations

import numpy as np

from benchmarks.studies.neuralxc.word_vectors import MIN_COUNT, WordVectors

ANIMALS, THINGS = ("dog", "cat", "cow"), ("car", "bus", "van")


def sentences() -> list[str]:
    """Return texts in which animals eat and things drive."""
    drawn = np.random.default_rng(0)
    texts = []
    for _ in range(400):
        texts.append(f"The {drawn.choice(ANIMALS)} eats, sleeps and drinks.")
        texts.append(f"The {drawn.choice(THINGS)} drives, parks and brakes.")
    return texts


def test_words_in_like_places_have_like_vectors() -> None:
    words = WordVectors(sentences(), dim=8, seed=0)
    unit = words.vectors / np.linalg.norm(words.vectors, axis=1, keepdims=True)
    at = words.numbers
    for kind, other in ((ANIMALS, THINGS), (THINGS, ANIMALS)):
        near = unit[at[kind[0]]] @ unit[at[kind[1]]]
        assert near > max(unit[at[kind[0]]] @ unit[at[word]] for word in other) + 0.2


def test_a_text_is_the_mean_of_its_known_words_of_length_one() -> None:
    words = WordVectors(sentences(), dim=8, seed=0)
    mean = words.vectors[[words.numbers["dog"], words.numbers["car"]]].mean(axis=0)
    dog_and_car, nothing = words.encode(["Dog? Car! Zeppelin.", "zeppelin"])
    np.testing.assert_allclose(dog_and_car, mean / np.linalg.norm(mean), atol=1e-6)
    assert not nothing.any()


def test_rare_words_have_no_vector() -> None:
    texts = ["common rare"] * (MIN_COUNT - 1) + ["common"]
    assert list(WordVectors(texts, dim=2).numbers) == ["common"]
