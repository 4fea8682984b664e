"""The verbs of the command line: their options, each handed to the file that does the work.

Exit codes: 0 well, 1 bad input or data, 2 wrong usage.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from labelspace import __version__
from labelspace.cli import options as opt
from labelspace.cli.engine_options import works_in_blocks
from labelspace.cli.export import export
from labelspace.cli.hub import pull, push
from labelspace.cli.options import Json, Seed, Threads
from labelspace.cli.serve import serve
from labelspace.cli.shard import shard
from labelspace.cli.table_options import reads_tables
from labelspace.cli.tune import tune
from labelspace.cli.verbs import Verbs
from labelspace.errors import UsageError

app = typer.Typer(
    name="labelspace",
    cls=Verbs,
    help="Tag things with a few right labels out of thousands to millions.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

PropensityA = Annotated[float, typer.Option("--A", help="Propensity constant A.")]
PropensityB = Annotated[float, typer.Option("--B", help="Propensity constant B.")]
ModelFolder = Annotated[
    Path, typer.Argument(metavar="DIR", help="Model folder.", callback=opt.tuned_model)
]


@app.callback(invoke_without_command=True)
def _top(
    ctx: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        print(f"labelspace {__version__}")
        raise typer.Exit()


@app.command()
@works_in_blocks
@reads_tables
def train(
    corpus: Annotated[Path, typer.Argument(metavar="TRAIN", help="Corpus to learn from.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the model.")],
    method: opt.Method = None,
    seed: Seed = 0,
    threads: Threads = None,
    valid: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Corpus to evaluate on after training.")
    ] = None,
    settings: opt.Settings = None,
    features: opt.Features = None,
    encoder: opt.Encoder = None,
    vocabulary: opt.VocabularyFile = None,
    language: opt.Language = None,
    allow: opt.Allow = None,
    exclude: opt.Exclude = None,
    as_json: Json = False,
    fields: Any = None,
    engine: Any = None,
) -> None:
    """Train a model and save it."""
    from labelspace.cli.set_option import parse_features, parse_parameters
    from labelspace.cli.train import run_train
    from labelspace.models import DEFAULT_METHOD

    parameters = {"random_state": seed, "n_threads": threads, **parse_parameters(settings or [])}
    run_train(
        corpus,
        out,
        method or DEFAULT_METHOD,
        parameters,
        features=parse_features(features),
        encoder=encoder,
        fields=fields,
        vocabulary=vocabulary,
        language=language,
        rules={"allow": opt.labels_of(allow), "exclude": opt.labels_of(exclude) or []},
        valid=valid,
        engine=engine,
        as_json=as_json,
    )


@app.command()
@reads_tables
def evaluate(
    model: ModelFolder,
    test: Annotated[Path, typer.Argument(metavar="TEST", help="Corpus with the true labels.")],
    threads: Threads = None,
    a: PropensityA = 0.55,
    b: PropensityB = 1.5,
    by_frequency: Annotated[
        bool, typer.Option("--by-frequency", help="Also recall by how often labels occur.")
    ] = False,
    vocabulary: opt.VocabularyFile = None,
    encoder: opt.LearnedWith = None,
    as_json: Json = False,
    fields: Any = None,
) -> None:
    """Evaluate a model: P@k, nDCG@k, PSP@k, PSnDCG@k in percent."""
    from labelspace.cli.evaluate import run_evaluate

    run_evaluate(
        model,
        test,
        fields=fields,
        vocabulary=vocabulary,
        encoder=encoder,
        n_threads=threads,
        A=a,
        B=b,
        by_frequency=by_frequency,
        as_json=as_json,
    )


@app.command()
@works_in_blocks
@reads_tables
def predict(
    model: ModelFolder,
    source: Annotated[
        str,
        typer.Argument(
            metavar="INPUT", help="A corpus file, or - for what is piped in: one text per line."
        ),
    ],
    k: opt.K = None,
    threshold: opt.Threshold = None,
    out: opt.TaggedFile = None,
    explain: opt.Explain = False,
    language: opt.Language = None,
    hide_broader: opt.HideBroader = False,
    add_broader: opt.AddBroader = False,
    allow: opt.Allow = None,
    exclude: opt.Exclude = None,
    label_threshold: opt.LabelThreshold = None,
    vocabulary: opt.VocabularyFile = None,
    encoder: opt.LearnedWith = None,
    threads: Threads = None,
    as_json: Json = False,
    fields: Any = None,
    engine: Any = None,
) -> None:
    """Print the best labels of each row, with scores, or write them into a table."""
    from labelspace.cli.predict import run_predict

    run_predict(
        model,
        source,
        out,
        fields=fields,
        k=k,
        threshold=threshold,
        explain=explain,
        shown=opt.Shown(
            language,
            opt.broader_of(hide_broader, add_broader),
            opt.labels_of(allow),
            opt.labels_of(exclude) or [],
            opt.thresholds_of(label_threshold),
        ),
        vocabulary=vocabulary,
        encoder=encoder,
        n_threads=threads,
        engine=engine,
        as_json=as_json,
    )


@app.command()
@reads_tables
def compare(
    train_corpus: Annotated[Path, typer.Argument(metavar="TRAIN", help="Corpus to learn from.")],
    test: Annotated[Path, typer.Argument(metavar="TEST", help="Corpus to evaluate on.")],
    methods: Annotated[str, typer.Option(help="Methods, separated by commas.")],
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder for the models, table and plot.")
    ] = None,
    seed: Seed = 0,
    threads: Threads = None,
    features: opt.Features = None,
    vocabulary: opt.VocabularyFile = None,
    a: PropensityA = 0.55,
    b: PropensityB = 1.5,
    as_json: Json = False,
    fields: Any = None,
) -> None:
    """Train several methods on the same corpus and show a leaderboard."""
    from labelspace.cli.compare import run_compare
    from labelspace.cli.set_option import parse_features

    names = [name.strip() for name in methods.split(",") if name.strip()]
    run_compare(
        train_corpus,
        test,
        names,
        out,
        features=parse_features(features),
        fields=fields,
        vocabulary=vocabulary,
        seed=seed,
        n_threads=threads,
        A=a,
        B=b,
        as_json=as_json,
    )


app.command()(tune)


@app.command()
def methods(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="A method, to list its parameters.")
    ] = None,
    as_json: Json = False,
) -> None:
    """List the methods, or the parameters of one."""
    from labelspace.cli.methods import run_methods

    run_methods(name, as_json=as_json)


@app.command()
@reads_tables
def info(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="PATH", help="A corpus, model folder or vocabulary.", callback=opt.tuned_model
        ),
    ],
    files: Annotated[
        bool, typer.Option("--files", help="Also a model's files, with checksums.")
    ] = False,
    vocabulary: opt.VocabularyFile = None,
    as_json: Json = False,
    fields: Any = None,
) -> None:
    """Describe a corpus, a model, or a vocabulary."""
    from labelspace.cli.info import run_info

    run_info(path, fields=fields, vocabulary=vocabulary, with_files=files, as_json=as_json)


@app.command()
@reads_tables
def convert(
    source: Annotated[Path, typer.Argument(metavar="IN", help="Corpus to read.")],
    target: Annotated[
        Path, typer.Argument(metavar="OUT", help="Corpus to write; its name says the format.")
    ],
    vocabulary: opt.VocabularyFile = None,
    language: opt.Language = None,
    as_json: Json = False,
    fields: Any = None,
) -> None:
    """Write a corpus in another format; with a vocabulary, labels by key or in a language."""
    from labelspace.cli.convert import run_convert

    run_convert(
        source, target, fields=fields, vocabulary=vocabulary, language=language, as_json=as_json
    )


@app.command()
@reads_tables
def update(
    model: ModelFolder,
    more: Annotated[Path, typer.Argument(metavar="MORE", help="Corpus with new rows.")],
    threads: Threads = None,
    vocabulary: opt.VocabularyFile = None,
    encoder: opt.LearnedWith = None,
    as_json: Json = False,
    fields: Any = None,
) -> None:
    """Let a model learn new rows and new labels, and save it again."""
    from labelspace.cli.update import run_update

    run_update(
        model,
        more,
        fields=fields,
        vocabulary=vocabulary,
        encoder=encoder,
        n_threads=threads,
        as_json=as_json,
    )


@app.command(name="map")
def draw_map(
    model: ModelFolder,
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="Picture to write: .png or .html.")
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="The same.")] = None,
    as_json: Json = False,
) -> None:
    """Draw a map of the labels, as a picture (.png) or as an interactive page (.html)."""
    from labelspace.cli.draw_map import run_map

    target = out or file
    if target is None or (out and file):
        raise UsageError("Give one file for the map, such as --out map.html.")
    run_map(model, target, as_json=as_json)


app.command()(serve)
app.command()(push)
app.command()(pull)
app.command()(export)
app.command()(shard)


@app.command()
def demo(
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder for the demo's corpus and model.")
    ] = Path("labelspace-demo"),
    seed: Seed = 0,
    threads: Threads = None,
    as_json: Json = False,
) -> None:
    """Build a corpus of documentation, train on it, and tag a few sentences."""
    from labelspace.cli import output
    from labelspace.cli.demo import run_demo

    result = run_demo(out, seed=seed, n_threads=threads, json=as_json)
    if as_json:
        output.print_json(result)
