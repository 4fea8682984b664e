"""Vectors on disk: found again, bounded, shared, and never in the way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from labelspace.data.text.encoding.vector_cache import VectorCache, cache_for
from labelspace.errors import LabelspaceWarning

DIM = 4


def _vectors(n: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).random((n, DIM)).astype(np.float16)


def test_vectors_come_back_to_their_texts_also_to_repeated_ones(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path / "v.sqlite", "one", DIM)
    texts, vectors = [f"text {n}" for n in range(1200)], _vectors(1200)
    cache.put(texts, vectors)
    again = VectorCache(tmp_path / "v.sqlite", "one", DIM)  # as another run would
    asked = ["unknown", "text 7", "text 1199", "text 7"]
    found, given = again.get(asked)
    assert sorted(found.tolist()) == [1, 2, 3]
    for at, vector in zip(found, given, strict=True):
        np.testing.assert_array_equal(vector, vectors[int(asked[at].split()[1])])


def test_encoders_do_not_get_each_others_vectors(tmp_path: Path) -> None:
    VectorCache(tmp_path / "v.sqlite", "one", DIM).put(["a"], _vectors(1))
    assert not VectorCache(tmp_path / "v.sqlite", "other", DIM).get(["a"])[0].size
    assert not VectorCache(tmp_path / "v.sqlite", "one", DIM + 1).get(["a"])[0].size


def test_the_oldest_go_once_there_are_too_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = VectorCache(tmp_path / "v.sqlite", "one", 512, most_mib=1)
    for block in range(12):
        monkeypatch.setattr(time, "time", lambda block=block: 1e9 + block)
        rows = np.zeros((200, 512), dtype=np.float16)
        cache.put([f"{block} {n}" for n in range(200)], rows)
    assert (tmp_path / "v.sqlite").stat().st_size < 2 << 20
    assert cache.get([f"11 {n}" for n in range(200)])[0].size == 200
    assert cache.get([f"0 {n}" for n in range(200)])[0].size == 0


def test_no_text_can_be_read_from_the_file(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path / "v.sqlite", "one", DIM)
    cache.put(["a secret sentence"], _vectors(1))
    cache.close()
    assert b"secret" not in b"".join(path.read_bytes() for path in tmp_path.iterdir())


def test_a_file_that_is_none_is_warned_of_once_and_done_without(tmp_path: Path) -> None:
    (tmp_path / "v.sqlite").write_bytes(b"no database at all" * 100)
    with pytest.warns(LabelspaceWarning, match="are not kept in"):
        cache = VectorCache(tmp_path / "v.sqlite", "one", DIM)
    cache.put(["a"], _vectors(1))
    assert not cache.get(["a"])[0].size


def test_the_folder_can_be_chosen_or_there_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cache_for("one", DIM) is None  # the tests' own setting is "off"
    monkeypatch.setenv("LABELSPACE_CACHE", str(tmp_path / "mine"))
    cache = cache_for("one", DIM)
    assert cache is not None
    assert cache.path.parent == tmp_path / "mine"


WRITER = """
import sys, numpy as np
from pathlib import Path
from labelspace.data.text.encoding.vector_cache import VectorCache
cache = VectorCache(Path(sys.argv[1]), "one", 4)
for block in range(100_000):
    cache.put([f"{block} {n}" for n in range(100)], np.full((100, 4), block % 100, np.float16))
    print(block, flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_what_was_done_before_a_kill_is_there_and_whole(tmp_path: Path) -> None:
    path = tmp_path / "v.sqlite"
    source = str(Path(__file__).resolve().parents[4] / "src")
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": source},
    )
    assert writer.stdout is not None
    for line in writer.stdout:
        if int(line) >= 20:
            break
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    writer.stdout.close()
    cache = VectorCache(path, "one", DIM)
    for block in range(21):
        found, vectors = cache.get([f"{block} {n}" for n in range(100)])
        assert found.size == 100
        assert (vectors == block).all()
