"""Cutting the labels of a trained model into shards."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from labelspace import store
from labelspace.base import LabelRanker
from labelspace.errors import UsageError
from labelspace.registry import method_name
from labelspace.search.sparse import SparseIndex
from labelspace.sharding.ranker import MOST_SHARDS, ShardedRanker, shard_name
from labelspace.store.folders import flush_folder, replacing
from labelspace.store.saving import write_model

# What a front takes from the model that it stands for.
_KEPT = ("rows_", "_labels", "n_features_in_", "n_examples_", "label_counts_", "feature_names_")


def write_shards(model: Any, out: Path, n_shards: int, **how: Any) -> list[int]:
    """Write a trained model to the folder ``out`` with its labels in shards of equal non-zeros.

    Parameters
    ----------
    model : LabelRanker or Tagger
        Trained; of a method that has one linear classifier per label, such as one-vs-all.
    out : Path
        A new folder, or one that has a model; ``Tagger.load`` reads it, and so do the command line
        and the server.
    n_shards : int
    how
        Parameters of :class:`labelspace.sharding.ranker.ShardedRanker`: ``holders``, ``missing``.

    Returns
    -------
    starts : list of int
        The first label of each shard, and the number of labels.
    """
    estimator = getattr(model, "estimator_", model)
    index = getattr(estimator, "index_", None)
    if not isinstance(index, SparseIndex) or index.n_keys != estimator.n_labels_:
        raise UsageError(
            f"{method_name(type(estimator))} has no classifier for each label on its own, so that "
            "its labels cannot lie in shards: use one-vs-all, or a machine with more memory."
        )
    most = min(index.n_keys, MOST_SHARDS)
    if not 1 <= n_shards <= most:
        raise UsageError(
            f"{n_shards} shards of {index.n_keys} labels are not possible: give 1 to {most}."
        )
    keys = csr_matrix(index.keys)
    starts = _starts(keys, n_shards)
    front = _front(estimator, starts, how)
    with replacing(Path(out)) as folder:
        if estimator is model:
            write_model(front, folder)
        else:
            stands_for = store.snapshot(model)
            stands_for.estimator_ = front
            write_model(stands_for, folder)
        for number, (start, end) in enumerate(pairwise(starts)):
            shard = SparseIndex(keys[start:end], index.offsets[start:end], index.n_dense)
            (folder / shard_name(number)).mkdir()
            write_model(shard, folder / shard_name(number))
        flush_folder(folder)
    return starts


def _starts(keys: csr_matrix, n_shards: int) -> list[int]:
    work = np.diff(keys.indptr) + 1
    ends = np.cumsum(work)
    wanted = ends[-1] * np.arange(1, n_shards) / n_shards
    cuts = np.searchsorted(ends, wanted) + 1
    # Each has a label at least, whatever a single one costs.
    cuts = np.maximum(cuts, np.arange(1, n_shards))
    cuts = np.minimum(np.maximum.accumulate(cuts), keys.shape[0] - np.arange(n_shards - 1, 0, -1))
    return [0, *(int(cut) for cut in cuts), keys.shape[0]]


def _front(estimator: LabelRanker, starts: list[int], how: dict[str, Any]) -> ShardedRanker:
    own = {name: getattr(estimator, name) for name in ("k", "threshold", "n_threads")}
    front = ShardedRanker(**own, **how)
    front._validate_params()
    for name in _KEPT:
        setattr(front, name, getattr(estimator, name))
    front.method_ = method_name(type(estimator))
    front.starts_ = np.array(starts, dtype=np.int64)
    return front
