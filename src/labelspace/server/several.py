"""Several models on one server: each has all routes below ``/models/NAME``, the first at ``/`` too.

Every model keeps its own thread, queue and log of what it was taught, so that one that is busy or
learning keeps no other waiting.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from starlette.types import Receive, Scope, Send

from labelspace.server.guard import Guard
from labelspace.server.settings import ServerSettings

PREFIX = "/models/"


def names_of(folders: Sequence[Path]) -> list[str]:
    """Return a name for each folder: its own, with that of the folder above where several share it.

    >>> names_of([Path("/a/model"), Path("/b/model"), Path("/b/other")])
    ['a-model', 'b-model', 'other']
    """
    own = [folder.absolute().name for folder in folders]
    longer = [
        f"{folder.absolute().parent.name}-{name}" if own.count(name) > 1 else name
        for folder, name in zip(folders, own, strict=True)
    ]
    return [
        name if longer.count(name) == 1 else f"{name}-{number}"
        for number, name in enumerate(longer, 1)
    ]


def settings_of_each(settings: ServerSettings) -> list[ServerSettings]:
    """Return the settings of each model that a server has."""
    folders = [settings.model, *settings.others]
    if not settings.others:
        return [settings]
    names = names_of([Path(folder) for folder in folders])
    return [
        replace(settings, model=folder, others=(), shown_name=name)
        for folder, name in zip(folders, names, strict=True)
    ]


class SeveralModels:
    """An application that hands requests to those of its models."""

    def __init__(self, apps: dict[str, Guard]) -> None:
        self._by_path = {f"{PREFIX}{quote(name)}/": app for name, app in apps.items()}
        self._by_path |= {f"{PREFIX}{name}/": app for name, app in apps.items()}
        self._apps = list(apps.values())
        for app in self._apps:
            app.parts.siblings = [one.parts for one in self._apps]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        path: str = scope.get("path", "")
        for prefix, app in self._by_path.items():
            if path.startswith(prefix):
                inner = path[len(prefix) - 1 :]
                await app({**scope, "path": inner, "raw_path": inner.encode()}, receive, send)
                return
        await self._apps[0](scope, receive, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        """Start all models, and end all of them."""
        await receive()
        async with AsyncExitStack() as stack:
            try:
                for app in self._apps:
                    inner: Any = app.inner
                    await stack.enter_async_context(inner.router.lifespan_context(inner))
            except Exception as error:
                await send({"type": "lifespan.startup.failed", "message": str(error)})
                return
            await send({"type": "lifespan.startup.complete"})
            await receive()
        await send({"type": "lifespan.shutdown.complete"})
