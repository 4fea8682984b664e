"""``labelspace tune``: what suits a corpus, chosen within a budget of time."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from labelspace.cli import options as opt
from labelspace.cli.table_options import reads_tables


@reads_tables
def tune(
    corpus: Annotated[Path, typer.Argument(metavar="TRAIN", help="Corpus to learn from.")],
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder for trials, model and report; resumes.")
    ],
    budget: Annotated[
        str, typer.Option(metavar="TIME", help="Time for all of it: 10m, 90s, 1h30m.")
    ] = "10m",
    methods: Annotated[
        str | None, typer.Option(help="Methods to choose among, separated by commas.")
    ] = None,
    metric: Annotated[
        str, typer.Option(metavar="FIGURE", help="What is to be best: P@5, nDCG@3, PSP@1, ….")
    ] = "P@5",
    valid: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Corpus to choose by; else a fifth of TRAIN."),
    ] = None,
    features: opt.Features = None,
    encoder: opt.Encoder = None,
    seed: opt.Seed = 0,
    threads: opt.Threads = None,
    vocabulary: opt.VocabularyFile = None,
    language: opt.Language = None,
    as_json: opt.Json = False,
    fields: Any = None,
) -> None:
    """Choose method, text features and parameters within a budget of time."""
    from labelspace.cli.set_option import parse_features
    from labelspace.data.text.encoding.resolving import encoder_for
    from labelspace.tuning.tuner import Tuner

    tuner = Tuner(
        budget,
        methods=None if methods is None else _names(methods),
        metric=metric,
        features=None if features == "auto" else parse_features(features),
        encoder=encoder,
        folder=out,
        random_state=seed,
        n_threads=threads,
    )
    tuner.check()
    if encoder is not None:
        encoder_for(encoder)  # before a long read
    try:
        _run(tuner, corpus, valid, fields, vocabulary, language, as_json)
    except KeyboardInterrupt:
        from labelspace.cli.output import say

        say(
            f"Stopped by Ctrl-C after {len(getattr(tuner, 'outcomes_', ()))} trials: the same "
            "command goes on from there."
        )
        sys.exit(130)


def _names(methods: str) -> list[str]:
    return [name.strip() for name in methods.split(",") if name.strip()]


def _run(
    tuner: Any,
    path: Path,
    valid: Path | None,
    fields: Any,
    vocabulary: Path | None,
    language: str | None,
    as_json: bool,
) -> None:
    from labelspace.cli.inputs import read_to_tune
    from labelspace.cli.leaderboard import live, print_ranking
    from labelspace.cli.train import check_features, fields_of, provenance_of
    from labelspace.tuning.report import summary, write_report

    read, held_out = read_to_tune(
        path, valid, fields, vocabulary=vocabulary, language=language, encoder=tuner.encoder
    )
    check_features(read, path, ("--features", tuner.features), ("--encoder", tuner.encoder))

    def keep(tagger: Any, seconds: float) -> None:
        provenance = provenance_of(path, {"train_seconds": round(seconds, 3)})
        measured_on = "rows held out" if valid is None else valid.name
        provenance |= {"valid": measured_on, "figures": tuner.chosen_.figures}
        tagger.estimator_.provenance_ = provenance
        tagger.fields_ = fields_of(read)

    with live(tuner) as watch:
        tuner.fit(
            read.rows,
            read.Y,
            read.label_names,
            held_out=held_out,
            vocabulary=read.vocabulary,
            label_keys=read.label_keys,
            watch=watch,
            keep=keep,
        )
    write_report(tuner, path.name)
    told = summary(tuner)
    if as_json:
        from labelspace.cli.output import print_json

        print_json({**told, "out": str(tuner.folder)})
        return
    print_ranking(tuner)
    print(f"{told['sentence']} Model: {tuner.folder}/model; report: {tuner.folder}/report.md.")
