"""Model folders as an attacker makes them: changed arrays and values, and right checksums.

Run as a program, in a process of its own so that a signal or a hang is noticed by who started it:
``python -m tests.fuzz.folder_cases METHOD,METHOD SEED FIRST LAST`` prints what comes of each case.
"""

from __future__ import annotations

import contextlib
import copy
import hashlib
import io
import itertools
import json
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from labelspace import Tagger, store
from labelspace.cli.info import run_info
from labelspace.data.text.encoding.resolving import giving
from labelspace.errors import LabelspaceError, UsageError
from labelspace.manifold import SMCE
from labelspace.store.manifest import write_manifest
from tests.fuzz.folder_models import encoder_of, save
from tests.fuzz.folder_models import make as make_model
from tests.fuzz.mutations import places
from tests.fuzz.processes import run

MOST_BYTES = 12 << 30  # of addresses, most of which the libraries only reserve
SCALARS = (
    *(None, True, False, "", "x", "auto", "linear", [], {}, [1, 2], {"$tuple": []}),
    *(0, 1, -1, 2, 3, 100, 1_000_000_000, -(10**12), 2**63, 10**30, 0.5, -0.5, 1e-40, 1e30, -1e300),
    *({"$float": "nan"}, {"$float": "inf"}, {"$object": "LabelEncoder", "state": {}}),
)


def main(methods: str, seed: int, first: int, last: int) -> None:
    """Print what comes of the cases of some methods in turn, a line before and one after each."""
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as place:
        cases = []
        for method in methods.split(","):
            rows, made = make_model(method)
            path = Path(place) / method
            save(method, made, path)
            changed = [Folder(one) for one in (path, *path.glob("shard-*"))]
            cases.append((Model(path, rows, encoder_of(method)), changed))
            use(cases[-1][0].load(), rows, learn=True)  # compiles what cases run
        numbers = itertools.count(first)

        def make(random: np.random.Generator) -> tuple[str, Callable[[], str]]:
            model, folders = cases[next(numbers) % len(cases)]
            for folder in folders:
                folder.restore()
            what, learn = folders[random.integers(len(folders))].change(random)
            return what, lambda: outcome(model, learn)

        run(make, seed, first, last, MOST_BYTES)


class Model(NamedTuple):
    """A folder, rows to ask the model in it, and an encoder that it may need."""

    path: Path
    rows: Any
    encoder: Any

    def load(self) -> Any:
        """Load a model as someone does who has the encoder at hand."""
        with giving(self.encoder):
            loaded = store.load(self.path)
        if hasattr(loaded, "found_in"):
            loaded.found_in(self.path)
        return loaded


