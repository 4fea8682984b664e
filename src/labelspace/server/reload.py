"""Notices that the model folder was replaced, and serves the new model without a pause.

The new model is loaded and warmed up beside the old one, which answers until the next batch can
be given to the new. A folder that cannot be loaded (half copied, say) is tried again; the old model
goes on.
"""

from __future__ import annotations

import asyncio
import logging
import time

from labelspace.server.batcher import Batcher
from labelspace.server.learning import Learning
from labelspace.server.metrics import Metrics
from labelspace.server.served import Served, identity_of
from labelspace.server.settings import ServerSettings

RETRY_SECONDS = 10.0

logger = logging.getLogger("labelspace.server")


class Watcher:
    """Looks at the model folder and at the log again and again."""

    def __init__(
        self, settings: ServerSettings, batcher: Batcher, learning: Learning, metrics: Metrics
    ) -> None:
        self._settings = settings
        self._batcher = batcher
        self._learning = learning
        self._metrics = metrics
        self._failed: object = None
        self._again = 0.0
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to look, on the running event loop."""
        self._task = asyncio.get_running_loop().create_task(self._watch())

    async def stop(self) -> None:
        """Look no more."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(self._settings.poll)
            try:
                await self._look()
                await self._learning.look()
            except Exception:
                logger.exception("Looking at the model folder failed; it is tried again.")

    async def _look(self) -> None:
        try:
            found = identity_of(self._settings.folder)
        except OSError:
            return  # being replaced, or gone: what is in memory goes on
        if found == self._batcher.served.identity:
            return
        if found == self._failed and time.monotonic() < self._again:
            return
        try:
            served = await asyncio.to_thread(
                Served.load,
                self._settings.folder,
                self._settings.n_threads,
                self._settings.encoder,
            )
            await self._learning.adopt(served)
        except Exception as error:
            self._metrics.add("labelspace_model_load_failures_total", 1)
            logger.error("The new model in %s was not taken: %s", self._settings.folder, error)
            self._failed, self._again = found, time.monotonic() + RETRY_SECONDS
            return
        self._metrics.add("labelspace_model_loads_total", 1)
        logger.info("Serving version %s of %s.", served.version, self._settings.folder)
