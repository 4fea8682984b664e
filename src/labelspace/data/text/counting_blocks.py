"""Words of many texts counted by an engine: in parts, by its workers, and put together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from labelspace import engine
from labelspace.data.text.counting import merged_counts
from labelspace.data.text.packed_texts import PackedTexts

# Texts that a worker counts at a time, at least and at most.
LEAST, MOST = 2000, 100_000


def count_in_blocks(texts: Iterable[str], how: dict[str, Any]) -> tuple[csr_matrix, list[str]]:
    """Return what ``TextFeatures(**how).count`` does: by the engine in use, and the same."""
    packed = PackedTexts.of(texts)
    cut = engine.blocks_of_equal_work(np.diff(packed.starts) + 1, least=LEAST, most=MOST)
    ranges = [(int(rows[0]), int(rows[-1]) + 1) for rows in cut]
    if len(ranges) < 2:  # not worth a file
        return _features(how).count(packed.all())
    sizes = [end - first for first, end in ranges]
    parts = engine.run_blocks(_count_part, (*packed, how), ranges, "counting words", sizes)
    counted = ((counts, list(PackedTexts(*words).all())) for counts, *words in parts)
    return merged_counts(counted, how["n_hashes"])


def _count_part(
    inputs: tuple[Any, ...], block: tuple[int, int]
) -> tuple[csr_matrix, NDArray[np.uint8], NDArray[np.int64]]:
    """Count the features in some of the texts: what a worker does."""
    content, starts, how = inputs
    counts, found = _features(how).count(PackedTexts(content, starts).between(*block))
    return counts, *PackedTexts.of(found)


def _features(how: dict[str, Any]) -> Any:
    from labelspace.data.text.features import TextFeatures  # which comes here to count

    return TextFeatures(**how)
