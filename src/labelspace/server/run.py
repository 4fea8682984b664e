"""Starts the server, in this process or in several workers, and ends it well."""

from __future__ import annotations

import logging
import os
import sys
import tempfile
import threading
import time
import urllib.request
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Any

import uvicorn

from labelspace.server.app import make_apps
from labelspace.server.connections import TimedProtocol
from labelspace.server.learned_log import LearnedLog
from labelspace.server.metrics import SHARED_FOLDER
from labelspace.server.served import Served
from labelspace.server.settings import ServerSettings
from labelspace.store.leftovers import temporary_folder

# The thread of the model and that of the event loop take turns more often than Python's default
# of 5 ms, so that requests are not kept waiting by a batch.
SWITCH_SECONDS = 0.001
# Files that a server has open beside its connections, with room to spare.
OTHER_FILES = 200


def serve(
    settings: ServerSettings,
    *,
    on_ready: Callable[[], None] = lambda: None,
    open_browser: bool = False,
) -> None:
    """Serve until the process is told to stop."""
    logging.basicConfig(format="%(message)s", level=logging.WARNING)
    logging.getLogger("labelspace.server").setLevel(logging.INFO)
    sys.setswitchinterval(SWITCH_SECONDS)
    _allow_open_files(settings.limits.connections + OTHER_FILES)
    # A bad folder, or file of what was taught, is told before anything starts.
    served = []
    for place in map(Path, (settings.model, *settings.others)):
        served.append(Served.load(place, settings.n_threads, settings.encoder))
        LearnedLog(place).check(served[-1].estimator)
    threading.Thread(target=_tell, args=(settings, on_ready, open_browser), daemon=True).start()
    if settings.workers == 1:
        uvicorn.run(make_apps(settings, served), **_options(settings))
        return
    del served
    among = Path(tempfile.gettempdir())
    with temporary_folder(among, "labelspace-metrics-", 0o700) as folder:
        os.environ[SHARED_FOLDER] = str(folder)
        settings.to_environment()
        factory = "labelspace.server.app:from_environment"
        uvicorn.run(factory, factory=True, **_options(settings))


def address(settings: ServerSettings) -> str:
    """Return where a browser on this machine finds the page."""
    host = "127.0.0.1" if settings.host in ("0.0.0.0", "::", "") else settings.host
    return f"http://{f'[{host}]' if ':' in host else host}:{settings.port}/"


def _tell(settings: ServerSettings, on_ready: Callable[[], None], open_browser: bool) -> None:
    """Wait until the server answers, then say so."""
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    for _ in range(600):
        try:
            with direct.open(address(settings) + "readyz", timeout=5):
                break
        except OSError:
            time.sleep(0.1)
    else:
        return
    on_ready()
    if open_browser:
        webbrowser.open(address(settings))


def _allow_open_files(n_files: int) -> None:
    """Let the process, and those that it starts, have so many files open, if it may."""
    if os.name != "posix":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = n_files if hard == resource.RLIM_INFINITY else min(n_files, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _options(settings: ServerSettings) -> dict[str, Any]:
    return {
        "host": settings.host,
        "port": settings.port,
        "workers": settings.workers,
        "http": TimedProtocol,
        "ws": "none",
        "access_log": False,
        "log_level": "warning",
        "server_header": False,
        "proxy_headers": False,
        "limit_concurrency": settings.limits.connections,
        "timeout_graceful_shutdown": settings.limits.shutdown,
    }
