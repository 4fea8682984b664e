"""``labelspace serve``: checks what it was told, says where the page is, and starts the server."""

from __future__ import annotations

import socket
from pathlib import Path

from labelspace.cli.output import say
from labelspace.errors import UsageError

# What the extra ``serve`` brings.
EXTRA = ("fastapi", "prometheus_client", "pydantic", "starlette", "uvicorn")


def run_serve(
    model: Path,
    *,
    host: str,
    port: int,
    token: str | None,
    workers: int,
    n_threads: int,
    queue: int,
    time_limit: float,
    max_body: int,
    open_browser: bool,
) -> None:
    """Serve the model in a folder until the process is told to stop."""
    try:
        from labelspace.server.run import address, serve
        from labelspace.server.settings import Limits, ServerSettings
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] in EXTRA:
            raise UsageError(
                "The server needs FastAPI, uvicorn and prometheus_client: install them with "
                "pip install 'labelspace[serve]'."
            ) from None
        raise
    if token is not None and (len(token) < 8 or not token.isascii() or not token.isprintable()):
        raise UsageError("--token is too short or not plain ASCII: give at least 8 characters.")
    settings = ServerSettings(
        str(model),
        host=host,
        port=_free_port(host, port),
        token=token,
        workers=workers,
        n_threads=n_threads,
        limits=Limits(queue=queue, time=time_limit, body=max_body),
    )
    if not settings.is_local and token is None:
        say("Everyone who can reach this machine may tag; nobody may teach (no --token).")
    serve(
        settings,
        on_ready=lambda: say(f"Open {address(settings)} in a browser. Ctrl-C ends it."),
        open_browser=open_browser,
    )


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
