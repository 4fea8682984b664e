"""Push and pull: folders, stores behind fsspec, and the Hugging Face hub, played by a fake."""

from __future__ import annotations

import inspect
import json
import os
import shutil
import sys
from fnmatch import fnmatch
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from labelspace import Tagger
from labelspace.cli.app import app
from labelspace.errors import ModelFileError, UsageError
from labelspace.hub import pull, push
from labelspace.sharding import write_shards
from labelspace.store.manifest import write_manifest

TEXTS = ["red ball", "green ball", "red cube", "green cube"]
LABELS = [["red", "round"], ["green", "round"], ["red"], ["green"]]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hub") / "model"
    Tagger("knn", n_neighbors=2).fit(TEXTS, LABELS).save(folder)
    return folder


class FakeHub:
    """What we call of huggingface_hub, with a folder for a hub; takes what the real one takes."""

    class errors:
        class HfHubHTTPError(OSError):
            pass

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.calls: list[tuple[str, dict[str, Any]]] = []

    def HfApi(self) -> FakeHub:
        return self

    def create_repo(self, repo_id: str, **more: Any) -> None:
        self._called("create_repo", {"repo_id": repo_id, **more})
        (self.folder / repo_id).mkdir(parents=True, exist_ok=True)

    def upload_folder(self, **given: Any) -> Any:
        self._called("upload_folder", given)
        target = self.folder / given["repo_id"]
        for old in list(target.iterdir()):
            if any(fnmatch(old.name, pattern) for pattern in given["delete_patterns"]):
                old.unlink()
        for file in Path(given["folder_path"]).iterdir():
            if file.name in given["allow_patterns"]:
                shutil.copyfile(file, target / file.name)
        return SimpleNamespace(commit_url=f"https://hub.example/{given['repo_id']}/commit/1")

    def hf_hub_download(self, **given: Any) -> None:
        self._called("hf_hub_download", given)
        source = self.folder / given["repo_id"] / given["filename"]
        if not source.exists():
            raise self.errors.HfHubHTTPError("404 Client Error")
        local = Path(given["local_dir"])
        (local / ".cache").mkdir(exist_ok=True)  # as the real one does
        shutil.copyfile(source, local / given["filename"])

    def _called(self, name: str, given: dict[str, Any]) -> None:
        self.calls.append((name, given))
        real = pytest.importorskip("huggingface_hub")
        owner = real if name == "hf_hub_download" else real.HfApi
        assert set(given) <= set(inspect.signature(getattr(owner, name)).parameters)


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeHub:
    fake = FakeHub(tmp_path / "hub")
    pytest.importorskip("huggingface_hub")
    import labelspace.hub.places as places

    made = places.HuggingFace.__init__

    def with_fake(self: Any, *given: Any, **more: Any) -> None:
        made(self, *given, **more)
        self._hub = fake

    monkeypatch.setattr(places.HuggingFace, "__init__", with_fake)
    return fake


def answers(folder: Path) -> list[Any]:
    return Tagger.load(folder).tag_many(TEXTS, k=2)


@pytest.mark.parametrize("kind", ["folder", "memory"])
def test_a_model_comes_back_as_it_went(kind: str, model: Path, tmp_path: Path):
    pytest.importorskip("fsspec")
    address = str(tmp_path / "there") if kind == "folder" else "memory://models/there"
    push(model, address, card="# hello\n")
    pull(address, tmp_path / "back")
    assert answers(tmp_path / "back") == answers(model)
    names = {path.name for path in model.iterdir()}
    assert {path.name for path in (tmp_path / "back").iterdir()} == names


def test_the_hub_gets_all_files_with_a_card_in_one_commit(
    hub: FakeHub, model: Path, tmp_path: Path
):
    where = push(model, "hf://someone/shop@main", card="# shop\n", message="first")
    assert where == "https://hub.example/someone/shop/commit/1"
    kinds = [name for name, _ in hub.calls]
    assert kinds == ["create_repo", "upload_folder"]
    assert hub.calls[0][1]["private"] is True
    assert hub.calls[1][1]["revision"] == "main"
    assert (hub.folder / "someone/shop/README.md").read_text() == "# shop\n"
    pull("hf://someone/shop", tmp_path / "back")
    assert answers(tmp_path / "back") == answers(model)
    assert not (tmp_path / "back" / ".cache").exists()


def test_what_the_hub_says_becomes_a_sentence(hub: FakeHub, tmp_path: Path):
    with pytest.raises(ModelFileError, match=r"hf://someone/none did not work .404"):
        pull("hf://someone/none", tmp_path / "back")
    with pytest.raises(UsageError, match="write hf://owner/name"):
        pull("hf://someone", tmp_path / "back")


def test_a_damaged_model_is_not_pushed_and_not_pulled(model: Path, tmp_path: Path):
    damaged = tmp_path / "damaged"
    shutil.copytree(model, damaged)
    victim = next(path for path in damaged.iterdir() if path.suffix == ".npy")
    content = bytearray(victim.read_bytes())
    content[-1] ^= 1
    victim.write_bytes(content)
    with pytest.raises(ModelFileError, match="damaged"):
        push(damaged, str(tmp_path / "there"))
    assert not (tmp_path / "there").exists()
    shutil.copytree(model, tmp_path / "mine")
    with pytest.raises(ModelFileError, match="damaged"):
        pull(str(damaged), tmp_path / "mine")
    assert answers(tmp_path / "mine") == answers(model)  # what was there stays


