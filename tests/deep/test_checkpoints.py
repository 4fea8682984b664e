"""A checkpoint goes when its training is done; what else is in the folder stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from labelspace import store
from labelspace.deep import checkpoints
from labelspace.errors import ModelFileError
from labelspace.labels import LabelEncoder


def with_checkpoint(folder: Path) -> Path:
    store.save(LabelEncoder(), folder / "network-0" / "last")
    store.save(LabelEncoder(), folder / "network-0" / "best")
    return folder


def test_a_folder_of_checkpoints_alone_goes(tmp_path: Path) -> None:
    folder = with_checkpoint(tmp_path / "state")
    (folder / "network-0" / ".last.saving-1-abc").mkdir()
    checkpoints.remove(folder)
    assert not folder.exists()


def test_a_removal_that_is_killed_leaves_no_half_of_a_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = with_checkpoint(tmp_path / "state")

    def killed(*_: object, **more: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("labelspace.deep.checkpoints.shutil.rmtree", killed)
    with pytest.raises(KeyboardInterrupt):
        checkpoints.remove(folder)
    assert not (folder / "network-0" / "last").exists()
    monkeypatch.undo()
    store.save(LabelEncoder(), folder / "network-0" / "last")  # which removes what was left
    assert not list((folder / "network-0").glob(".last*"))


def test_other_things_in_the_folder_stay(tmp_path: Path) -> None:
    folder = with_checkpoint(tmp_path / "state")
    mine = [folder / "thesis.txt", folder / "network-0" / "notes.txt", folder / "last" / "x.txt"]
    for file in mine:
        file.parent.mkdir(exist_ok=True)
        file.write_text("years of work")
    checkpoints.remove(folder)
    assert sorted(path for path in folder.rglob("*") if path.is_file()) == sorted(mine)


@pytest.mark.parametrize("place", ["file", "file/below"])
def test_a_file_in_place_of_the_folder_is_told_of_at_once(place: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(ModelFileError, match="is a file"):
        checkpoints.check(tmp_path / place)
    assert (tmp_path / "file").read_text() == "x"
