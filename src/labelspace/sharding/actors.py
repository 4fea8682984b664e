"""Actors of a Ray cluster that hold a shard each, and start again where a machine is lost."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from scipy.sparse import csr_matrix

from labelspace.errors import EngineError
from labelspace.sharding.holder import ShardInside
from labelspace.sharding.ranker import Shard, ShardHolder, ShardLost
from labelspace.topk import TopK

# Ray's defaults are 0: an actor whose machine is lost would be lost, and so would its answers.
OPTIONS: dict[str, Any] = {"max_restarts": -1, "max_task_retries": 2, "num_cpus": 0.25}
SECONDS = 120.0  # for an answer, with a restart in between


class ShardActor:
    """A shard in an actor."""

    def __init__(self, folder: str, n_labels: int, n_features: int) -> None:
        self._shard = ShardInside(Path(folder), n_labels, n_features)

    def search(self, Z: csr_matrix, k: int) -> tuple[Any, Any]:
        """Return labels and scores of the best."""
        top = self._shard.search(Z, k)
        return top.labels, top.scores


class HeldByActor:
    """The driver's side of an actor."""

    def __init__(self, ray: Any, folder: Path, n_labels: int, n_features: int) -> None:
        self._ray = ray
        actor = ray.remote(ShardActor).options(**OPTIONS)
        self._actor = actor.remote(str(folder), n_labels, n_features)

    def search(self, Z: csr_matrix, k: int) -> TopK:
        """Return the best labels of the shard for rows."""
        try:
            return TopK(*self._ray.get(self._actor.search.remote(Z, k), timeout=SECONDS))
        except (self._ray.exceptions.RayActorError, self._ray.exceptions.GetTimeoutError) as error:
            raise ShardLost(str(error)) from error

    def close(self) -> None:
        """End the actor."""
        self._ray.kill(self._actor)


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
