"""``manifest.json``: what a model folder holds, and the checksums by which damage is noticed.

The first thing in a manifest is its own sha256, made with zeros in the place of it, so that a
changed name is noticed as a changed array is. A file is read only if it is a plain one in the
folder itself: whoever made the folder does not choose what else is read.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from pathlib import Path
from typing import Any

from labelspace.errors import ModelFileError
from labelspace.store.folders import MANIFEST, existing, flush, flush_folder

FORMAT = 2
_KEYS = {"format", "class", "parameters", "label_names", "versions", "model", "files"}
_SIGNED = b'{"sha256": "'
_ZEROS = b"0" * 64


def write_manifest(manifest: dict[str, Any], folder: Path) -> None:
    """Write a manifest with its own checksum into a folder whose arrays are all there."""
    text = json.dumps({"sha256": _ZEROS.decode()} | manifest, ensure_ascii=False, allow_nan=False)
    unsigned = text.encode()
    digest = hashlib.sha256(unsigned).hexdigest().encode()
    with open(folder / MANIFEST, "wb") as file:
        file.write(_SIGNED + digest + unsigned[len(_SIGNED) + len(_ZEROS) :])
        flush(file)
    flush_folder(folder)


def read_manifest(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the manifest of the model in folder ``path``, without loading the model."""
    folder = existing(Path(path))
    try:
        content = plain_file(folder, MANIFEST).read_bytes()
        manifest = json.loads(content.decode())
    except FileNotFoundError:
        raise ModelFileError(
            f"{folder} has no {MANIFEST}: give a folder that 'labelspace train' or save() made."
        ) from None
    except (OSError, ValueError, RecursionError) as error:
        raise ModelFileError(
            f"{folder / MANIFEST} is damaged ({error}); restore the folder from a copy or train "
            "the model again."
        ) from None
    if not isinstance(manifest, dict) or not {"format", "model", "files"} <= manifest.keys():
        raise ModelFileError(
            f"{folder / MANIFEST} is not a labelspace manifest; train the model again."
        )
    if manifest["format"] != FORMAT:
        raise ModelFileError(
            f"{folder} has model format {manifest['format']} but this labelspace reads format "
            f"{FORMAT}: train it again, or install a labelspace that reads it (format 1 is 0.1's)."
        )
    if not _is_signed(content):
        raise ModelFileError(
            f"{folder / MANIFEST} is damaged (its checksum differs from its content); restore the "
            "folder from a copy or train the model again."
        )
    if not _is_whole(manifest):
        raise ModelFileError(
            f"{folder / MANIFEST} lacks what a manifest holds; restore the folder from a copy or "
            "train the model again."
        )
    return manifest


def is_plain_name(name: Any) -> bool:
    """Tell whether a name is that of a file in the folder itself, which can be shown to people.

    >>> [is_plain_name(name) for name in ("index_.keys.npy", "a/b.npy", "..", "a\\nb.npy", "")]
    [True, False, False, False, False]
    """
    return (
        isinstance(name, str)
        and Path(name).name == name
        and name not in ("", "..")
        and name.isprintable()
        and "\\" not in name
    )


def plain_file(folder: Path, name: str) -> Path:
    """Return a file of a folder, or raise: it may be no link out of it, no pipe, no folder."""
    file = folder / name
    found = os.stat(file)
    if not is_plain_name(name) or os.path.realpath(file.parent) != os.path.dirname(
        os.path.realpath(file)
    ):
        raise ModelFileError(
            f"{folder} names the file {_shown(name)}, which is not in it; restore the folder from "
            "a copy or train again."
        )
    if not stat.S_ISREG(found.st_mode):
        raise ModelFileError(
            f"{file} is no plain file; restore the folder from a copy or train again."
        )
    return file


def verify_files(folder: Path, manifest: dict[str, Any]) -> None:
    """Raise if a file that the manifest names is missing, elsewhere or damaged."""
    for name, expected in manifest["files"].items():
        try:
            file = plain_file(folder, name)
        except (OSError, ValueError):
            if is_plain_name(name) and os.path.exists(folder / name):
                raise
            raise ModelFileError(
                f"{folder} lacks its file {_shown(name)}; restore the folder from a copy or train "
                "again."
            ) from None
        if file.stat().st_size != expected["bytes"] or sha256_of(file) != expected["sha256"]:
            raise ModelFileError(
                f"{file} is damaged (its checksum differs from the manifest's); restore the "
                "folder from a copy or train the model again."
            )


def sha256_of(path: Path) -> str:
    """Return the checksum of a file."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 22):
            digest.update(block)
    return digest.hexdigest()


def _shown(name: Any) -> str:
    """Return a name as it can stand in a sentence, whatever a stranger has put into it."""
    return (str(name) if str(name).isprintable() else repr(name))[:80]


def _is_signed(content: bytes) -> bool:
    """Tell whether a manifest is as it was written."""
    begin, end = len(_SIGNED), len(_SIGNED) + len(_ZEROS)
    digest = hashlib.sha256(content[:begin])
    digest.update(_ZEROS)
    digest.update(content[end:])
    return content.startswith(_SIGNED) and content[begin:end] == digest.hexdigest().encode()


def _is_whole(manifest: dict[str, Any]) -> bool:
    """Tell whether a manifest has all its parts, each of the right kind."""
    files, model = manifest["files"], manifest["model"]
    return (
        manifest.keys() >= _KEYS
        and isinstance(files, dict)
        and all(
            isinstance(one, dict) and {"sha256", "bytes"} <= one.keys() for one in files.values()
        )
        and isinstance(model, dict)
        and isinstance(model.get("state"), dict)
    )
