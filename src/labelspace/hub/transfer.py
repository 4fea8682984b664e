"""Push and pull: all files of a model, checked on both sides by the checksums of its manifest."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from labelspace import progress
from labelspace.errors import ModelFileError, UsageError
from labelspace.hub.places import place_at
from labelspace.store import read_manifest
from labelspace.store.folders import MANIFEST, check_replaceable, replacing
from labelspace.store.manifest import is_plain_name, verify_files

CARD = "README.md"


def push(
    model: str | os.PathLike[str],
    address: str,
    *,
    card: str | None = None,
    private: bool = True,
    message: str | None = None,
) -> str:
    """Put the model in a folder somewhere else, and return where it is.

    Parameters
    ----------
    model : path
        The model folder; its files are checked first.
    address : str
        A folder, ``hf://owner/name[@revision]``, or a URL that fsspec knows, as
        ``s3://bucket/name``.
    card : str, optional
        What the ``README.md`` beside the model says; one that is in the folder stays unless given.
    private : bool, default=True
        Whether a repository of the Hugging Face hub that is new is private.
    message : str, optional
        Of the commit on the Hugging Face hub.

    Examples
    --------
    >>> import tempfile
    >>> from labelspace import Tagger
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Tagger("most-common").fit(["a red ball"], [["red"]]).save(folder + "/model")
    ...     _ = push(folder + "/model", folder + "/shared/red")
    ...     _ = pull(folder + "/shared/red", folder + "/mine")
    ...     Tagger.load(folder + "/mine").tag("a ball")[0].name
    'red'
    """
    folder = Path(model)
    manifest = read_manifest(folder)
    verify_files(folder, manifest)
    _check_unsharded(manifest, os.fspath(folder))
    place = place_at(address, private=private, message=message)
    with tempfile.TemporaryDirectory() as scratch, progress.task(f"Pushing {folder}"):
        source = folder
        names = [*manifest["files"], MANIFEST]
        if card is not None:
            source = Path(scratch)
            (source / CARD).write_text(card, encoding="utf-8")
            for name in names:
                _stand_in(folder / name, source / name)
        if (source / CARD).exists():
            names.insert(0, CARD)
        return place.send(source, names)


def pull(address: str, model: str | os.PathLike[str]) -> Path:
    """Bring a model from somewhere else into a folder, which it replaces if its files are right.

    Only files that its manifest names are taken. Loading a model runs no code that came with it.
    """
    folder = Path(model)
    if address.startswith(os.fspath(folder)) and Path(address) == folder:
        raise UsageError(f"{address} is where the model would go: give another folder.")
    check_replaceable(folder)
    place = place_at(address)
    with replacing(folder) as made, progress.task(f"Pulling {address}"):
        place.fetch(MANIFEST, made)
        manifest = read_manifest(made)
        _check_unsharded(manifest, address)
        for name, told in manifest["files"].items():
            if not is_plain_name(name) or name == MANIFEST or type(told["bytes"]) is not int:
                raise ModelFileError(
                    f"The model at {address} names a file {name!r:.80}: not taken."
                )
            place.fetch(name, made, told["bytes"])
        verify_files(made, manifest)
        for left in made.iterdir():  # what a client kept beside them
            if left.is_dir():
                shutil.rmtree(left, ignore_errors=True)
    return folder


def _check_unsharded(manifest: dict[str, Any], where: str) -> None:
    """Raise if labels lie in folders of their own, which the manifest does not name."""
    model = manifest["model"]
    inside = model["state"].get("estimator_")
    if "ShardedRanker" in (one.get("$object") for one in (model, inside) if isinstance(one, dict)):
        raise UsageError(
            f"{where} has its labels in shards: take the model that was cut, and shard it there."
        )


def _stand_in(file: Path, place: Path) -> None:
    """Let a file stand in another folder as well: a link, or a copy where links need rights."""
    try:
        os.symlink(os.path.abspath(file), place)
    except OSError:
        shutil.copyfile(file, place)
