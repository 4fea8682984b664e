"""Learning through the API: durable, in the same order everywhere, without a second copy.

A request is learned in this order: wait for the turn (of all workers), learn what others have
learned meanwhile, learn the rows in memory, write them to the log and flush it, answer. So every
worker learns all rows in the order of the log and numbers new labels alike, and a row that was
answered for is on disk. Now and then the model folder itself is saved ("folded"), so that a start
has little to learn again.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import time
from collections.abc import Sequence
from typing import Any

from labelspace import threads
from labelspace.errors import LabelspaceError
from labelspace.server.batcher import Batcher
from labelspace.server.learned_log import LearnedLog, Record
from labelspace.server.metrics import Metrics
from labelspace.server.refusal import Refusal
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
        async with self._turn:
            lock = self._log.locked()
            await asyncio.to_thread(lock.__enter__)
            try:
                await self._batcher.call(self._catch_up, limited=False)
                answer, records = await self._batcher.call(
                    lambda served: self._learned(served, rows), limited=False
                )
                await asyncio.to_thread(self._log.append, records)
                ranker = self._batcher.served.estimator
                self._log.mark(ranker, self._log.n_learned(ranker) + len(records))
                self._log_size = self._log.size
            except Refusal:
                raise
            except BaseException as error:
                # The model in memory may be ahead of the disk: go back to what is on disk.
                self._batcher.served.identity = None
                if not isinstance(error, OSError):
                    raise
                logger.error("%s could not be written: %s", self._log.path, error)
                raise Refusal(
                    503, "The rows could not be written to disk, so they were not learned."
                ) from None
            finally:
                lock.__exit__(None, None, None)
            self._count(len(records))
            return answer

    async def look(self) -> None:
        """Learn what other workers have learned, and save the model when it is time."""
        if self._log.size != self._log_size:
            async with self._turn:
                n_rows = await self._batcher.call(self._catch_up, limited=False)
                self._log_size = self._log.size
            logger.info("Learned %d rows that another worker was taught.", n_rows)
        idle = time.monotonic() - self._last
        if self._n_unsaved >= self._settings.fold_rows or (
            self._n_unsaved and idle >= self._settings.fold_seconds
        ):
            await self.save()

    async def adopt(self, served: Served) -> None:
        """Teach a newly loaded model what the log has beyond it, and serve it."""
        async with self._turn:
            await asyncio.to_thread(self._catch_up_aside, served)
            self._batcher.replace(served)

    def start(self, served: Served) -> None:
        """Teach the first model what the log has beyond it, before anything is served."""
        n_rows = self._catch_up_aside(served)
        self._n_unsaved = n_rows
        if n_rows:
            logger.info("Learned %d rows again from %s.", n_rows, self._log.path)

    async def save(self) -> None:
        """Save the model folder with what was learned, unless another process replaced it."""
        async with self._turn:
            if self._n_unsaved:
                await asyncio.to_thread(self._save)

    def _save(self) -> None:
        served, folder = self._batcher.served, self._settings.folder
        try:
            with folders.locked(folder):
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
        """Learn the rows of the log that ``served`` has not; return how many."""
        before = n_rows = self._log.n_learned(served.estimator)
        waiting: list[Record] = []
        for request in self._log.requests_after(n_rows):
            if n_rows == before and (why := served.tagger.why_it_cannot_learn()):
                # The rows stay in the log, for this model's successor.
                logger.warning("Rows of %s are not learned: %s", self._log.path, why)
                return 0
            # New labels are numbered request by request, as they were when first learned; other
            # requests are learned together, which is quicker.
            labels = (label for row in request for label in row["labels"])
            if any(served.tagger.labels_.find(label) is None for label in labels):
                _learn_records(served, waiting)
                _learn_records(served, request)
                waiting = []
            else:
                waiting += request
            n_rows += len(request)
        _learn_records(served, waiting)
        if n_rows > before:
            self._log.mark(served.estimator, n_rows)
        return n_rows - before

    def _catch_up_aside(self, served: Served) -> int:
        """The same for a model that is not served yet, on any thread."""
        with threads.limit(self._settings.n_threads):
            return self._catch_up(served)

    def _learned(
        self, served: Served, rows: Sequence[LearnRow]
    ) -> tuple[dict[str, Any], list[Record]]:
        if why := served.tagger.why_it_cannot_learn():
            raise Refusal(409, why)
        if not served.tagger.takes_text and any(row.text is not None for row in rows):
            raise Refusal(422, "This model was trained on features: give 'features', not 'text'.")
        records = [_record(row, _labels(served, row.labels)) for row in rows]
        n_before = served.n_labels
        _learn_records(served, records)
        new = [served.name(label) for label in range(n_before, served.n_labels)]
        answer = {
            "learned": len(records),
            "new_labels": new,
            "n_examples": int(served.estimator.n_examples_),
            "n_labels": served.n_labels,
        }
        return answer, records


def _record(row: LearnRow, labels: list[Any]) -> Record:
    if row.text is not None:
        return {"text": row.text, "labels": labels}
    return {"features": row.features, "labels": labels}


def _labels(served: Served, labels: Sequence[int | str]) -> list[Any]:
    """Return labels as the log has them: names, or numbers where the model has no names."""
    known = served.tagger.labels_
    has_names = known.names is not None
    told: list[Any] = []
    for label in labels:
        column = known.find(label)
        if column is not None:
            told.append(known.name(column) if has_names else column)
        elif has_names and isinstance(label, str) and label.strip():
            told.append(label.strip())
        elif has_names:
            told.extend(served.known_labels([label]))  # raises: there is no such number
        else:
            told.append(_new_number(served, label))
    return list(dict.fromkeys(told))


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
