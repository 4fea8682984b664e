"""The front of a sharded model: it knows labels and features, and asks shards for the ranking."""

from __future__ import annotations

import os
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace.base import LabelRanker
from labelspace.encoders.unit_rows import UnitRows
from labelspace.errors import EngineError, LabelspaceWarning, ModelFileError, UsageError
from labelspace.parameters import one_of
from labelspace.store import schema
from labelspace.store.folders import MANIFEST
from labelspace.topk import NO_LABEL, TopK

HOLDERS = ("processes", "ray", "inside")
MOST_SHARDS = 1024  # each is a process, or an actor: a stranger's folder must not fill a machine


class Shard(NamedTuple):
    """Where a shard is, and what it has to hold."""

    folder: Path
    n_labels: int
    n_features: int


class ShardLost(Exception):
    """A shard did not answer, whatever was tried."""


class ShardHolder(Protocol):
    """Whoever has a shard in memory."""

    def search(self, Z: csr_matrix, k: int) -> TopK:
        """Return the best labels of the shard, counted from its first; ShardLost if it cannot."""

    def close(self) -> None:
        """Let go of the shard."""


class ShardedRanker(LabelRanker):
    """A model of one classifier per label whose labels lie in shards.

    It is made of a trained model by :func:`labelspace.sharding.write_shards`.

    Parameters
    ----------
    holders : {"processes", "ray", "inside"}, default="processes"
        Who holds a shard each: a process of this machine, an actor of a Ray cluster, which starts
        again where its machine is lost, or this process, which maps them all.
    missing : {"error", "partial"}, default="error"
        What happens while a shard does not answer: an error, or an answer without its labels, with
        a warning and the shard's number in ``missing_shards_``.
    k, threshold, random_state, n_threads
        As in every estimator.

    Attributes
    ----------
    method_ : str
        The name of the method that trained the model.
    missing_shards_ : list of int
        Shards that did not take part in the last answer.
    starts_ : ndarray of shape (n_shards + 1,)
        The first label of each shard, and the number of labels.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LabelRanker._parameter_constraints,
        "holders": [one_of(*HOLDERS)],
        "missing": [one_of("error", "partial")],
    }
    _schema: ClassVar[schema.Schema] = {
        "method_": schema.text,
        "rows_": schema.part("UnitRows", n_features="n_features"),
        "starts_": schema.offsets("n_shards", "n_labels"),
    }
    method_: str
    rows_: UnitRows
    starts_: NDArray[np.int64]

    def __init__(
        self,
        *,
        holders: str = "processes",
        missing: Literal["error", "partial"] = "error",
        k: int = 5,
        threshold: float | None = None,
        random_state: Any = None,
        n_threads: int | None = None,
    ) -> None:
        super().__init__(k=k, threshold=threshold, random_state=random_state, n_threads=n_threads)
        self.holders = holders
        self.missing = missing

    _not_stored: ClassVar[tuple[str, ...]] = ("_shards", "missing_shards_")

    def _to_state(self) -> dict[str, Any]:
        return {name: part for name, part in vars(self).items() if name not in self._not_stored}

    @classmethod
    def _check_state(cls, state: schema.State, sizes: schema.Sizes) -> None:
        super()._check_state(state, sizes)
        if not 1 <= sizes.known["n_shards"] <= MOST_SHARDS:
            raise schema.Mismatch(f"starts_ is not of 1 to {MOST_SHARDS} shards")

    def found_in(self, folder: str | os.PathLike[str]) -> None:
        """Let the shards in a model folder be held; they are beside the model's own files."""
        shards = [
            Shard(_inside(Path(folder), number), n_labels, self.n_features_in_)
            for number, n_labels in enumerate(np.diff(self.starts_).tolist())
        ]
        self._shards: list[ShardHolder] = opened(self.holders, shards)

    def close(self) -> None:
        """Let go of all shards."""
        for shard in self._shards:
            shard.close()
        del self._shards

    def _fit(self, X: csr_matrix, Y: csr_matrix) -> None:
        raise UsageError(
            "A sharded model is made of a trained one: train one-vs-all, then call "
            "labelspace.sharding.write_shards."
        )

    def _predict_topk(self, X: csr_matrix, k: int) -> TopK:
        if "_shards" not in vars(self):
            raise UsageError(
                "This model's labels lie in shards that are not open: load it by Tagger.load."
            )
        Z = self.rows_.encode(X)
        with ThreadPoolExecutor(len(self._shards)) as pool:
            asked = [pool.submit(shard.search, Z, k) for shard in self._shards]
            answers = [one.exception() or one.result() for one in asked]
        found: list[tuple[int, TopK]] = []
        lost: list[int] = []
        for number, answer in enumerate(answers):
            if isinstance(answer, TopK):
                found.append((int(self.starts_[number]), answer))
            elif isinstance(answer, ShardLost):
                lost.append(number)
            else:
                raise answer
        self._tell_of(lost)
        return merged(found, X.shape[0], k)

    def _tell_of(self, lost: list[int]) -> None:
        self.missing_shards_ = lost
        if not lost:
            return
        which = f"{len(lost)} of {len(self._shards)} shards ({', '.join(map(str, lost))})"
        if self.missing == "error" or len(lost) == len(self._shards):
            raise EngineError(
                f"{which} did not answer: start their machines again, or let answers be partial."
            )
        warnings.warn(f"{which} did not answer: their labels are left out.", LabelspaceWarning, 2)


def merged(found: list[tuple[int, TopK]], n_rows: int, k: int) -> TopK:
    """Return the best of what shards found, each with its first label; equal ones by label.

    >>> one = TopK(np.array([[1, 0]]), np.array([[0.9, 0.2]], dtype=np.float32))
    >>> two = TopK(np.array([[0, -1]]), np.array([[0.5, 0.0]], dtype=np.float32))
    >>> merged([(0, one), (10, two)], 1, 2).labels
    array([[ 1, 10]])
    """
    if not found:
        return TopK.empty(n_rows, k)
    labels = np.concatenate(
        [np.where(top.labels == NO_LABEL, NO_LABEL, top.labels + first) for first, top in found],
        axis=1,
    )
    scores = np.concatenate([top.scores for _, top in found], axis=1)
    ranked = np.where(labels == NO_LABEL, -np.inf, scores)
    order = np.lexsort((labels, -ranked), axis=1)[:, :k]
    return TopK(np.take_along_axis(labels, order, 1), np.take_along_axis(scores, order, 1))


def shard_name(number: int) -> str:
    """Return the folder of a shard."""
    return f"shard-{number:04d}"


def _inside(folder: Path, number: int) -> Path:
    """Return the folder of a shard, or raise: it may be neither missing nor a link out of here."""
    shard = folder / shard_name(number)
    if not (shard / MANIFEST).is_file() or shard.is_symlink():
        raise ModelFileError(
            f"{folder} lacks its shard {shard.name}; restore the folder from a copy, or cut the "
            "model into shards again."
        )
    return shard


def opened(holders: str, shards: list[Shard]) -> list[ShardHolder]:
    """Let each shard be held."""
    if holders == "processes":
        from labelspace.sharding.processes import ShardProcess

        return [ShardProcess(*shard) for shard in shards]
    if holders == "ray":
        from labelspace.sharding.actors import shard_actors

        return shard_actors(shards)
    from labelspace.sharding.holder import ShardInside

    return [ShardInside(*shard) for shard in shards]
