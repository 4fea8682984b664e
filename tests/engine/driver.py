"""A driver that tests start as a process of its own, so that they can kill it.

    driver.py ENGINE train OUT METHOD=CORPUS…    trains models, each saved in a folder of OUT
    driver.py ENGINE tag OUT MODEL FILE          tags a file in small parts

ENGINE is JSON: what ``labelspace.engine.using`` takes. Prints what the engine did.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from labelspace import bulk, engine, models
from labelspace.data import read_corpus
from tests.planted import planted_corpus
from tests.small import small

PLANTED_LEARNERS = 8  # small ones, of which some are done before the others
LEARNERS = 3
CUT = 1500  # rows of a corpus, unless the whole is asked for
WHOLE = "LABELSPACE_WHOLE_CORPORA"  # names of such, such as bibtex,wordnet
PART = 4000  # bytes


def main(how: str, what: str, out: str, *arguments: str) -> None:
    with engine.using(**json.loads(how)) as used:
        if what == "train":
            train_all(Path(out), arguments)
        else:
            bulk.LEAST_PART = PART
            model, source = map(Path, arguments)
            bulk.tag_file(model, source, Path(out), k=3)
    print(json.dumps(used.figures()))


def train_all(out: Path, cases: tuple[str, ...] | list[str]) -> None:
    """Train the models of cases and save each in a folder."""
    out.mkdir(exist_ok=True)
    for number, case in enumerate(cases):
        method, _, corpus = case.partition("=")
        train(method, corpus).save(out / str(number))


def train(method: str, corpus: str) -> Any:
    more: dict[str, Any] = {"n_threads": 2}
    if corpus == "planted":
        if method == "annexml":
            more["n_learners"] = PLANTED_LEARNERS
        return small(models.find(method), **more).fit(*planted_corpus())
    if method == "annexml":
        more["n_learners"] = LEARNERS
    read = read_corpus(corpus)
    n_rows = None if Path(corpus).parent.name in os.environ.get(WHOLE, "").split(",") else CUT
    return models.make(method, random_state=0, **more).fit(read.X[:n_rows], read.Y[:n_rows])


if __name__ == "__main__":
    main(*sys.argv[1:])
