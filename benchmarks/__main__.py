"""The command line of the benchmarks: ``python -m benchmarks [run | render | study | …]``.

Without a command (``make bench``) it runs the default sitting: every method and peer on the files
as given, small corpora first, then the ten random splits, until the hour is nearly over; run it
again to go on. The page is rendered at the end in any case.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from scipy.sparse import csr_matrix, load_npz

from benchmarks import corpora, peers, results
from benchmarks.peers import PEERS
from benchmarks.plan import choose, parse_setting, plan, sitting
from benchmarks.render.page import PAGES, fill_page
from benchmarks.runner import Limits, run_all
from labelspace.models import METHODS

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.callback(invoke_without_command=True)
def default(context: typer.Context) -> None:
    """Measure methods and peers on the same files, and render the documentation's tables."""
    if context.invoked_subcommand is not None:
        return
    there = corpora.available()
    if not there:
        raise SystemExit(
            f"There are no corpora in {corpora.data_home()}: set LABELSPACE_DATA to their folder."
        )
    if not peers.ENVIRONMENT.exists():
        peers.install()
    run_all(sitting(there), Limits())
    render()


@app.command()
def run(
    methods: Annotated[str, typer.Option(help="Our methods, by comma, or 'all'.")] = "",
    peer_names: Annotated[str, typer.Option("--peers", help="Peers, by comma, or 'all'.")] = "",
    corpus_names: Annotated[
        str, typer.Option("--corpora", help="Corpora, by comma, or 'all'.")
    ] = "bibtex,delicious",
    splits: Annotated[
        str, typer.Option(help="'given', 'ten' random ones, or names such as random-3.")
    ] = "given",
    seeds: Annotated[str, typer.Option(help="Seeds of our methods, by comma.")] = "0",
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="A parameter of our methods, name=value.")
    ] = None,
    threads: Annotated[int, typer.Option(help="Threads of every system.")] = 2,
    timeout: Annotated[float, typer.Option(help="Minutes for one run.")] = 30.0,
    budget: Annotated[float, typer.Option(help="Minutes for this whole command.")] = 55.0,
    again: Annotated[bool, typer.Option("--again", help="Repeat runs that are there.")] = False,
    since: Annotated[
        str, typer.Option(help="Repeat runs older than this, as in 2026-01-31T12:00.")
    ] = "",
) -> None:
    """Run methods and peers on corpora; runs that are there already are skipped."""
    runs = plan(
        choose(methods, METHODS, "method"),
        choose(peer_names, PEERS, "peer"),
        choose(corpus_names, corpora.available(), "corpus"),
        corpora.splits_of(splits),
        [int(seed) for seed in seeds.split(",")],
        dict(parse_setting(text) for text in settings or []),
    )
    limits = Limits(n_threads=threads, time_limit_s=60.0 * timeout, budget_s=60.0 * budget)
    run_all(runs, limits, again=again, since=since)


@app.command()
def render(
    page: Annotated[
        Path | None, typer.Option(help="A page whose blocks are filled in; ours if not given.")
    ] = None,
) -> None:
    """Write the tables and plots of the documentation from the JSON lines alone."""
    lines = results.read_lines()
    for one in PAGES if page is None else (page,):
        for path in fill_page(one, lines):
            print(path)


@app.command("list")
def list_runs() -> None:
    """Show methods, peers, corpora, and how many runs are there."""
    print("methods:", ", ".join(METHODS))
    print("peers:  ", ", ".join(PEERS))
    print("corpora:", ", ".join(corpora.available()) or f"none in {corpora.data_home()}")
    counts: dict[tuple[str, str, str], list[str]] = {}
    for line in results.latest(results.read_lines()):
        kind = "given" if line["split"] == "given" else "random"
        counts.setdefault((line["corpus"], line["method"], kind), []).append(line["status"])
    for (corpus, method, kind), statuses in sorted(counts.items()):
        early = statuses.count(results.ENDED_EARLY)
        note = f", {early} ended early" if early else ""
        print(f"  {corpus:<10} {method:<20} {kind:<7} {len(statuses)} runs{note}")


@app.command("peers-install")
def peers_install() -> None:
    """Install the peers into an environment of their own."""
    peers.install()


@app.command()
def speed(
    model: Annotated[Path, typer.Argument(help="A saved model.")],
    corpus: Annotated[str, typer.Option(help="The corpus whose test rows are asked.")],
) -> None:
    """Print load time, one core's batch speed and a single row's latency of a saved model."""
    from benchmarks.saved_model import measure_speed

    X = csr_matrix(load_npz(corpora.prepare(corpus).folder / "test_X.npz"))
    figures = measure_speed(model, X)
    print(json.dumps({name: float(f"{value:.4g}") for name, value in figures.items()}, indent=1))


@app.command()
def study(
    name: Annotated[str, typer.Argument(help="A study, or 'all'; none lists them.")] = "",
    parts: Annotated[list[str] | None, typer.Argument(help="Its parts; all if none.")] = None,
    corpus_names: Annotated[str, typer.Option("--corpora", help="Corpora, by comma.")] = "",
    seeds: Annotated[str, typer.Option(help="Seeds, by comma.")] = "",
    budget: Annotated[float, typer.Option(help="Minutes for this whole command.")] = 55.0,
    again: Annotated[bool, typer.Option("--again", help="Repeat trials that are there.")] = False,
    only_render: Annotated[
        bool, typer.Option("--render", help="Only fill the page from what is there.")
    ] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="See that it works: few rows, nothing is kept.")
    ] = False,
) -> None:
    """Make the trials of a study that are not there yet, and fill its page."""
    from benchmarks import studies
    from benchmarks.studies.carry_out import Asked, carry_out, fill

    if not name:
        for known in studies.names():
            print(f"{known:<16} {', '.join(studies.find(known).parts)}")
        return
    asked = Asked(
        parts=parts or (),
        corpora=[corpus for corpus in corpus_names.split(",") if corpus],
        seeds=[int(seed) for seed in seeds.split(",") if seed],
        again=again,
        quick=quick,
        budget_s=60.0 * budget,
    )
    for one in studies.names() if name == "all" else [name]:
        found = studies.find(one)
        if not only_render:
            carry_out(found, asked)
        if not quick:
            fill(found)
            print(found.page)


if __name__ == "__main__":
    app()
