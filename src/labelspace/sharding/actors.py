"""Actors of a Ray cluster that hold a shard each, and start again where a machine is lost."""

from __future__ import annotations

import logging
import time
from pathlib import Path
from typing import Any

from scipy.sparse import csr_matrix

from labelspace.errors import EngineError, ModelFileError
from labelspace.sharding.holder import ShardInside
from labelspace.sharding.ranker import Shard, ShardHolder, ShardLost
from labelspace.topk import TopK

# Ray's defaults are 0: an actor whose machine is lost would be lost, and so would its answers.
OPTIONS: dict[str, Any] = {"max_restarts": -1, "max_task_retries": 2, "num_cpus": 0.25}
SECONDS = 120.0  # for an answer, with a restart in between
PAUSE = 0.5  # seconds before an actor that was lost is asked again


class ShardActor:
    """A shard in an actor."""

    def __init__(self, folder: str, n_labels: int, n_features: int) -> None:
        self._shard = ShardInside(Path(folder), n_labels, n_features)

    def search(self, Z: csr_matrix, k: int) -> tuple[Any, Any]:
        """Return labels and scores of the best."""
        top = self._shard.search(Z, k)
        return top.labels, top.scores


class HeldByActor:
    """The driver's side of an actor; who is asked again, or anew, gives the same answer."""

    def __init__(self, ray: Any, folder: Path, n_labels: int, n_features: int) -> None:
        self._ray = ray
        self._shard = str(folder), n_labels, n_features
        self._start()

    def search(self, Z: csr_matrix, k: int) -> TopK:
        """Return the best labels of the shard for rows."""
        ends = time.monotonic() + SECONDS
        while True:
            asked, left = self._actor.search.remote(Z, k), max(ends - time.monotonic(), PAUSE)
            try:
                return TopK(*self._ray.get(asked, timeout=left))
            except self._ray.exceptions.GetTimeoutError as error:
                raise ShardLost(str(error)) from error
            except self._ray.exceptions.RayActorError as error:
                if error.actor_init_failed and ModelFileError.__name__ in str(error):
                    raise ModelFileError(_told(error)) from None
                if time.monotonic() > ends:
                    raise ShardLost(str(error)) from error
                # While nobody knows yet that a machine is gone, Ray's own retries are soon used up.
                time.sleep(PAUSE)
                if isinstance(error, self._ray.exceptions.ActorDiedError):
                    self._start()

    def close(self) -> None:
        """End the actor."""
        self._ray.kill(self._actor)

    def _start(self) -> None:
        self._actor = self._ray.remote(ShardActor).options(**OPTIONS).remote(*self._shard)


def _told(error: BaseException) -> str:
    """Return the sentence at the end of what an actor raised."""
    return str(error).strip().splitlines()[-1].partition(": ")[2]


def shard_actors(shards: list[Shard]) -> list[ShardHolder]:
    """Start an actor for each shard on the cluster that this process is in, or can join."""
    try:
        import ray
    except ImportError:
        raise EngineError(
            "Actors need Ray, which is not installed: pip install 'labelspace[cluster]'."
        ) from None
    if not ray.is_initialized():
        ray.init("auto", logging_level=logging.WARNING)
    return [HeldByActor(ray, folder.absolute(), *sizes) for folder, *sizes in shards]
