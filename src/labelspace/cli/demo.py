"""A tour without any data of one's own: ``labelspace demo``.

Builds a corpus from the documentation that is installed, trains the default method on it,
measures it against always giving the most common labels, and tags sentences that a Python user
might type. Its files stay, so that the commands it ends with can be tried at once.
"""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from labelspace import metrics, progress
from labelspace.cli import output
from labelspace.cli.evaluate import evaluate
from labelspace.cli.inputs import read_for, read_to_learn
from labelspace.cli.train import train
from labelspace.data import Corpus
from labelspace.data.samples.demo import SENTENCES, write_demo_corpus
from labelspace.errors import UsageError
from labelspace.models import DEFAULT_METHOD
from labelspace.store import folders
from labelspace.tagger import Tagger

BASELINE = "most-common"
SHOWN = ("P@1", "P@3", "P@5", "nDCG@5", "PSP@1", "PSP@3", "PSP@5")


def run_demo(
    out: Path,
    *,
    seed: int = 0,
    n_threads: int | None = None,
    json: bool = False,
    packages: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Run the tour with its files in the folder ``out``; print it unless ``json`` is wanted."""
    began = time.perf_counter()
    if out.is_file():
        raise UsageError(f"{out} is a file: give a folder for the demo with --out.")
    folders.check_replaceable(out / "model")
    with progress.task("Making a corpus of the documentation of installed packages"):
        train_path, test_path = write_demo_corpus(out, packages)
    corpus = read_to_learn(train_path)
    if not json:
        _introduce(corpus)
    parameters = {"random_state": seed, "n_threads": n_threads}
    results: list[dict[str, Any]] = []
    for method in (BASELINE, DEFAULT_METHOD):
        tagger, cost = train(corpus, method, parameters)
        test = read_for(tagger, test_path)
        figures, _ = evaluate(tagger, test, A=metrics.PROPENSITY_A, B=metrics.PROPENSITY_B)
        results.append(cost | figures)
    tagger.save(out / "model")
    tags = dict(zip(SENTENCES, tagger.tag_many(SENTENCES, k=5), strict=True))
    if not json:
        _show_results(results)
        _show_tags(tags)
        _show_why(tagger, corpus)
        _say_what_next(out)
    return {
        "out": str(out),
        "n_train": len(corpus),
        "n_test": len(test),
        "n_labels": corpus.n_labels,
        "results": results,
        "tags": {
            sentence: [{"name": name, "score": round(score, 6)} for name, score in named]
            for sentence, named in tags.items()
        },
        "seconds": round(time.perf_counter() - began, 3),
    }


def _introduce(corpus: Corpus) -> None:
    texts = corpus.texts or []
    example = min(range(len(texts)), key=lambda row: abs(len(texts[row]) - 150))
    print(
        f"\n{len(corpus):,} docstrings of the Python packages installed here, with "
        f"{corpus.n_labels:,} labels: the modules that each\nis in (scipy.signal), the parameters "
        "that it takes (axis=) and the names under its See Also.\n"
    )
    print(textwrap.indent(textwrap.fill(texts[example], 90), "    "))
    print(textwrap.indent(f"→ {', '.join(corpus.labels_of(example))}\n", "    "), flush=True)


def _show_results(results: list[dict[str, Any]]) -> None:
    print()
    output.print_table(
        f"On {results[0]['n']:,} docstrings kept apart (percent)",
        [
            {"method": row["method"]}
            | {name: row[name] for name in SHOWN}
            | {"seconds to train": row["train_seconds"]}
            for row in results
        ],
    )
    print(
        "P@k: how many of the first k labels are right; nDCG@k: the same, early ones counting "
        "more;\nPSP@k: the same, rare labels counting more.\n"
    )


def _show_tags(tags: Mapping[str, Sequence[tuple[str, float]]]) -> None:
    output.print_table(
        "Tags for sentences that someone might type",
        [
            {"sentence": sentence, "tags": "  ".join(name for name, _ in named)}
            for sentence, named in tags.items()
        ],
    )


def _show_why(tagger: Tagger, corpus: Corpus) -> None:
    """Say why the first sentence got its tags, for methods that can tell."""
    if not hasattr(tagger.estimator_, "explain"):
        return
    print(f"\nWhy these, for “{SENTENCES[0]}”?")
    for why in tagger.explain(SENTENCES[0], k=3, n_reasons=6):
        print(f"  {why.label} ({why.score:.0%})")
        for kind, spoke in (("name", "named by"), ("feature", "for the words")):
            words = [reason.name for reason in why.reasons if reason.kind == kind]
            if words:
                print(f"    {spoke} {', '.join(words)}")
        for reason in why.reasons:
            if reason.kind == "example":
                text = (corpus.texts or [])[reason.id]
                print(f"    like      “{textwrap.shorten(text, 70, placeholder=' …')}”")


def _say_what_next(out: Path) -> None:
    command = _command()
    print(f"""
What to try next:

  echo "your own sentence" | {command} predict {out}/model -
  {command} evaluate {out}/model {out}/test.tsv --by-frequency
  {command} compare {out}/train.tsv {out}/test.tsv --methods labelspace,knn
  {command} train YOURS.tsv --out yours        one text per line: text<TAB>label,label

and from Python:

  from labelspace import Tagger
  Tagger.load("{out}/model").explain("your own sentence")

Or tag your own sentences in the browser:

  {command} serve {out}/model --open        then http://127.0.0.1:8000/
""")


def _command() -> str:
    """Return what a person has to type to run this program again."""
    ran = Path(sys.argv[0])
    if ran.name != "labelspace" or shutil.which("labelspace"):
        return "labelspace"
    return os.path.relpath(ran)
