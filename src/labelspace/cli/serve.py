"""``labelspace serve``: checks what it was told, says where the page is, and starts the server."""

from __future__ import annotations

import os
import signal
import socket
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from labelspace.cli import options as opt
from labelspace.cli.shard import Missing
from labelspace.errors import UsageError

# What the extra ``serve`` brings.
EXTRA = ("fastapi", "prometheus_client", "pydantic", "starlette", "uvicorn")

_TEACHING = "Teaching"

_Shards = Annotated[
    int | None,
    typer.Option(
        min=1, help="Processes that hold a part of the labels each, of one-vs-all and its like."
    ),
]
_HeldOut = Annotated[
    Path | None,
    typer.Option(
        exists=True,
        help="Rows with labels, on which a lesson is measured before it goes live.",
        rich_help_panel=_TEACHING,
    ),
]


def serve(
    models: Annotated[
        list[Path],
        typer.Argument(metavar="DIR…", help="Model folders.", callback=opt.tuned_models),
    ],
    host: Annotated[
        str, typer.Option(help="Address to listen on; 127.0.0.1 is this machine only.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on.")] = 8000,
    workers: Annotated[int, typer.Option(min=1, max=64, help="Processes that answer.")] = 1,
    threads: Annotated[int, typer.Option(min=1, help="Threads of each process's model.")] = 1,
    queue: Annotated[int, typer.Option(min=1, help="Rows that may wait for the model.")] = 32,
    time_limit: Annotated[
        float, typer.Option(min=0.1, help="Seconds that a request may take.")
    ] = 10.0,
    max_body: Annotated[int, typer.Option(min=1024, help="Bytes of a request's body.")] = 1 << 20,
    encoder: opt.LearnedWith = None,
    shards: _Shards = None,
    missing: Missing = "error",
    open_browser: Annotated[bool, typer.Option("--open", help="Open the page.")] = False,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="LABELSPACE_TOKEN",
            help="Who has it may teach the model.",
            rich_help_panel=_TEACHING,
        ),
    ] = None,
    held_out: _HeldOut = None,
    max_taught_rows: Annotated[
        int, typer.Option(min=0, help="Rows to be taught in all.", rich_help_panel=_TEACHING)
    ] = 1_000_000,
    max_taught_labels: Annotated[
        int, typer.Option(min=0, help="New labels in all.", rich_help_panel=_TEACHING)
    ] = 100_000,
    max_taught_bytes: Annotated[
        int, typer.Option(min=0, help="Bytes of all rows taught.", rich_help_panel=_TEACHING)
    ] = 1 << 30,
    min_free_disk: Annotated[
        int,
        typer.Option(min=0, help="Bytes of the disk to leave free.", rich_help_panel=_TEACHING),
    ] = 64 << 20,
) -> None:
    """Serve a model over HTTP: an API, a page to tag texts on, and a map of the labels."""
    _check_token(token)
    taught = (max_taught_rows, max_taught_labels, max_taught_bytes, min_free_disk)
    names = ("learned_rows", "learned_labels", "learned_bytes", "free_disk")
    limits = {"queue": queue, "time": time_limit, "body": max_body}
    limits |= dict(zip(names, taught, strict=True))
    about: dict[str, Any] = {"host": host, "token": token, "workers": workers}
    about |= {"held_out": held_out and str(held_out), "encoder": encoder}
    with _in_shards(models, shards, missing, encoder) as folders:
        model, *others = map(str, folders)
        about |= {"model": model, "others": tuple(others)}
        _serve(about, limits, port=port, n_threads=threads, open_browser=open_browser)


@contextmanager
def _in_shards(
    models: Sequence[Path], n_shards: int | None, missing: str, encoder: str | None
) -> Iterator[Sequence[Path]]:
    """Give the folders of models, or of copies whose labels lie in shards while it serves."""
    if n_shards is None:
        if missing != "error":
            raise UsageError("--missing is for models in shards: give --shards, too.")
        yield models
        return
    from labelspace.cli.inputs import load_tagger
    from labelspace.cli.output import say
    from labelspace.sharding import write_shards
    from labelspace.store.leftovers import temporary_folder

    among = Path(tempfile.gettempdir())
    with _ended_by_sigterm(), temporary_folder(among, "labelspace-shards-", 0o700) as parent:
        copies = []
        for number, model in enumerate(models):
            # With the names that a server calls it by.
            copies.append(parent.joinpath(str(number), *Path(os.path.abspath(model)).parts[-2:]))
            copies[-1].parent.mkdir(parents=True)
            tagger = load_tagger(model, encoder=encoder)
            given = tagger if tagger.takes_text else tagger.estimator_
            write_shards(given, copies[-1], n_shards, holders="processes", missing=missing)
            say(f"{model}: {n_shards} processes hold its labels")
        yield copies


@contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """Let SIGTERM end the block as an exception, so that what is temporary is removed."""

    def end(number: int, frame: Any) -> None:
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _serve(
    about: dict[str, Any],
    limits: dict[str, Any],
    *,
    port: int,
    n_threads: int,
    open_browser: bool,
) -> None:
    """Serve until the process is told to stop."""
    from labelspace.cli.output import say

    try:
        from labelspace.server.run import address
        from labelspace.server.run import serve as run
        from labelspace.server.settings import Limits, ServerSettings
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] in EXTRA:
            raise UsageError(
                "The server needs FastAPI, uvicorn and prometheus_client: install them with "
                "pip install 'labelspace[serve]'."
            ) from None
        raise
    settings = ServerSettings(
        **about,
        port=_free_port(about["host"], port),
        n_threads=n_threads,
        limits=Limits(**limits),
    )
    if not settings.is_local and settings.token is None:
        say("Everyone who can reach this machine may tag; nobody may teach (no --token).")
    run(
        settings,
        on_ready=lambda: say(f"Open {address(settings)} in a browser. Ctrl-C ends it."),
        open_browser=open_browser,
    )


def _check_token(token: str | None) -> None:
    if token is not None and (len(token) < 8 or not token.isascii() or not token.isprintable()):
        raise UsageError("--token is too short or not plain ASCII: give at least 8 characters.")


def _free_port(host: str, port: int) -> int:
    """Return ``port`` (0: any that is free); one that is taken is an error in plain words."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise UsageError(
                f"{host}:{port} cannot be listened on ({error.strerror}): give another --port or "
                "--host."
            ) from None
        return int(probe.getsockname()[1])