def test_what_is_missing_is_said(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(ModelFileError, match="no model at"):
        pull(str(tmp_path / "nothing"), tmp_path / "back")
    with pytest.raises(UsageError, match="is where the model would go"):
        pull(str(model), model)
    with pytest.raises(UsageError, match="fsspec"):
        pull("nosuchstore://x/y", tmp_path / "back")
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(UsageError, match=r"labelspace\[hub\]"):
        push(model, "hf://someone/shop")


def test_the_command_line_writes_a_card_from_the_model(tmp_path: Path):
    (tmp_path / "train.tsv").write_text(
        "".join(
            f"{text} number{n}\t{','.join(labels)}\n"
            for n in range(5)
            for text, labels in zip(TEXTS, LABELS, strict=True)
        )
    )
    run = CliRunner().invoke
    trained = run(app, ["train", str(tmp_path / "train.tsv"), "--method", "knn", "--valid",
                        str(tmp_path / "train.tsv"), "--out", str(tmp_path / "model")])  # fmt: skip
    assert trained.exit_code == 0, trained.output
    there = str(tmp_path / "shared" / "colours")
    pushed = run(app, ["push", str(tmp_path / "model"), there, "--licence", "mit", "--json"])
    assert json.loads(pushed.stdout) == {"model": str(tmp_path / "model"), "address": there}
    card = Path(there, "README.md").read_text(encoding="utf-8")
    for told in ("library_name: labelspace", "license: mit", "# colours", "3 labels", "train.tsv",
                 "| P | ", "## Limits", "20 rows"):  # fmt: skip
        assert told in card
    pulled = run(app, ["pull", there, str(tmp_path / "back")])
    assert pulled.exit_code == 0, pulled.output
    assert answers(tmp_path / "back") == answers(tmp_path / "model")


def _signed(folder: Path, **changes: Any) -> None:
    manifest = json.loads((folder / "manifest.json").read_bytes()) | changes
    del manifest["sha256"]
    write_manifest(manifest, folder)


def _with_file(folder: Path, name: str) -> None:
    manifest = json.loads((folder / "manifest.json").read_bytes())
    _signed(folder, files={**manifest["files"], name: {"sha256": "0" * 64, "bytes": 3}})


def _array(folder: Path) -> Path:
    return next(path for path in sorted(folder.iterdir()) if path.suffix == ".npy")


def _endless(folder: Path) -> None:
    victim = _array(folder)
    victim.unlink()
    victim.symlink_to("/dev/zero")


def _pipe(folder: Path) -> None:
    victim = _array(folder)
    victim.unlink()
    os.mkfifo(victim)


def _link_out(folder: Path) -> None:
    victim = _array(folder)
    outside = folder.parent / "secret"
    shutil.move(victim, outside)
    victim.symlink_to(outside)


def _far_longer(folder: Path) -> None:
    with open(_array(folder), "ab") as file:
        file.truncate(1 << 40)  # a hole: it takes no room here, but would where it is copied


HOSTILE = {
    "a file above": lambda folder: _with_file(folder, "../evil.npy"),
    "the folder above": lambda folder: _with_file(folder, ".."),
    "a file elsewhere": lambda folder: _with_file(folder, "/etc/passwd"),
    "no name": lambda folder: _with_file(folder, ""),
    "a name with an escape": lambda folder: _with_file(folder, "\x1b[2Ja\nb.npy"),
    "the manifest itself": lambda folder: _with_file(folder, "manifest.json"),
    "a link to what never ends": _endless,
    "a pipe": _pipe,
    "a link out": _link_out,
    "a far longer file": _far_longer,
    "an array of words": lambda folder: _array(folder).write_bytes(b"words"),
}


@pytest.mark.parametrize("kind", ["folder", "file://"])
@pytest.mark.parametrize("what", HOSTILE)
def test_a_strangers_folder_is_not_pulled(
    what: str, kind: str, model: Path, tmp_path: Path
) -> None:
    pytest.importorskip("fsspec")
    there, mine = tmp_path / "there", tmp_path / "mine"
    shutil.copytree(model, there)
    shutil.copytree(model, mine)
    HOSTILE[what](there)
    address = f"file://{there}" if kind == "file://" else str(there)
    with pytest.raises(ModelFileError) as refused:
        pull(address, mine)
    assert str(refused.value).isprintable()
    assert answers(mine) == answers(model)
    assert {path.name for path in tmp_path.iterdir()} <= {"there", "mine", "secret"}


def test_a_store_that_fails_is_a_sentence(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = pytest.importorskip("fsspec.implementations.memory")
    push(model, "memory://models/failing")

    def fails(*_: Any, **__: Any) -> None:
        raise RuntimeError("the store is closed\nwith a trace")

    monkeypatch.setattr(memory.MemoryFileSystem, "get_file", fails)
    with pytest.raises(ModelFileError, match=r"did not work \(the store is closed\): check"):
        pull("memory://models/failing", tmp_path / "back")


def test_a_sharded_model_is_neither_pushed_nor_pulled(tmp_path: Path) -> None:
    tagger = Tagger("one-vs-all").fit(TEXTS, LABELS)
    write_shards(tagger, tmp_path / "sharded", 2, holders="inside")
    for go in (push, pull):
        with pytest.raises(UsageError, match="has its labels in shards"):
            go(str(tmp_path / "sharded"), str(tmp_path / "there"))
