"""Model folders: whole or refused, never half; a killed save leaves the old model."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import labelspace
from labelspace import registry, store
from labelspace.calibration import Calibration
from labelspace.errors import ModelFileError
from labelspace.models import MostCommon
from labelspace.store import folders, schema
from labelspace.store.manifest import write_manifest
from labelspace.topk import TopK


@pytest.fixture
def model() -> MostCommon:
    return MostCommon().fit(np.eye(3), [["a", "b"], ["a"], ["c"]])


@pytest.fixture
def folder(model: MostCommon, tmp_path: Path) -> Path:
    model.save(tmp_path / "model")
    return tmp_path / "model"


class Bag(store.Storable):
    """A part with any attributes."""

    @classmethod
    def _check_state(cls, state: schema.State, sizes: schema.Sizes) -> None:
        """Take all as it is."""


@pytest.fixture(autouse=True)
def bags_can_be_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    find, name = registry.storable_class, registry.storable_name
    monkeypatch.setattr(registry, "storable_class", lambda it: Bag if it == "Bag" else find(it))
    monkeypatch.setattr(
        registry, "storable_name", lambda kind: "Bag" if kind is Bag else name(kind)
    )


def part(**state: object) -> Bag:
    """Return a storable object with any attributes."""
    return Bag._from_state(dict(state))


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        3,
        2.5,
        float("inf"),
        float("-inf"),
        "text with ü and \n",
        [1, "two", None, [3.0]],
        (1, (2, "x")),
        {"a": 1, "$array": 2, "b": {"c": (3,)}},
        np.float32(0.5),
        np.int64(7),
    ],
)
def test_plain_values_come_back(value: object, tmp_path: Path) -> None:
    store.save(part(value=value), tmp_path / "m")
    loaded = store.load(tmp_path / "m").value
    assert loaded == value
    assert isinstance(loaded, type(value)) or isinstance(value, np.generic)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(12.0).reshape(3, 4),
        np.zeros((0, 5), dtype=np.float16),
        np.array([1, -2], dtype=np.int8),
        np.array(["é", "longer"]),
        np.array([True, False]),
        np.arange(6).reshape(2, 3).T,
    ],
)
def test_arrays_come_back_mapped(array: np.ndarray, tmp_path: Path) -> None:
    store.save(part(array=array), tmp_path / "m")
    loaded = store.load(tmp_path / "m").array
    assert loaded.dtype == array.dtype
    assert np.array_equal(loaded, array)


def test_sparse_matrices_come_back(tmp_path: Path) -> None:
    matrix = csr_matrix([[0, 1.5, 0], [0, 0, 0]], dtype=np.float32)
    store.save(part(matrix=matrix, empty=csr_matrix((0, 4))), tmp_path / "m")
    loaded = store.load(tmp_path / "m")
    assert np.array_equal(loaded.matrix.toarray(), matrix.toarray())
    assert loaded.empty.shape == (0, 4)


def test_changing_a_loaded_array_leaves_the_file_alone(tmp_path: Path) -> None:
    store.save(part(array=np.zeros(3)), tmp_path / "m")
    store.load(tmp_path / "m").array[:] = 1
    assert np.array_equal(store.load(tmp_path / "m").array, np.zeros(3))


def test_what_cannot_be_saved_is_named_and_nothing_is_left(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="'odd' is a object"):
        store.save(part(odd=object()), tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


def test_manifest_says_what_the_model_is(folder: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["format"] == 2
    assert manifest["class"] == "most-common"
    assert manifest["parameters"]["k"] == 5
    assert manifest["versions"]["labelspace"] == labelspace.__version__
    assert all(len(file["sha256"]) == 64 for file in manifest["files"].values())
    assert {file.name for file in folder.iterdir()} == {"manifest.json", *manifest["files"]}


def test_saving_again_replaces_and_leaves_nothing_beside(folder: Path, model: MostCommon) -> None:
    MostCommon(k=3).fit(np.eye(3), [[0], [1], [1]]).save(folder)
    assert labelspace.load(folder).k == 3
    assert [entry.name for entry in folder.parent.iterdir()] == ["model"]


def test_a_model_that_is_replaced_while_it_is_loaded_is_never_a_mixture(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    done = threading.Event()

    def part_of(number: int) -> Bag:
        return part(**{f"array{at}": np.full(50, number) for at in range(10)})

    def replace() -> None:
        for number in range(1, 40):
            store.save(part_of(number), folder)
        done.set()

    store.save(part_of(0), folder)
    saver = threading.Thread(target=replace)
    saver.start()
    while not done.is_set():
        arrays = vars(store.load(folder)).values()
        assert len({int(value) for array in arrays for value in array}) == 1
    saver.join()


def test_fallback_without_atomic_exchange(
    folder: Path, model: MostCommon, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "_exchange", lambda one, other: False)
    model.set_params(k=7).save(folder)
    assert labelspace.load(folder).k == 7
    assert [entry.name for entry in folder.parent.iterdir()] == ["model"]


def test_old_model_is_found_if_a_save_without_exchange_was_killed(folder: Path) -> None:
    folder.rename(folder.parent / ".model.old-12345678")
    assert isinstance(labelspace.load(folder), MostCommon)


def test_a_model_set_aside_by_a_killed_save_goes_with_the_next(
    folder: Path, model: MostCommon
) -> None:
    shutil.copytree(folder, folder.parent / ".model.old-12345678")
    model.save(folder)
    assert [entry.name for entry in folder.parent.iterdir()] == ["model"]


def test_leftovers_of_killed_saves_are_removed(folder: Path, model: MostCommon) -> None:
    leftover = folder.parent / f".model.saving-{os.getpid()}-abcdef12"
    leftover.mkdir()
    (leftover / "weights.npy").write_bytes(b"half")
    model.save(folder)
    assert not leftover.exists()


def test_folder_with_other_files_is_not_overwritten(model: MostCommon, tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(ModelFileError, match="not a model"):
        model.save(tmp_path)
    assert (tmp_path / "thesis.txt").read_text() == "years of work"
    with pytest.raises(ModelFileError, match="is a file"):
        model.save(tmp_path / "thesis.txt")


def test_a_place_where_no_model_can_be_made_is_told_of_before_training(
    model: MostCommon, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    for save in (folders.check_replaceable, model.save):
        with pytest.raises(ModelFileError, match=r"thesis\.txt is a file"):
            save(tmp_path / "thesis.txt" / "folder" / "model")
    monkeypatch.setattr(os, "access", lambda place, mode: False)
    with pytest.raises(ModelFileError, match="may not be written to"):
        folders.check_replaceable(tmp_path / "new" / "model")
    assert not (tmp_path / "new").exists()


def flip_a_byte(folder: Path) -> None:
    file = next(folder.glob("*.npy"))
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)


def edit(folder: Path, **changes: object) -> None:
    """Change a manifest as a stranger would, with the right checksum."""
    manifest = json.loads((folder / "manifest.json").read_text())
    del manifest["sha256"]
    write_manifest(manifest | changes, folder)


def edit_state(folder: Path, **changes: object) -> None:
    model = json.loads((folder / "manifest.json").read_text())["model"]
    edit(folder, model=model | {"state": model["state"] | changes})


def rename_class(folder: Path, name: str) -> None:
    model = json.loads((folder / "manifest.json").read_text())["model"]
    edit(folder, model=model | {"$object": name})


def replace_array(folder: Path, name: str, array: np.ndarray) -> None:
    """Put another array into a model, with the right checksum."""
    np.save(folder / name, array)
    manifest = json.loads((folder / "manifest.json").read_text())
    content = (folder / name).read_bytes()
    told = {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
    edit(folder, files=manifest["files"] | {name: told})


def link_out(folder: Path) -> None:
    file = next(folder.glob("*.npy"))
    file.rename(folder.parent / "elsewhere.npy")
    file.symlink_to(folder.parent / "elsewhere.npy")


def make_pipe(folder: Path, name: str) -> None:
    (folder / name).unlink()
    os.mkfifo(folder / name)


def nested(depth: int) -> object:
    value: object = 1
    for _ in range(depth):
        value = {"$tuple": [value]}
    return value


UNSIGNED = '{"format": 2, "model": {}, "files": {}}'

DAMAGE = {
    "a byte flipped": (flip_a_byte, "damaged"),
    "file cut short": (
        lambda folder: next(folder.glob("*.npy")).write_bytes(b"\x93NUMPY"),
        "damaged",
    ),
    "file missing": (lambda folder: next(folder.glob("*.npy")).unlink(), "lacks its file"),
    "manifest missing": (lambda folder: (folder / "manifest.json").unlink(), "no manifest"),
    "manifest cut short": (
        lambda folder: (folder / "manifest.json").write_text('{"format": 2, "mod'),
        "damaged",
    ),
    "manifest not an object": (
        lambda folder: (folder / "manifest.json").write_text("[]"),
        "not a labelspace manifest",
    ),
    "manifest too deep": (
        lambda folder: (folder / "manifest.json").write_text("[" * 100_000),
        "damaged",
    ),
    "files that are a list": (lambda folder: edit(folder, files=[]), "lacks what"),
    "files without checksums": (lambda folder: edit(folder, files={"a.npy": 3}), "lacks what"),
    "a model that is a number": (lambda folder: edit(folder, model=5), "lacks what"),
    "a model without state": (lambda folder: edit(folder, model={"$object": "x"}), "lacks what"),
    "an array outside the folder": (
        lambda folder: edit(folder, model={"state": {"x": {"$array": "../x.npy"}}}),
        "not in it",
    ),
    "a name changed": (
        lambda folder: (folder / "manifest.json").write_bytes(
            (folder / "manifest.json").read_bytes().replace(b'"a"', b'"A"')
        ),
        "damaged",
    ),
    "a manifest without checksum": (
        lambda folder: (folder / "manifest.json").write_text(
            '{"format": 2, "model": 1, "files": 1}'
        ),
        "damaged",
    ),
    "a link out of the folder": (link_out, "not in it"),
    "a pipe": (lambda folder: make_pipe(folder, "ranking_.npy"), "no plain file"),
    "a manifest that is a pipe": (
        lambda folder: make_pipe(folder, "manifest.json"),
        "no plain file",
    ),
    "parts in parts without end": (
        lambda folder: edit_state(folder, k=nested(100)),
        "too many levels",
    ),
    "an attribute too many": (
        lambda folder: edit_state(folder, predict_topk=3),
        "predict_topk is not an attribute",
    ),
    "a parameter that breaks its rule": (
        lambda folder: edit_state(folder, n_threads=1_000_000_000),
        "'n_threads' parameter",
    ),
    "a parameter that is missing": (
        lambda folder: edit_state(folder, n_examples_={"$float": "x"}),
        "does not fit",
    ),
    "labels that are not there": (
        lambda folder: replace_array(folder, "ranking_.npy", np.array([0, 1, 7])),
        "ranking_ holds 7, which is too large",
    ),
    "a label twice": (
        lambda folder: replace_array(folder, "ranking_.npy", np.array([0, 1, 1])),
        "ranking_ holds a number twice",
    ),
    "an array of another type": (
        lambda folder: replace_array(folder, "ranking_.npy", np.zeros(3)),
        "ranking_ is no array of int64",
    ),
    "an array of another length": (
        lambda folder: replace_array(folder, "label_counts_.npy", np.zeros(4, dtype=np.int64)),
        "label_counts_ has 4 where 3 belong",
    ),
    "an array of strangers' bytes": (
        lambda folder: replace_array(folder, "ranking_.npy", np.array([0, 1, 2], dtype=">i8")),
        "laid out",
    ),
    "other format": (lambda folder: edit(folder, format=99), "format 99"),
    "file outside the folder": (
        lambda folder: edit(folder, files={"../x.npy": {"sha256": "", "bytes": 0}}),
        "lacks its file",
    ),
    "a stranger's class": (
        lambda folder: rename_class(folder, "os.system"),
        "not a part that can be stored",
    ),
    "a class that is no part": (
        lambda folder: rename_class(folder, "labelspace.errors.DataError"),
        "not a part",
    ),
    "a class that is no part of a model": (
        lambda folder: rename_class(folder, "labelspace.__main__.X"),
        "not a part that can be stored",
    ),
}


def test_the_manifest_names_the_labels(tmp_path: Path) -> None:
    for labels, expected in (
        ([["a"], ["b"]], ["a", "b"]),
        ([[0], [1]], None),
        ([7, 9], ["7", "9"]),
    ):
        MostCommon().fit(np.eye(2), labels).save(tmp_path / "model")
        assert store.read_manifest(tmp_path / "model")["label_names"] == expected


@pytest.mark.parametrize("what", DAMAGE)
def test_damaged_folder_is_refused_with_one_sentence(what: str, folder: Path) -> None:
    damage, message = DAMAGE[what]
    damage(folder)
    with pytest.raises(ModelFileError, match=message) as error:
        labelspace.load(folder)
    assert "\n" not in str(error.value)


def test_missing_folder_and_plain_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="does not exist"):
        labelspace.load(tmp_path / "nothing")
    (tmp_path / "file").write_text("x")
    with pytest.raises(ModelFileError, match="is a file"):
        labelspace.load(tmp_path / "file")


# Forks a process that saves for ever, each time that a line comes in: importing takes long.
SAVERS = """
import os
import sys
import numpy as np
from labelspace import store
from labelspace.calibration import Calibration
for round in sys.stdin:
    saver = os.fork()
    if saver:
        print(saver, flush=True)
        os.waitpid(saver, 0)
        print("dead", flush=True)
    version = 1
    while not saver:
        state = {name: np.full(200_000, float(version)) for name in sys.argv[2:]}
        store.save(Calibration._from_state({"error": 0.0, "n_rows": 1, **state}), sys.argv[1])
        version += 1
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a system that forks")
def test_a_save_killed_at_any_moment_leaves_a_whole_model(tmp_path: Path) -> None:
    path = tmp_path / "model"
    names = ("thresholds", "precisions", "recalls")
    state = {name: np.zeros(200_000) for name in names}
    store.save(Calibration._from_state({"error": 0.0, "n_rows": 1, **state}), path)
    rng = random.Random(0)
    with subprocess.Popen(
        [sys.executable, "-c", SAVERS, str(path), *names],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
    ) as savers:
        assert savers.stdin is not None
        assert savers.stdout is not None
        for _ in range(8):
            savers.stdin.write("next\n")
            saver = int(savers.stdout.readline())
            time.sleep(rng.uniform(0.0, 0.08))
            os.kill(saver, signal.SIGKILL)
            assert savers.stdout.readline() == "dead\n"
            loaded = store.load(path)
            parts = [getattr(loaded, name) for name in names]
            versions = {value for values in parts for value in np.unique(values)}
            assert len(versions) == 1, f"parts of several saves: {versions}"
    store.save(part(value=1), path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["model"]


def test_answers_survive_the_round_trip(folder: Path, model: MostCommon) -> None:
    expected: TopK = model.predict_topk(np.eye(3), k=3)
    assert np.array_equal(
        labelspace.load(folder).predict_topk(np.eye(3), k=3).labels, expected.labels
    )
    assert labelspace.load(folder).classes_.tolist() == ["a", "b", "c"]


def test_a_link_within_the_folder_is_followed(folder: Path) -> None:
    file = next(folder.glob("*.npy"))
    file.rename(folder / "blob")
    file.symlink_to(folder / "blob")
    assert labelspace.load(folder).classes_.tolist() == ["a", "b", "c"]


def test_a_trusted_folder_is_read_without_looking_at_values(folder: Path) -> None:
    replace_array(folder, "ranking_.npy", np.array([0, 1, 1]))
    with pytest.raises(ModelFileError):
        labelspace.load(folder)
    assert labelspace.load(folder, trusted=True).ranking_.tolist() == [0, 1, 1]
    replace_array(folder, "ranking_.npy", np.array([0, 1]))
    with pytest.raises(ModelFileError, match="has 2 where 3 belong"):
        labelspace.load(folder, trusted=True)
