"""A driver that tests start as a process of its own, so that they can kill it.

    driver.py train METHOD CORPUS OUT ENGINE     trains and saves a model
    driver.py tag MODEL FILE OUT ENGINE          tags a file in small parts

ENGINE is JSON: what ``labelspace.engine.using`` takes, or null. Prints what the engine did.
"""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from labelspace import bulk, engine, models
from labelspace.data import read_corpus
from tests.planted import planted_corpus
from tests.small import small

LEARNERS = 8
CUT = 1500  # rows of a corpus that is too long for a test
PART = 4000  # bytes


def main(what: str, first: str, second: str, out: str, how: str) -> None:
    chosen = json.loads(how)
    with nullcontext() if chosen is None else engine.using(**chosen) as used:
        if what == "train":
            train(first, second).save(out)
        else:
            bulk.LEAST_PART = PART
            bulk.tag_file(Path(first), Path(second), Path(out), k=3)
    print(json.dumps({} if used is None else used.figures()))


def train(method: str, corpus: str) -> Any:
    more: dict[str, Any] = {"n_threads": 1}
    if method == "annexml":
        more["n_learners"] = LEARNERS
    if corpus == "planted":
        return small(models.find(method), **more).fit(*planted_corpus())
    read = read_corpus(corpus)
    n_rows = None if "bibtex" in corpus else CUT
    return models.make(method, random_state=0, **more).fit(read.X[:n_rows], read.Y[:n_rows])


if __name__ == "__main__":
    main(*sys.argv[1:])
