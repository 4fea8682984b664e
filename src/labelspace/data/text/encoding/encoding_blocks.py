"""Vectors of many texts made by an engine: in parts, by its workers, the same as by one machine.

Workers find the encoder by what a person called it, and check that it is the one that the driver
has: by what it makes of the probe texts. An encoder that was given as an object stays with the
driver. Texts are asked for in the same companies everywhere, since an encoder's last bits may
depend on which texts it is given together.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelspace import engine
from labelspace.data.text.encoding.text_encoder import TextEncoder
from labelspace.data.text.packed_texts import PackedTexts
from labelspace.errors import EngineError, LabelspaceError

COMPANY = 2048  # texts that are looked up or asked for together, by the driver as well
PART = 4 * COMPANY  # texts of a block
STAGE = 64 * PART  # texts that the driver has in memory at a time

Vectors = NDArray[np.float16]


def can_be_cut(encoder: TextEncoder | None) -> bool:
    """Tell whether an engine is in use whose workers find the encoder."""
    return engine.is_active() and encoder is not None and encoder.found_by is not None


def encode_in_blocks(texts: Sequence[str], encoder: TextEncoder, dim: int, kind: str) -> Vectors:
    """Return the vectors of texts, made by the engine in use."""
    about = {
        "encoder": encoder.found_by,
        "max_chars": encoder.max_chars,
        "probes": encoder.probes,
        "dim": dim,
        "kind": kind,
    }
    n_texts = len(texts)
    ranges = [(first, min(first + PART, n_texts)) for first in range(0, n_texts, PART)]
    sizes = [end - first for first, end in ranges]
    inputs = (*PackedTexts.of(texts), about)
    what = "texts" if kind == "document" else "names of labels"
    return np.concatenate(engine.run_blocks(encode_part, inputs, ranges, f"Encoding {what}", sizes))


def encode_part(inputs: tuple[Any, ...], block: tuple[int, int]) -> Vectors:
    """Return the vectors of some of the texts: what a worker does."""
    from labelspace.data.text.encoding.encoding_job import EncodingJob  # which comes here

    content, starts, about = inputs
    texts = list(PackedTexts(content, starts).between(*block))
    try:
        encoder = _encoder(about["encoder"]).limited_to(about["max_chars"])
        encoder.check_same(about["probes"], about["encoder"])
    except LabelspaceError as error:
        raise EngineError(f"A worker has not the encoder of the driver: {error}") from None
    job = EncodingJob(encoder, about["dim"], kind=about["kind"])
    return np.concatenate(
        [job.run_long(texts[at : at + COMPANY]) for at in range(0, len(texts), COMPANY)]
    )


@lru_cache(maxsize=1)
def _encoder(found_by: str) -> TextEncoder:
    from labelspace.data.text.encoding.resolving import encoder_for

    encoder = encoder_for(found_by)
    assert encoder is not None
    return encoder
