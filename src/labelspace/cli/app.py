"""The verbs of the command line, each a thin layer over ``work``.

Exit codes: 0 well, 1 bad input or data, 2 wrong usage.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from labelspace import __version__
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

Json = Annotated[bool, typer.Option("--json", help="Print exactly one JSON object on stdout.")]
Seed = Annotated[int, typer.Option(help="Seed of everything random.")]
Threads = Annotated[int | None, typer.Option(min=1, help="Threads to use; all cores if not given.")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A parameter of the method; repeatable."),
]
PropensityA = Annotated[float, typer.Option("--A", help="Propensity constant A.")]
PropensityB = Annotated[float, typer.Option("--B", help="Propensity constant B.")]
ModelFolder = Annotated[Path, typer.Argument(metavar="DIR", help="Model folder.")]


@app.callback(invoke_without_command=True)
def _top(
    ctx: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        print(f"labelspace {__version__}")
        raise typer.Exit()


@app.command()
def train(
    corpus: Annotated[Path, typer.Argument(metavar="TRAIN", help="Corpus to learn from.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the model.")],
    method: Annotated[str | None, typer.Option(help="Method, labelspace if not given.")] = None,
    seed: Seed = 0,
    threads: Threads = None,
    valid: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Corpus to evaluate on after training.")
    ] = None,
    settings: Settings = None,
    as_json: Json = False,
) -> None:
    """Train a model and save it."""
    from labelspace import metrics, models
    from labelspace.cli import output, work
    from labelspace.data.formats.compression import check_readable
    from labelspace.store import folders

    method = method or models.DEFAULT_METHOD
    parameters = {"random_state": seed, "n_threads": threads, **work.parse_settings(settings or [])}
    models.make(method, **parameters)._validate_params()  # before a long read
    folders.check_replaceable(out)
    if valid is not None:
        check_readable(valid)
    model, result = work.train(work.read(corpus), method, parameters)
    with _saving(out):
        model.save(out)
    result["model_mib"] = round(folders.size_in_bytes(out) / (1 << 20), 2)
    result["out"] = str(out)
    if valid is not None:
        figures, _, _ = work.evaluate(
            model, work.read_for(model, valid), A=metrics.PROPENSITY_A, B=metrics.PROPENSITY_B
        )
        result["valid"] = figures
    if as_json:
        output.print_json(result)
        return
    print(
        f"{method}: {result['n_examples']:,} rows, {result['n_labels']:,} labels, "
        f"{result['train_seconds']:.1f} s ({result['cpu_seconds']:.1f} s of CPU), "
        f"{result['model_mib']:.1f} MiB in {out}"
    )
    if valid is not None:
        output.print_table(f"On {valid}", [result["valid"]])


@app.command()
def evaluate(
    model: ModelFolder,
    test: Annotated[Path, typer.Argument(metavar="TEST", help="Corpus with the true labels.")],
    threads: Threads = None,
    a: PropensityA = 0.55,
    b: PropensityB = 1.5,
    by_frequency: Annotated[
        bool, typer.Option("--by-frequency", help="Also recall by how often labels occur.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Evaluate a model: P@k, nDCG@k, PSP@k, PSnDCG@k in percent."""
    from labelspace import metrics
    from labelspace.cli import output, work

    loaded = _with_threads(work.load(model), threads)
    figures, top, Y = work.evaluate(loaded, work.read_for(loaded, test), A=a, B=b)
    bands = None
    if by_frequency:
        bands = metrics.by_frequency(Y, top, work.estimator(loaded).label_counts_)
    if as_json:
        output.print_json(figures if bands is None else {**figures, "by_frequency": bands})
        return
    output.print_table(f"{model} on {test}", _by_k(figures))
    print(f"{figures['n']:,} rows in {figures['predict_seconds']:.2f} s")
    if "ECE" in figures:
        print(f"Expected calibration error of the probabilities: {figures['ECE']:.2f} %")
    if bands is not None:
        output.print_table("By frequency in train", bands)


@app.command()
def predict(
    model: ModelFolder,
    source: Annotated[
        str, typer.Argument(metavar="INPUT", help="A corpus file, or - for one text per line.")
    ],
    k: Annotated[
        int | None,
        typer.Option("-k", min=1, help="Labels for each row; 5, or as many as f1 or precision=…."),
    ] = None,
    threshold: Annotated[
        str | None,
        typer.Option(
            metavar="SCORE|f1|precision=P",
            help="Leave out labels with a lower score; f1 and precision=0.9 choose the score.",
        ),
    ] = None,
    threads: Threads = None,
    as_json: Json = False,
) -> None:
    """Print the best labels of each row, with scores."""
    from labelspace.cli import output, work

    loaded = _with_threads(work.load(model), threads)
    k, least = work.limits(loaded, k, threshold)
    rows: list[Any] = []
    for labels, scores in work.answers(loaded, source, k):
        row = work.named(loaded, labels, scores, least)
        if as_json:
            rows.append(row)
        else:
            shown = (f"{label.get('name', label['label'])}\t{label['score']:.4f}" for label in row)
            print("\t".join(shown), flush=source == "-")
    if as_json:
        output.print_json({"n": len(rows), "k": k, "threshold": least, "predictions": rows})


