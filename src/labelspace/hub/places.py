"""Where models can be kept: how their files get there, and how they come back.

A place is written as a folder (``models/shop``), as ``hf://owner/name`` or ``hf://owner/name@v1``
(the Hugging Face hub), or as any other URL that fsspec knows (``s3://bucket/shop``,
``memory://shop``).
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Protocol

from labelspace.errors import LabelspaceError, ModelFileError, UsageError
from labelspace.store.folders import MANIFEST
from labelspace.store.manifest import plain_file

HUGGING_FACE = "hf://"


class Place(Protocol):
    """Somewhere that holds the files of one model."""

    def send(self, folder: Path, names: Iterable[str]) -> str:
        """Put files of a folder there, the manifest last; return where they are."""

    def fetch(self, name: str, folder: Path, n_bytes: int | None = None) -> None:
        """Bring one file into a folder; one that is not ``n_bytes`` long, if given, is refused."""


def place_at(address: str, *, private: bool = True, message: str | None = None) -> Place:
    """Return the place that an address names.

    >>> type(place_at("models/shop")).__name__
    'LocalFolder'
    """
    if address.startswith(HUGGING_FACE):
        return HuggingFace(address, private=private, message=message)
    if "://" in address:
        return RemoteFolder(address)
    return LocalFolder(Path(address))


class LocalFolder:
    """A folder of this machine, or one that is mounted."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def send(self, folder: Path, names: Iterable[str]) -> str:
        from labelspace.store.folders import flush_folder, replacing

        with replacing(self._folder) as made:
            for name in names:
                shutil.copyfile(folder / name, made / name)
            flush_folder(made)
        return str(self._folder)

    def fetch(self, name: str, folder: Path, n_bytes: int | None = None) -> None:
        try:
            source = plain_file(self._folder, name)  # no link to what never ends, no pipe
            _check_size(name, self._folder, source.stat().st_size, n_bytes)
            shutil.copyfile(source, folder / name)
        except (FileNotFoundError, NotADirectoryError):
            raise _missing(name, self._folder) from None


class RemoteFolder:
    """A folder behind a URL, through fsspec: S3, Google Cloud, Azure, SFTP, HTTP (to read), ….

    A model is whole there once its manifest is; the files that it names are there before.
    """

    def __init__(self, address: str) -> None:
        try:
            import fsspec
        except ImportError:
            raise UsageError(
                f"{address} needs fsspec: install it with pip install 'labelspace[hub]'."
            ) from None
        try:
            self._files, root = fsspec.core.url_to_fs(address)
        except (ImportError, ValueError) as error:  # a package for this kind of store, or no kind
            told = " ".join(str(error).split())[:200]
            raise UsageError(f"{address} cannot be reached through fsspec: {told}") from None
        self._root = root.rstrip("/")
        self._address = address

    def send(self, folder: Path, names: Iterable[str]) -> str:
        try:
            self._files.makedirs(self._root, exist_ok=True)
            for name in names:
                self._files.put_file(os.fspath(folder / name), f"{self._root}/{name}")
        except NotImplementedError:
            raise UsageError(f"{self._address} cannot be written: give a store that can.") from None
        return self._address

    def fetch(self, name: str, folder: Path, n_bytes: int | None = None) -> None:
        there = f"{self._root}/{name}"
        try:
            found = self._files.info(there)
            if found.get("type", "file") != "file" or found.get("islink"):
                raise ModelFileError(f"{name} at {self._address} is no plain file: not taken.")
            _check_size(name, self._address, found.get("size"), n_bytes)
            self._files.get_file(there, os.fspath(folder / name))
        except FileNotFoundError:
            raise _missing(name, self._address) from None
        except LabelspaceError:
            raise
        except Exception as error:  # each store's client has its own
            raise ModelFileError(
                f"{self._address} did not work ({_first_line(error)}): check the address, and that "
                "you may read there."
            ) from None


class HuggingFace:
    """A repository of models on the Hugging Face hub, at a revision if one is given.

    Who may write there is what ``hf auth login`` or the variable ``HF_TOKEN`` says.
    """

    def __init__(self, address: str, *, private: bool = True, message: str | None = None) -> None:
        try:
            import huggingface_hub
        except ImportError:
            raise UsageError(
                f"{address} needs huggingface_hub: install it with pip install 'labelspace[hub]'."
            ) from None
        self._hub: Any = huggingface_hub
        self._address = address
        name, _, revision = address.removeprefix(HUGGING_FACE).strip("/").partition("@")
        if name.count("/") != 1:
            raise UsageError(f"{address} is no model of the hub: write hf://owner/name.")
        self._name, self._revision = name, revision or None
        self._private = private
        self._message = message

    def send(self, folder: Path, names: Iterable[str]) -> str:
        with self._told():
            api = self._hub.HfApi()
            api.create_repo(self._name, private=self._private, exist_ok=True)
            told = api.upload_folder(
                repo_id=self._name,
                folder_path=os.fspath(folder),
                allow_patterns=list(names),
                delete_patterns=["*.npy", "*.safetensors"],  # arrays of the model before
                revision=self._revision,
                commit_message=self._message or "A model of labelspace",
            )
        return str(getattr(told, "commit_url", None) or self._address)

    def fetch(self, name: str, folder: Path, n_bytes: int | None = None) -> None:
        with self._told():
            self._hub.hf_hub_download(
                repo_id=self._name,
                filename=name,
                revision=self._revision,
                local_dir=os.fspath(folder),
            )

    def _told(self) -> Any:
        """Turn what the hub's client raises into one sentence."""
        return _HubErrors(self._address, getattr(self._hub, "errors", None))


class _HubErrors:
    def __init__(self, address: str, errors: Any) -> None:
        self._address = address
        kinds = [getattr(errors, name, None) for name in ("HfHubHTTPError", "HFValidationError")]
        self._kinds = tuple(one for one in kinds if one is not None)

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if error is not None and isinstance(error, (*self._kinds, ConnectionError)):
            raise ModelFileError(
                f"{self._address} did not work ({_first_line(error)}): check name, revision, and "
                "that you are logged in (hf auth login)."
            ) from None


def _first_line(error: object) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]


def _check_size(name: str, where: Any, found: int | None, wanted: int | None) -> None:
    """Raise before a file is brought here that is not as long as the manifest says."""
    if wanted is not None and found is not None and found != wanted:
        raise ModelFileError(
            f"{name} at {where} is damaged (it has {found} bytes, its manifest says {wanted}): "
            "push the model again."
        )


def _missing(name: str, where: Any) -> ModelFileError:
    if name == MANIFEST:
        return ModelFileError(f"There is no model at {where}: it has no {MANIFEST}.")
    return ModelFileError(f"The model at {where} lacks its file {name}: push it again.")
