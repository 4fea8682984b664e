"""A small corpus of texts whose labels are plain, with a label that a careless page would run."""

from __future__ import annotations

import numpy as np

TOPICS = {
    "gardening": "roses soil prune compost seedlings watering hedge trowel",
    "cooking": "oven butter simmer recipe garlic whisk dough seasoning",
    "sailing": "harbour mast anchor tiller wind sailcloth knots tide",
    "astronomy": "telescope orbit galaxy comet eclipse nebula planets parallax",
    "printing": "ink press typeface paper galley binding proof margin",
    "chess": "rook bishop checkmate opening gambit endgame pawn castling",
}
TRAP = "<img src=x onerror=document.title='hacked'>"


def tagged_texts(n: int = 240, seed: int = 0) -> tuple[list[str], list[list[str]]]:
    """Return texts and the labels of each: its topics, "outdoors" for two of them, the trap."""
    rng = np.random.default_rng(seed)
    texts, labels = [], []
    for row in range(n):
        topics = rng.choice(list(TOPICS), size=rng.integers(1, 3), replace=False)
        words = [word for topic in topics for word in rng.choice(TOPICS[topic].split(), 4)]
        found = [str(topic) for topic in topics]
        if {"gardening", "sailing"} & set(found):
            found.append("outdoors")
        if row % 40 == 0:
            found.append(TRAP)
            words.append("onerror")
        texts.append("notes about " + " ".join(words))
        labels.append(sorted(found))
    return texts, labels