@app.command()
def compare(
    train_corpus: Annotated[Path, typer.Argument(metavar="TRAIN", help="Corpus to learn from.")],
    test: Annotated[Path, typer.Argument(metavar="TEST", help="Corpus to evaluate on.")],
    methods: Annotated[str, typer.Option(help="Methods, separated by commas.")],
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder for the models, table and plot.")
    ] = None,
    seed: Seed = 0,
    threads: Threads = None,
    a: PropensityA = 0.55,
    b: PropensityB = 1.5,
    as_json: Json = False,
) -> None:
    """Train several methods on the same corpus and show a leaderboard."""
    from labelspace.cli.compare import run_compare

    names = [name.strip() for name in methods.split(",") if name.strip()]
    run_compare(
        train_corpus, test, names, out, seed=seed, n_threads=threads, A=a, B=b, as_json=as_json
    )


@app.command()
def methods(as_json: Json = False) -> None:
    """List the methods."""
    from labelspace.cli import output
    from labelspace.models import DEFAULT_METHOD, METHODS

    if as_json:
        output.print_json(
            {
                "default": DEFAULT_METHOD,
                "methods": {name: method.summary for name, method in METHODS.items()},
            }
        )
        return
    output.print_table(
        "Methods",
        [
            {
                "name": name + (" (default)" if name == DEFAULT_METHOD else ""),
                "what it is": method.summary,
            }
            for name, method in METHODS.items()
        ],
    )


@app.command()
def info(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A corpus or a model folder.")],
    as_json: Json = False,
) -> None:
    """Describe a corpus or a model."""
    from labelspace.cli.info import run_info

    run_info(path, as_json=as_json)


@app.command()
def convert(
    source: Annotated[Path, typer.Argument(metavar="IN", help="Corpus to read.")],
    target: Annotated[
        Path, typer.Argument(metavar="OUT", help="Corpus to write; its name says the format.")
    ],
    as_json: Json = False,
) -> None:
    """Write a corpus in another format."""
    from labelspace import data, progress
    from labelspace.cli import output

    with progress.task(f"Converting {source}"):
        corpus = data.convert(source, target)
    result = {
        "out": str(target),
        "n_examples": len(corpus),
        "n_features": corpus.n_features,
        "n_labels": corpus.n_labels,
    }
    if as_json:
        output.print_json(result)
    else:
        print(f"{target}: {len(corpus):,} rows, {corpus.n_labels:,} labels")


@app.command()
def update(
    model: ModelFolder,
    more: Annotated[Path, typer.Argument(metavar="MORE", help="Corpus with new rows.")],
    threads: Threads = None,
    as_json: Json = False,
) -> None:
    """Let a model learn new rows and new labels, and save it again."""
    from labelspace import progress
    from labelspace.cli import output, work
    from labelspace.store import folders

    with folders.locked(model):  # a server that learns saves the same folder
        loaded = _with_threads(work.load(model), threads)
        corpus = work.read_for(loaded, more)
        with progress.task(f"Learning {len(corpus):,} rows"), output.Meter() as meter:
            n_new = work.learn_on(loaded, corpus)
        with _saving(model):
            loaded.save(model)
    result = {
        "n_added": len(corpus),
        "n_new_labels": n_new,
        "n_examples": work.estimator(loaded).n_examples_,
        "n_labels": work.estimator(loaded).n_labels_,
        "update_seconds": round(meter.wall_seconds, 3),
        "cpu_seconds": round(meter.cpu_seconds, 3),
    }
    if as_json:
        output.print_json(result)
    else:
        print(
            f"{model}: {len(corpus):,} rows and {n_new:,} labels added in "
            f"{meter.wall_seconds:.2f} s"
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
    from labelspace.cli.label_map import run_map

    target = out or file
    if target is None or (out and file):
        raise UsageError("Give one file for the map, such as --out map.html.")
    run_map(model, target, as_json=as_json)


@app.command()
def serve(
    model: ModelFolder,
    host: Annotated[
        str, typer.Option(help="Address to listen on; 127.0.0.1 is this machine only.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on.")] = 8000,
    token: Annotated[
        str | None,
        typer.Option(envvar="LABELSPACE_TOKEN", help="Who has it may teach the model."),
    ] = None,
    workers: Annotated[int, typer.Option(min=1, max=64, help="Processes that answer.")] = 1,
    threads: Annotated[int, typer.Option(min=1, help="Threads of each process's model.")] = 1,
    queue: Annotated[int, typer.Option(min=1, help="Rows that may wait for the model.")] = 32,
    time_limit: Annotated[
        float, typer.Option(min=0.1, help="Seconds that a request may take.")
    ] = 10.0,
    max_body: Annotated[int, typer.Option(min=1024, help="Bytes of a request's body.")] = 1 << 20,
    open_browser: Annotated[bool, typer.Option("--open", help="Open the page.")] = False,
) -> None:
    """Serve a model over HTTP: an API, a page to tag texts on, and a map of the labels."""
    from labelspace.cli.serve import run_serve

    run_serve(
        model,
        host=host,
        port=port,
        token=token,
        workers=workers,
        n_threads=threads,
        queue=queue,
        time_limit=time_limit,
        max_body=max_body,
        open_browser=open_browser,
    )


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


def _with_threads(model: Any, threads: int | None) -> Any:
    from labelspace.cli import work

    work.estimator(model).n_threads = threads
    return model


def _saving(folder: Path) -> Any:
    from labelspace import progress

    return progress.task(f"Saving {folder}")


def _by_k(figures: dict[str, Any]) -> list[dict[str, Any]]:
    """Arrange P@1, P@3, … as a table with a line for each measure."""
    measures = dict.fromkeys(name.split("@")[0] for name in figures if "@" in name)
    ks = dict.fromkeys(name.split("@")[1] for name in figures if "@" in name)
    return [
        {"": measure} | {f"@{k}": figures[f"{measure}@{k}"] for k in ks} for measure in measures
    ]
