"""One file for one value."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.sparse import csc_matrix, csr_matrix, random

from labelspace.engine.block_files import MAGIC, BlockContent, read_block
from labelspace.engine.workdir import Workdir
from labelspace.errors import EngineError
from labelspace.search.exact import ExactIndex

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner, inner),
    max_leaves=8,
)


def written(value: object, path: Path) -> Path:
    path.write_bytes(b"".join(bytes(part) for part in BlockContent(value).parts()))
    return path


@settings(max_examples=30, deadline=None)
@given(value=PLAIN)
def test_plain_data_comes_back_as_it_was(tmp_path_factory, value) -> None:
    path = written(value, tmp_path_factory.mktemp("block") / "a.block")
    assert read_block(path) == value


@settings(max_examples=30, deadline=None)
@given(
    array=arrays.arrays(
        st.sampled_from(["int8", "uint32", "int64", "float32", "bool"]),
        arrays.array_shapes(min_dims=0, max_dims=3, min_side=0),
    )
)
def test_arrays_keep_type_shape_and_bytes(tmp_path_factory, array) -> None:
    came = read_block(written(array, tmp_path_factory.mktemp("block") / "a.block"))
    assert (came.dtype, came.shape) == (array.dtype, array.shape)
    assert came.tobytes() == array.tobytes()


def test_a_scalar_of_numpy_stays_one_so_that_kernels_are_not_compiled_anew(tmp_path) -> None:
    came = read_block(written((np.float32(0.1), 0.1), tmp_path / "a.block"))
    assert type(came[0]) is np.float32
    assert type(came[1]) is float


def test_sparse_matrices_and_parts_of_models_come_back(tmp_path) -> None:
    X = random(5, 7, 0.4, format="csr", dtype=np.float32, random_state=0)
    index = ExactIndex(np.eye(2, dtype=np.float32), np.array([7, 8]))
    rows, columns, part = read_block(written([X, csc_matrix(X), index], tmp_path / "a.block"))
    assert isinstance(rows, csr_matrix)
    assert isinstance(columns, csc_matrix)
    assert (rows != X).nnz == (columns != X).nnz == 0
    assert part.search(np.eye(2, dtype=np.float32), 1).ids.tolist() == [[7], [8]]


def test_arrays_can_be_written_to_without_changing_the_file(tmp_path) -> None:
    path = written(np.zeros(3), tmp_path / "a.block")
    read_block(path)[:] = 1.0
    assert read_block(path).tolist() == [0.0, 0.0, 0.0]


def test_a_changed_or_short_file_is_noticed(tmp_path) -> None:
    path = written({"a": np.arange(100)}, tmp_path / "a.block")
    whole = path.read_bytes()
    changed = bytearray(whole)
    changed[-60] ^= 1
    for content in (bytes(changed), whole[:-8], whole[:4], b"a text that is no block at all" * 9):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"damaged|no block"):
            read_block(path)


def test_the_fingerprint_is_that_of_the_value() -> None:
    assert BlockContent([1, np.arange(2)]).digest == BlockContent([1, np.arange(2)]).digest
    others = [[2, np.arange(2)], [1, np.arange(3)], [1, np.arange(2, dtype=np.int32)]]
    assert BlockContent([1, np.arange(2)]).digest not in [BlockContent(v).digest for v in others]


def test_what_no_file_can_hold_is_refused_by_name() -> None:
    with pytest.raises(EngineError, match="function cannot be part of a block"):
        BlockContent([lambda: 1])


@pytest.mark.parametrize(
    "header",
    [
        {"value": {"$array": 0}, "arrays": [["|O", [4], 0]]},
        {"value": {"$array": 0}, "arrays": [["<f8", [4], -64]]},
        {"value": {"$array": 0}, "arrays": [["<f8", [10**9], 0]]},
        {"value": {"$array": 3}, "arrays": []},
        {"value": {"$object": "os"}, "arrays": []},
        {"value": [], "arrays": 5},
        [],
    ],
)
def test_a_file_that_somebody_else_wrote_is_no_block(header, tmp_path) -> None:
    told = json.dumps(header).encode()
    content = MAGIC + len(told).to_bytes(8, "little") + told
    content += bytes(-len(content) % 64) + b"\x41" * 256
    path = tmp_path / "a.block"
    path.write_bytes(content + hashlib.sha256(content).digest())
    with pytest.raises(ValueError, match="no block"):
        read_block(path)


@pytest.mark.skipif(os.name != "posix", reason="rights of POSIX")
def test_copies_of_blocks_are_kept_where_nobody_else_writes(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    fsspec = pytest.importorskip("fsspec")
    there = Workdir("memory://blocks")
    there.write("a.block", BlockContent([1]))
    assert there.read("a.block") == [1]
    copies = tmp_path / f"labelspace-blocks-{os.getuid()}"
    assert copies.stat().st_mode & 0o777 == 0o700
    copies.chmod(0o777)
    with pytest.raises(EngineError, match="others may write to it"):
        there.read("a.block")
    shutil.rmtree(copies)
    (tmp_path / "elsewhere").mkdir()
    copies.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(EngineError, match="belongs to somebody else"):
        there.read("a.block")
    fsspec.filesystem("memory").rm("blocks", recursive=True)