def outcome(model: Model, learn: bool) -> str:
    """Return what came of loading and using a model: anything but these two words is a fault."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            for as_json in (False, True):
                run_info(model.path, with_files=True, as_json=as_json)
    except LabelspaceError:
        pass
    except Exception as error:
        return f"info raised {type(error).__name__}: {error}"
    try:
        loaded = model.load()
    except LabelspaceError:
        return "refused"
    except Exception as error:
        return f"loading raised {type(error).__name__}: {error}"
    try:
        return use(loaded, model.rows, learn)
    except LabelspaceError:
        return "answered"
    except Exception as error:
        if "features, but" in str(error):  # scikit-learn's sentence about rows of another width
            return "answered"
        return f"using raised {type(error).__name__}: {error}"


def use(loaded: Any, rows: Any, learn: bool) -> str:
    """Ask a model, let it explain and learn; return what is wrong with what it says."""
    if isinstance(loaded, SMCE):
        return _use_clusters(loaded, rows)
    top = loaded.predict_topk(rows, 5)
    labels, scores = top.labels, top.scores
    n_labels = loaded.labels_.n_labels if isinstance(loaded, Tagger) else loaded.n_labels_
    if labels.min() < -1 or labels.max() >= n_labels:
        return "a label is out of range"
    for row in labels:
        if np.unique(row[row >= 0]).size != (row >= 0).sum():
            return "a label is there twice"
    if np.isnan(scores).any():
        return "a score is no number"
    if isinstance(loaded, Tagger):
        loaded.tag(rows[0])
        if hasattr(loaded.estimator_, "explain"):
            loaded.explain(rows[0], k=2)
    elif hasattr(loaded, "explain"):
        with contextlib.suppress(UsageError):  # of a setting that leaves nothing to explain
            loaded.explain(rows[:2], k=2)
    if learn and hasattr(getattr(loaded, "estimator_", loaded), "partial_fit"):
        loaded.partial_fit(rows[:3], [["a"], ["new"], ["b"]])
        loaded.predict_topk(rows[:3], 5)
    return "answered"


def _use_clusters(loaded: SMCE, points: Any) -> str:
    clusters = loaded.predict(points)
    if clusters.min() < 0 or clusters.max() >= loaded.n_clusters:
        return "a cluster is out of range"
    return "a score is no number" if np.isnan(loaded.transform(points)).any() else "answered"


class Folder:
    """A model folder that can be changed, and be what it was again."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._files = {file.name: file.read_bytes() for file in path.iterdir() if file.is_file()}
        self._manifest = json.loads(self._files["manifest.json"])
        del self._manifest["sha256"]
        self._arrays = sorted(name for name in self._files if name.endswith(".npy"))
        self._changed: set[str] = set()

    def change(self, random: np.random.Generator) -> tuple[str, bool]:
        """Change an array or some values; return what was done, and whether learning is quick."""
        manifest = copy.deepcopy(self._manifest)
        if self._arrays and random.random() < 0.6:
            name = str(random.choice(self._arrays))
            content, what = changed_array(self._files[name], random)
            self._write(name, content, manifest)
            self._sign(manifest)
            return f"{name}: {what}", bool(random.random() < 0.2)
        what = "; ".join(
            changed_value(manifest["model"], random) for _ in range(random.choice(2) + 1)
        )
        self._sign(manifest)
        return what, False

    def restore(self) -> None:
        """Make the folder what it was."""
        for name in self._changed:
            (self.path / name).write_bytes(self._files[name])
        self._changed.clear()

    def _write(self, name: str, content: bytes, manifest: dict[str, Any]) -> None:
        (self.path / name).write_bytes(content)
        self._changed.add(name)
        told = {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
        manifest["files"][name] = told

    def _sign(self, manifest: dict[str, Any]) -> None:
        write_manifest(manifest, self.path)
        self._changed.add("manifest.json")


def changed_array(content: bytes, random: np.random.Generator) -> tuple[bytes, str]:
    """Return an array file with something changed in it, and what."""
    array = np.load(io.BytesIO(content))
    ways = [_with_values, _with_values, _with_values, _with_shape, _with_type, _with_bytes]
    way = ways[random.integers(len(ways))]
    if way is _with_bytes:
        return _with_bytes(content, random), "bytes"
    changed, what = way(array, random)
    file = io.BytesIO()
    np.save(file, changed)
    return file.getvalue(), what


def _with_values(array: np.ndarray, random: np.random.Generator) -> tuple[np.ndarray, str]:
    changed = array.copy().reshape(-1)
    if not changed.size:
        return np.zeros(3, dtype=array.dtype), "no longer empty"
    if array.dtype.kind == "f":
        extremes = [np.nan, np.inf, -np.inf, 3e38, -3e38, 1e20, 1e14, -1e14, 0.0, -1.0, 1e-40]
        value = random.choice(extremes)
    else:
        info = np.iinfo(array.dtype) if array.dtype.kind in "iu" else np.iinfo(np.int8)
        near = [-1, 0, 1, changed.size, changed.size + 1, int(changed.max()) + 1, 100_000_000]
        value = random.choice([info.min, info.max, *near])
        value = np.clip(value, info.min, info.max)
    with np.errstate(all="ignore"):
        if random.random() < 0.4:
            changed[:] = np.array(value).astype(array.dtype)
        elif random.random() < 0.3:
            changed = random.permutation(changed)
        else:
            n_changed = 1 if random.random() < 0.7 else max(1, changed.size // 3)
            changed[random.integers(changed.size, size=n_changed)] = np.array(value).astype(
                array.dtype
            )
    return changed.reshape(array.shape), f"values {value}"


def _with_shape(array: np.ndarray, random: np.random.Generator) -> tuple[np.ndarray, str]:
    ways = [
        array[:-1],
        array[:0],
        np.concatenate((array, array[:1])),
        array.reshape(-1),
        array[np.newaxis],
        array[..., :-1],
        np.asfortranarray(array),
        np.concatenate((array, array), axis=-1),
    ]
    changed = ways[random.integers(len(ways))]
    return changed, f"shape {changed.shape} instead of {array.shape}"


def _with_type(array: np.ndarray, random: np.random.Generator) -> tuple[np.ndarray, str]:
    kinds = ["float32", "float64", "float16", "int8", "int32", "int64", "uint8", ">i4", ">f4"]
    kind = str(random.choice([*kinds, "bool", "complex64", "U3", "S2", "datetime64[s]"]))
    with np.errstate(all="ignore"):
        try:
            return array.astype(kind), f"type {kind} instead of {array.dtype}"
        except (TypeError, ValueError):
            return array.astype("U5"), f"type U5 instead of {array.dtype}"


def _with_bytes(content: bytes, random: np.random.Generator) -> bytes:
    changed = bytearray(content)
    for at in random.integers(min(len(changed), 128), size=random.integers(1, 4)):
        changed[at] = random.integers(256)
    return bytes(changed[: random.integers(1, len(changed))] if random.random() < 0.2 else changed)


def changed_value(model: dict[str, Any], random: np.random.Generator) -> str:
    """Change a value somewhere in the manifest's model; return what was done."""
    found = list(places(model))
    holder, key = found[random.integers(len(found))]
    other, other_key = found[random.integers(len(found))]
    way = random.choice(["scalar", "scalar", "swapped", "removed", "added"])
    before = str(holder[key])[:60]
    if way == "removed":
        del holder[key]
    elif way == "swapped":
        holder[key] = copy.deepcopy(other[other_key])
    elif way == "added" and isinstance(holder, dict):
        name = str(random.choice(["predict_topk", "__class__", "extra", "_labels", "$float"]))
        holder[name] = SCALARS[random.integers(len(SCALARS))]
    else:
        holder[key] = copy.deepcopy(SCALARS[random.integers(len(SCALARS))])
    return f"{way} {key}: {before}"


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:5]))
