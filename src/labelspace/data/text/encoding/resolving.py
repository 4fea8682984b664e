"""From what a user says to an encoder: a name, a folder, ``module:object``, or an object.

Nothing is downloaded. A name with a slash is looked for among the models that Hugging Face's tools
have put on this machine, and a sentence says how to get it there. What a model folder names is used
unasked only if it is one of ours; code and folders have to be listed as trusted, in
``Tagger.load(path, trusted=[...])`` or ``LABELSPACE_TRUSTED``, or given with ``encoder=``.
"""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from labelspace.data.text.encoding.precomputed import NAME as PRECOMPUTED
from labelspace.data.text.encoding.shipped import SHIPPED, check_installed, shipped_encoder
from labelspace.data.text.encoding.text_encoder import TextEncoder
from labelspace.errors import ModelFileError, UsageError, nearest

_given: ContextVar[Any] = ContextVar("_given", default=None)


@contextmanager
def giving(encoder: Any) -> Iterator[None]:
    """Let models that are loaded in the block use this encoder, if it is the one they need."""
    before = _given.set(encoder)
    try:
        yield
    finally:
        _given.reset(before)


def given_encoder() -> Any:
    """Return the encoder that was given to who loads, if any was."""
    return _given.get()


def encoder_for(said: Any) -> TextEncoder | None:
    """Return the encoder that is meant; None for vectors that come with their texts.

    >>> encoder_for(lambda texts: [[1.0, 0.0]] * len(texts)).dim
    2
    >>> encoder_for("precomputed")
    """
    if isinstance(said, TextEncoder):
        return said
    if not isinstance(said, (str, Path)):
        return TextEncoder(said, name_of_object(said))
    found = _named(said, str(said))
    if found is not None:
        found.found_by = str(said)
    return found


def _named(said: str | Path, name: str) -> TextEncoder | None:
    if name == PRECOMPUTED:
        return None
    if name in SHIPPED:
        return shipped_encoder(name)
    if re.fullmatch(r"[\w.]+:\w+", name):
        return TextEncoder(_imported(name), name)
    if isinstance(said, Path) or "/" in name or Path(name).is_dir():
        return TextEncoder(_from_folder(_folder(name)), name)
    known = (*SHIPPED, PRECOMPUTED)
    raise UsageError(
        f"There is no encoder '{name}'{nearest(name, known)} A folder, a name such as "
        "org/model, and 'module:object' do as well."
    )


def check_known(name: str) -> bool:
    """Tell whether an encoder that a model names is ours; raise if its package is missing."""
    if name in SHIPPED:
        try:
            check_installed(name)
        except UsageError as error:
            raise ModelFileError(str(error)) from None
        return True
    return name == PRECOMPUTED


def name_of_object(encoder: Any) -> str:
    """Return what an encoder that was given as an object is called: by its type, or its name."""
    named = encoder if hasattr(encoder, "__name__") else type(encoder)
    return f"{str(named.__module__).partition('.')[0]}.{named.__name__}"


def _imported(name: str) -> Any:
    module, _, attribute = name.partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise UsageError(
            f"The encoder {name} was not found ({error}): check the name, and that Python finds "
            "the module."
        ) from None
    return found() if isinstance(found, type) else found


def _folder(name: str) -> Path:
    """Return where a model's files are on this machine; nothing is fetched."""
    if Path(name).expanduser().is_dir():
        return Path(name).expanduser()
    try:
        from huggingface_hub import snapshot_download

        return Path(snapshot_download(name, local_files_only=True))
    except ImportError:
        found = None
    except Exception as error:  # the hub's own family of errors, and what its names must not be
        found = error
    told = "" if found is None else f" ({type(found).__name__})"
    raise UsageError(
        f"The encoder {name} is neither a folder nor a model on this machine{told}, and nothing is "
        f"downloaded unasked: run 'hf download {name}' first, or give the folder that it is in."
    )


def _from_folder(folder: Path) -> Any:
    """Load what is in a folder with the package that it was made for."""
    try:
        config = json.loads((folder / "config.json").read_text("utf-8"))
    except (OSError, ValueError):
        config = {}
    package = "sentence-transformers"
    try:
        if config.get("model_type") == "model2vec":
            package = "model2vec"
            from model2vec import StaticModel

            return StaticModel.from_pretrained(folder)
        if (folder / "modules.json").is_file():
            from sentence_transformers import SentenceTransformer

            return SentenceTransformer(str(folder), local_files_only=True)
    except ImportError:
        raise UsageError(
            f"{folder} holds an encoder of {package}, which is not installed: pip install {package}"
        ) from None
    raise UsageError(
        f"{folder} holds no encoder of sentence-transformers or model2vec (it has no "
        "modules.json): give another folder, or an object that encodes texts."
    )
