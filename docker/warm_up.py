"""Uses the default method and the server's walk once, so that numba's machine code is kept."""

from __future__ import annotations

import tempfile
from pathlib import Path

from labelspace import Tagger

WORDS = (
    "rose",
    "soil",
    "hoe",
    "oven",
    "salt",
    "mix",
    "mast",
    "keel",
    "tide",
    "orbit",
    "sun",
    "moon",
)
LABELS = ("garden", "kitchen", "harbour", "sky")


def main() -> None:
    """Train, save, load, tag, explain and learn on."""
    texts, labels = [], []
    for row in range(240):
        topics = sorted({row % 4, (row // 4) % 4})
        chosen = [WORDS[3 * topic + (row + at) % 3] for topic in topics for at in range(2)]
        texts.append(" ".join([*chosen, f"note{row % 17}"]))
        labels.append([LABELS[topic] for topic in topics])
    for method in ("labelspace", "one-vs-all", "knn"):
        with tempfile.TemporaryDirectory() as folder:
            Tagger(method, n_threads=1).fit(texts, labels).save(Path(folder, "model"))
            tagger = Tagger.load(Path(folder, "model"))
            tagger.tag_many(texts[:40], k=3)
            tagger.tag(texts[0], k=3)
            tagger.explain(texts[0], k=1)
            if tagger.why_it_cannot_learn() is None:
                tagger.partial_fit(texts[:2], labels[:2])


if __name__ == "__main__":
    main()
