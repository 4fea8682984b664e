"""``labelspace train``: a corpus in, a model folder out, and what it cost."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from labelspace import metrics, models, progress
from labelspace.cli import output
from labelspace.cli.engine_options import EngineChoice
from labelspace.cli.evaluate import by_k, evaluate
from labelspace.cli.inputs import add_embeddings, read_for, read_to_learn
from labelspace.data import Corpus
from labelspace.data.formats.compression import check_readable
from labelspace.data.formats.fields import Fields
from labelspace.data.text.encoding.precomputed import NAME as PRECOMPUTED
from labelspace.data.text.encoding.resolving import encoder_for
from labelspace.errors import UsageError
from labelspace.store import folders
from labelspace.tagger import Tagger

MOST_WORDS = 1_000_000  # of which texts make features, for estimates


def run_train(
    corpus: Path,
    out: Path,
    method: str,
    parameters: dict[str, Any],
    *,
    features: Any = None,
    encoder: str | None = None,
    fields: Fields | None = None,
    vocabulary: Path | None = None,
    language: str | None = None,
    rules: dict[str, Any] | None = None,
    valid: Path | None,
    engine: EngineChoice = EngineChoice(),
    as_json: bool,
) -> None:
    """Train a method on the corpus in a file, and save the model in the folder ``out``."""
    models.make(method, **parameters)._validate_params()  # before a long read
    if encoder is not None:
        encoder_for(encoder)
    folders.check_replaceable(out)
    if valid is not None:
        check_readable(valid)
    with engine.used() as used:
        read = read_to_learn(corpus, fields, vocabulary, language)
        check_features(read, corpus, ("--features", features), ("--encoder", encoder))
        if encoder == PRECOMPUTED:
            add_embeddings(read, corpus)
        if used is not None:
            output.say(f"{corpus}: {used.check_fits(_size(read)).said}")
        tagger, result = train(read, method, parameters, features, encoder, rules)
    if used is not None:
        result |= used.figures()
    provenance = tagger.estimator_.provenance_ = provenance_of(corpus, result)
    try:
        if valid is not None:
            result["valid"], _ = evaluate(
                tagger, read_for(tagger, valid), A=metrics.PROPENSITY_A, B=metrics.PROPENSITY_B
            )
            provenance |= {"valid": valid.name, "figures": result["valid"]}
    finally:  # whatever is wrong with the other rows, training is not lost
        with progress.task(f"Saving {out}"):
            tagger.save(out)
    result["model_mib"] = round(folders.size_in_bytes(out) / (1 << 20), 2)
    result["out"] = str(out)
    if as_json:
        output.print_json(result)
        return
    print(
        f"{method}: {result['n_examples']:,} rows, {result['n_labels']:,} labels, "
        f"{result['train_seconds']:.1f} s ({result['cpu_seconds']:.1f} s of CPU), "
        f"{result['model_mib']:.1f} MiB in {out}"
    )
    if "n_vocabulary" in result:
        print(
            f"Vocabulary: {result['n_vocabulary']:,} labels, "
            f"{result['n_vocabulary_without_rows']:,} of them without a row"
        )
    if valid is not None:
        output.print_table(f"On {valid}", by_k(result["valid"]))


def _size(corpus: Corpus) -> Any:
    """Return how large a corpus is; a text counts as so many features as words."""
    from labelspace.engine.estimate import CorpusSize

    X, Y = corpus.X, corpus.Y
    if X is not None:
        return CorpusSize(X.shape[0], X.shape[1], Y.shape[1], X.nnz, Y.nnz)
    n_words = sum(text.count(" ") + 1 for text in corpus.texts or ())
    return CorpusSize(Y.shape[0], min(n_words, MOST_WORDS), Y.shape[1], n_words, Y.nnz)


def check_features(corpus: Corpus, path: Path, *options: tuple[str, Any]) -> None:
    """Raise if an option about texts is given for a corpus that has none."""
    for option, given in options:
        if given is not None and corpus.texts is None:
            raise UsageError(f"{option} is for texts, but {path} holds features: leave it out.")


def provenance_of(corpus: Path, cost: dict[str, Any]) -> dict[str, Any]:
    """Return what a model keeps about its making, for ``labelspace info`` to show."""
    now = datetime.now(timezone.utc)
    return {
        "corpus": corpus.name,
        "trained": now.strftime("%Y-%m-%d %H:%M UTC"),
        "train_seconds": cost["train_seconds"],
    }


def fields_of(corpus: Corpus) -> Fields | None:
    """Return the columns that a model keeps of the table that it learned from."""
    return corpus.reading.fields if corpus.reading and corpus.reading.columns else None


def vocabulary_figures(tagger: Tagger) -> dict[str, int]:
    """Return how many labels the vocabulary has, and how many of them no row has."""
    known = tagger.vocabulary_
    if known is None:
        return {}
    counts = tagger.estimator_.label_counts_[known.column_of]
    n_without = int(((known.column_of < 0) | (counts == 0)).sum())
    return {"n_vocabulary": len(known.vocabulary), "n_vocabulary_without_rows": n_without}


def train(
    corpus: Corpus,
    method: str,
    parameters: dict[str, Any],
    features: Any = None,
    encoder: str | None = None,
    rules: dict[str, Any] | None = None,
) -> tuple[Tagger, dict[str, Any]]:
    """Train a method on a corpus; return the tagger and what it cost."""
    with progress.task(f"Training {method} on {len(corpus):,} rows"), output.Meter() as meter:
        tagger = Tagger(method, features=features, encoder=encoder, **parameters)
        tagger.fit(
            corpus.rows,
            corpus.Y,
            corpus.label_names,
            vocabulary=corpus.vocabulary,
            label_keys=corpus.label_keys,
            **(rules or {}),
        )
    tagger.fields_ = fields_of(corpus)
    peak = output.Meter.peak_rss_mib()
    cost = {
        "method": method,
        "n_examples": len(corpus),
        "n_features": tagger.estimator_.n_features_in_,
        "n_labels": corpus.n_labels,
        **vocabulary_figures(tagger),
        "train_seconds": round(meter.wall_seconds, 3),
        "cpu_seconds": round(meter.cpu_seconds, 3),
        "peak_rss_mib": None if peak is None else round(peak, 1),
    }
    return tagger, cost
