"""Learning through the API: durable, in the same order everywhere, all or nothing.

A request is learned in this order: wait for the turn (of all workers), learn what others have
learned meanwhile, learn the rows, write them to the log and flush it, serve what has learned them,
answer. The rows are learned by a copy of the model, which shares all that learning leaves as it is,
on another thread than the model's: requests are answered meanwhile, and if anything goes wrong the
copy is forgotten.

So every worker learns all rows in the order of the log, request by request as they were first
learned, and a row that was answered for is on disk. Now and then the model folder itself is saved
("folded"), so that a start has little to learn again.

The last few states are kept, so that the last request can be undone: it is taken out of the log,
the state before it is served again, and workers that have learned it go back as well.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import threading
import time
from collections import deque
from collections.abc import Sequence
from typing import Any

from labelspace import threads
from labelspace.errors import LabelspaceError
from labelspace.server.batcher import Batcher
from labelspace.server.learned_log import LearnedLog, Record
from labelspace.server.lessons import changed_tags, learn_records, records_of, told_of
from labelspace.server.metrics import Metrics
from labelspace.server.quota import check_quota
from labelspace.server.refusal import Refusal, overloaded
from labelspace.server.schemas import LearnRow
from labelspace.server.served import Served, identity_of, version_of
from labelspace.server.settings import ServerSettings
from labelspace.server.trial_rows import TrialRows
from labelspace.store import folders

logger = logging.getLogger("labelspace.server")

# States of the model before each of the last requests, to go back to.
N_STATES = 5


class Learning:
    """Teaches the model of a batcher."""

    def __init__(self, settings: ServerSettings, batcher: Batcher, metrics: Metrics) -> None:
        self._settings = settings
        self._batcher = batcher
        self._metrics = metrics
        self._log = LearnedLog(settings.folder)
        self._turn = asyncio.Lock()
        # Held by the thread that works: a request that is given up leaves it at work.
        self._working = threading.Lock()
        self._n_lessons = 0
        self._log_size = self._log.size
        self._n_undone = self._log.n_undone
        self._states: deque[Served] = deque(maxlen=N_STATES)
        self._trial_rows: TrialRows | None = None
        self._n_unsaved = 0
        self._n_saved = 0  # rows of the log that the model folder has learned
        self._last = time.monotonic()

    @property
    def is_on(self) -> bool:
        """The server was started with a token."""
        return self._settings.token is not None

    def check_token(self, header: str | None) -> None:
        """Refuse a request that may not teach."""
        token = self._settings.token
        if token is None:
            raise Refusal(403, "Learning is off: start the server with --token to allow it.")
        scheme, _, given = (header or "").partition(" ")
        right = hmac.compare_digest(given.strip().encode(), token.encode())
        if scheme.lower() != "bearer" or not right:
            raise Refusal(
                401,
                "The token is missing or wrong: send the header 'Authorization: Bearer TOKEN'.",
                {"WWW-Authenticate": "Bearer"},
            )

    async def learn(self, rows: Sequence[LearnRow]) -> dict[str, Any]:
        """Learn rows, all or none; they are on disk when this returns."""
        answer = await self._in_turn(self._learn, rows)
        self._count(len(rows))
        return answer

    async def preview(self, rows: Sequence[LearnRow]) -> dict[str, Any]:
        """Return what rows would change, if they were learned."""
        return await self._in_turn(self._preview, rows)

    async def undo(self) -> dict[str, Any]:
        """Forget the last request that was learned."""
        return await self._in_turn(self._undo)

    async def lessons(self) -> dict[str, Any]:
        """Return how many requests were learned, and the last."""
        return await self._in_turn(self._lessons)

    async def _in_turn(self, work: Any, *given: Any) -> dict[str, Any]:
        if self._n_lessons >= self._settings.limits.lessons:
            raise overloaded()
        self._n_lessons += 1
        try:
            async with self._turn:
                return await asyncio.to_thread(work, *given)
        finally:
            self._n_lessons -= 1

    async def look(self) -> None:
        """Learn what other workers have learned, and save the model when it is time."""
        if self._log.size != self._log_size or self._log.n_undone != self._n_undone:
            async with self._turn:
                n_rows = await asyncio.to_thread(self._learn_from_others)
            logger.info("Learned %d rows that another worker was taught.", n_rows)
        idle = time.monotonic() - self._last
        if self._n_unsaved >= self._settings.fold_rows or (
            self._n_unsaved and idle >= self._settings.fold_seconds
        ):
            await self.save()

    async def adopt(self, served: Served) -> None:
        """Teach a newly loaded model what the log has beyond it, and serve it."""
        async with self._turn:
            await asyncio.to_thread(self._adopt, served)

    def start(self, served: Served) -> None:
        """Teach the first model what the log has beyond it, before anything is served."""
        is_shorter = self._log.match(served.estimator)
        self._n_saved = self._log.n_learned(served.estimator)
        n_rows = self._catch_up(served)
        self._n_unsaved = n_rows
        if is_shorter:
            self._save()
        if n_rows:
            logger.info("Learned %d rows again from %s.", n_rows, self._log.path)

    async def save(self) -> None:
        """Save the model folder with what was learned, unless another process replaced it."""
        async with self._turn:
            if self._n_unsaved:
                await asyncio.to_thread(self._save)

    def _learn(self, rows: Sequence[LearnRow]) -> dict[str, Any]:
        with self._working, self._log.locked(), threads.limit(self._settings.n_threads):
            taught = self._caught_up()
            records = records_of(taught, rows)
            n_new = check_quota(self._settings.limits, self._log, taught, records)
            before = taught.copy()
            learn_records(taught, records)
            try:
                request = self._log.append(records)
            except OSError as error:
                logger.error("%s could not be written: %s", self._log.path, error)
                raise Refusal(
                    503, "The rows could not be written to disk, so they were not learned."
                ) from None
            self._states.append(before)
            self._log.mark(taught.estimator, len(records), n_new, request)
            self._log_size = self._log.size
            self._batcher.replace(taught)
            return told_of(taught, before.n_labels, len(records))

    def _preview(self, rows: Sequence[LearnRow]) -> dict[str, Any]:
        with self._working, self._log.locked(), threads.limit(self._settings.n_threads):
            before = self._caught_up()
            self._batcher.replace(before)
            if self._trial_rows is None:
                self._trial_rows = TrialRows(self._settings.held_out_path, before)
            taught = before.copy()
            learn_records(taught, records_of(taught, rows))
            changes = self._trial_rows.changes(before, taught)
            told = {"changes": changes, "tags": changed_tags(before, taught, rows[0])}
            return {**told_of(taught, before.n_labels, 0), **told}

    def _undo(self) -> dict[str, Any]:
        with self._working, self._log.locked(), threads.limit(self._settings.n_threads):
            now = self._caught_up()
            request = self._log.last_request()
            if not request:
                raise Refusal(409, "There is no lesson to undo.")
            before = self._state_before(now, len(request))
            if before is None:
                raise Refusal(
                    409,
                    "The last lesson was learned before the server was started, so that it cannot "
                    "be undone any more.",
                )
            restored = before.copy()
            restored.identity, restored.version = now.identity, now.version
            self._batcher.replace(restored)
            if self._n_saved > self._log.n_learned(restored.estimator):
                # First the folder: it must not know what the log does not.
                self._save_folder()
            self._log.take_back(request)
            self._n_undone, self._log_size = self._log.n_undone, self._log.size
            self._states.remove(before)
            return {**self._described(restored), "undone": len(request)}

    def _lessons(self) -> dict[str, Any]:
        with self._working, self._log.locked():
            return self._described(self._batcher.served)

    def _described(self, served: Served) -> dict[str, Any]:
        request = self._log.last_request()
        last = None
        if request:
            can_undo = self._state_before(served, len(request)) is not None
            last = {
                "rows": len(request),
                "text": (request[0].get("text") or "")[:200] or None,
                "labels": request[0]["labels"],
                "rejected": request[0].get("rejected"),
                "can_undo": can_undo,
            }
        return {
            "n": self._log.n_learned(served.estimator),
            "n_examples": int(served.estimator.n_examples_),
            "n_labels": served.n_labels,
            "last": last,
        }

    def _state_before(self, served: Served, n_rows: int) -> Served | None:
        """Return the state that had not learned the last ``n_rows`` yet, if it is kept."""
        wanted = self._log.n_learned(served.estimator) - n_rows
        for state in reversed(self._states):
            if self._log.n_learned(state.estimator) == wanted:
                return state
        return None

    def _caught_up(self) -> Served:
        """Return a copy of what is served that has learned what the log has, and nothing else."""
        served = self._batcher.served
        if self._log.n_undone != self._n_undone:
            served = self._without_undone(served)
            self._n_undone = self._log.n_undone
        taught = served.copy()
        self._catch_up(taught)
        return taught

    def _without_undone(self, served: Served) -> Served:
        """Return the newest state of which the log has all."""
        while not self._log.holds(served.estimator):
            if not self._states:
                told = self._settings
                return Served.load(told.folder, told.n_threads, told.encoder)
            identity, version = served.identity, served.version
            served = self._states.pop().copy()
            served.identity, served.version = identity, version
        return served

    def _learn_from_others(self) -> int:
        # Locked, so that what another worker takes back is not seen half taken back.
        with self._working, self._log.locked(), threads.limit(self._settings.n_threads):
            size = self._log.size
            n_before = self._log.n_learned(self._batcher.served.estimator)
            taught = self._caught_up()
            self._batcher.replace(taught)
            self._log_size = size
            return max(0, self._log.n_learned(taught.estimator) - n_before)

    def _adopt(self, served: Served) -> None:
        with self._working:
            is_shorter = self._log.match(served.estimator)
            self._states.clear()
            self._trial_rows = None
            self._n_saved = self._log.n_learned(served.estimator)
            self._catch_up(served)
            self._batcher.replace(served)
        if is_shorter:
            self._save()

    def _save(self) -> None:
        with self._working:
            self._save_folder()

    def _save_folder(self) -> None:
        folder = self._settings.folder
        try:
            with folders.locked(folder):
                served = self._batcher.served
                if identity_of(folder) == served.identity:
                    served.tagger.save(folder)
                    served.identity, served.version = identity_of(folder), version_of(folder)
                    self._n_saved = self._log.n_learned(served.estimator)
                    logger.info("Saved %s with %d learned rows.", folder, self._n_unsaved)
            self._n_unsaved = 0
        except (OSError, LabelspaceError) as error:
            # Nothing is lost: the rows are in the log.
            self._last = time.monotonic()
            logger.error("The model could not be saved: %s", error)

    def _count(self, n_rows: int) -> None:
        self._n_unsaved += n_rows
        self._last = time.monotonic()
        self._metrics.add("labelspace_rows_learned_total", n_rows)

    def _catch_up(self, served: Served) -> int:
        """Learn the requests of the log that ``served`` has not; return how many rows they had.

        One that cannot be learned is set aside: the others, and the server, go on without it.
        """
        n_before = n_rows = self._log.n_learned(served.estimator)
        with threads.limit(self._settings.n_threads):
            for request in self._log.requests_after(n_rows):
                if n_rows == n_before and (why := served.tagger.why_it_cannot_learn()):
                    # The rows stay in the log, for this model's successor.
                    logger.warning("Rows of %s are not learned: %s", self._log.path, why)
                    return 0
                n_labels, before = served.n_labels, served.copy()
                try:
                    learn_records(served, request)
                    self._states.append(before)
                except (MemoryError, OSError):
                    raise
                except Exception as error:
                    self._set_aside(request, n_rows, error)
                n_new = served.n_labels - n_labels
                self._log.mark(served.estimator, len(request), n_new, request[-1]["request"])
                n_rows += len(request)
        return n_rows - n_before

    def _set_aside(self, request: list[Record], n_before: int, error: Exception) -> None:
        self._log.set_aside(request)
        logger.error(
            "Lines %d to %d of %s cannot be learned (%s): they are set aside in %s; teach them "
            "again as they should be.",
            n_before + 1,
            n_before + len(request),
            self._log.path,
            error.sentence if isinstance(error, Refusal) else f"{type(error).__name__}: {error}",
            self._log.aside,
        )
