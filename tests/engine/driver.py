"""A driver that tests start as a process of its own, so that they can kill it.

    driver.py ENGINE train OUT METHOD=CORPUS…    trains models, each saved in a folder of OUT
    driver.py ENGINE tag OUT MODEL FILE          tags a file in small parts
    driver.py ENGINE texts OUT FOLDER            reads texts in small parts, encodes and learns them

ENGINE is JSON: what ``labelspace.engine.using`` takes. Prints what the engine did.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from labelspace import Tagger, bulk, engine, models
from labelspace.data import read_corpus
from labelspace.data.formats import row_blocks
from labelspace.data.text.encoding import encoding_blocks, encoding_job
from tests.planted import planted_corpus
from tests.small import small

PLANTED_LEARNERS = 8  # small ones, of which some are done before the others
LEARNERS = 3
CUT = 1500  # rows of a corpus, unless the whole is asked for
WHOLE = "LABELSPACE_WHOLE_CORPORA"  # names of such, such as bibtex,wordnet
PART = 4000  # bytes
ENCODER = "tests.data.text.encoding.fake_encoders:count_letters"


def main(how: str, what: str, out: str, *arguments: str) -> None:
    with engine.using(**json.loads(how)) as used:
        if what == "train":
            train_all(Path(out), arguments)
        elif what == "texts":
            learn_texts(Path(out), Path(arguments[0]))
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


def learn_texts(out: Path, folder: Path) -> None:
    """Learn from a folder of texts, with an encoder that workers find by its name."""
    row_blocks.LEAST_PART = PART
    encoding_job.PART = encoding_blocks.PART = 128
    read = read_corpus(folder)
    tagger = Tagger("one-vs-all", encoder=ENCODER, C=1.0, n_threads=1)
    tagger.fit(read.texts, read.Y, read.label_names).save(out)


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
