"""Learning through the API: durable, in the same order everywhere, all or nothing.

A request is learned in this order: wait for the turn (of all workers), learn what others have
learned meanwhile, learn the rows, write them to the log and flush it, serve what has learned them,
answer. The rows are learned by a copy of the model, which shares all that learning leaves as it is,
on another thread than the model's: requests are answered meanwhile, and if anything goes wrong the
copy is forgotten.

So every worker learns all rows in the order of the log, request by request as they were first
learned, and a row that was answered for is on disk. Now and then the model folder itself is saved
("folded"), so that a start has little to learn again.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import threading
import time
from collections.abc import Sequence
from typing import Any

from labelspace import threads
from labelspace.errors import LabelspaceError
from labelspace.server.batcher import Batcher
from labelspace.server.learned_log import LearnedLog, Record
from labelspace.server.metrics import Metrics
from labelspace.server.quota import check_quota
from labelspace.server.refusal import Refusal, overloaded
from labelspace.server.schemas import LearnRow, Row
from labelspace.server.served import Served, identity_of, version_of
from labelspace.server.settings import ServerSettings
from labelspace.store import folders

# A model whose labels are numbers gets no column further than this beyond its last.
MAX_GAP = 1000

logger = logging.getLogger("labelspace.server")


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
        self._n_unsaved = 0
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
        if self._n_lessons >= self._settings.limits.lessons:
            raise overloaded()
        self._n_lessons += 1
        try:
            async with self._turn:
                answer = await asyncio.to_thread(self._learn, rows)
        finally:
            self._n_lessons -= 1
        self._count(len(rows))
        return answer

    async def look(self) -> None:
        """Learn what other workers have learned, and save the model when it is time."""
        if self._log.size != self._log_size:
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
            taught = self._batcher.served.copy()
            self._catch_up(taught)
            records = self._records(taught, rows)
            n_new = check_quota(self._settings.limits, self._log, taught, records)
            n_labels = taught.n_labels
            _learn_records(taught, records)
            try:
                self._log.append(records)
            except OSError as error:
                logger.error("%s could not be written: %s", self._log.path, error)
                raise Refusal(
                    503, "The rows could not be written to disk, so they were not learned."
                ) from None
            self._log.mark(taught.estimator, len(records), n_new)
            self._log_size = self._log.size
            self._batcher.replace(taught)
            return {
                "learned": len(records),
                "new_labels": [taught.name(label) for label in range(n_labels, taught.n_labels)],
                "n_examples": int(taught.estimator.n_examples_),
                "n_labels": taught.n_labels,
            }

    def _learn_from_others(self) -> int:
        with self._working, threads.limit(self._settings.n_threads):
            # Looked at before reading: what is written meanwhile is for the next time.
            size = self._log.size
            taught = self._batcher.served.copy()
            n_rows = self._catch_up(taught)
            self._batcher.replace(taught)
            self._log_size = size
            return n_rows

    def _adopt(self, served: Served) -> None:
        with self._working:
            is_shorter = self._log.match(served.estimator)
            self._catch_up(served)
            self._batcher.replace(served)
        if is_shorter:
            self._save()

    def _save(self) -> None:
        folder = self._settings.folder
        try:
            with self._working, folders.locked(folder):
                served = self._batcher.served
                if identity_of(folder) == served.identity:
                    served.tagger.save(folder)
                    served.identity, served.version = identity_of(folder), version_of(folder)
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
                n_labels = served.n_labels
                try:
                    _learn_records(served, request)
                except (MemoryError, OSError):
                    raise
                except Exception as error:
                    self._set_aside(request, n_rows, error)
                self._log.mark(served.estimator, len(request), served.n_labels - n_labels)
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

    def _records(self, served: Served, rows: Sequence[LearnRow]) -> list[Record]:
        """Return rows as the log has them, or refuse what the model cannot learn."""
        if why := served.tagger.why_it_cannot_learn():
            raise Refusal(409, why)
        if not served.tagger.takes_text and any(row.text is not None for row in rows):
            raise Refusal(422, "This model was trained on features: give 'features', not 'text'.")
        return [_record(row, _labels(served, row.labels)) for row in rows]


def _record(row: LearnRow, labels: list[Any]) -> Record:
    if row.text is not None:
        return {"text": row.text, "labels": labels}
    return {"features": row.features, "labels": labels}


def _labels(served: Served, labels: Sequence[int | str]) -> list[Any]:
    """Return labels as the log has them: names, or numbers where the model has no names.

    A name that several labels have is logged as the key of the one that is meant.
    """
    known = served.tagger.labels_
    has_names = known.names is not None
    told: list[Any] = []
    for label in labels:
        column = served.found(label)
        if column is not None:
            told.append(_logged(served, column) if has_names else column)
        elif has_names and isinstance(label, str) and label.strip():
            told.append(label.strip())
        elif has_names:
            raise Refusal(404, f"There is no label '{label}': see GET /v1/labels?q=.")
        else:
            told.append(_new_number(served, label))
    return list(dict.fromkeys(told))


def _logged(served: Served, column: int) -> str:
    name, key = served.tagger.labels_.name(column), served.catalog.key(column)
    if len(served.tagger.labels_.find_all(name)) == 1:
        return name
    if key is None:
        raise Refusal(422, f"Several labels are called '{name[:80]}', and none has a key.")
    return key


def _new_number(served: Served, label: int | str) -> int:
    number = int(label) if str(label).isascii() and str(label).isdigit() else -1
    if not 0 <= number < served.n_labels + MAX_GAP:
        raise Refusal(
            404,
            f"The labels of this model are numbers: a new one has to be less than "
            f"{served.n_labels + MAX_GAP}.",
        )
    return number


def _learn_records(served: Served, records: list[Record]) -> None:
    if not records:
        return
    rows = [
        Row.model_construct(text=record.get("text"), features=record.get("features"))
        for record in records
    ]
    X, _ = served.features(rows)
    labels = [record["labels"] for record in records]
    served.tagger.learn_rows(X, labels, texts=[row.text for row in rows])
