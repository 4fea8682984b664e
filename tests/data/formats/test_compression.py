"""Writing is all or nothing, also when it fails or is killed half-way."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import signal
import stat
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from labelspace.data import Corpus, read_corpus, write_corpus
from labelspace.data.formats.compression import open_input, open_output
from labelspace.errors import DataError


@pytest.mark.parametrize("suffix", ["", ".gz", ".xz", ".bz2"])
@pytest.mark.parametrize("failure", [RuntimeError, KeyboardInterrupt])
def test_failed_write_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, suffix: str, failure: type[BaseException]
) -> None:
    path = tmp_path / f"corpus.txt{suffix}"
    path.write_bytes(b"old")

    def write() -> None:
        with open_output(path) as file:
            file.write(b"new" * 100_000)
            raise failure

    with pytest.raises(failure):
        write()
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]
    assert path.read_bytes() == b"old"


def test_full_disk_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DataError, match=r"cannot be written \(No space left on device\)"):
        write_corpus(Corpus(np.eye(2), np.eye(2)), tmp_path / "a.txt")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="no such signal")
def test_killed_write_leaves_the_old_file_readable(tmp_path: Path) -> None:
    path = tmp_path / "corpus.txt"
    write_corpus(Corpus(np.eye(2), np.eye(2)), path)
    program = f"""
import sys
from pathlib import Path
from labelspace.data.formats.compression import open_input, open_output
with open_output(Path({str(path)!r})) as file:
    while True:
        file.write(b"1 1:1\\n" * 100_000)
"""
    with subprocess.Popen([sys.executable, "-c", program], env=dict(os.environ)) as process:
        for _ in range(600):
            if any(entry.stat().st_size > 1_000_000 for entry in tmp_path.iterdir()):
                break
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    assert len(read_corpus(path)) == 2
    assert len(list(tmp_path.iterdir())) == 2, "the process was killed before it wrote"
    write_corpus(Corpus(np.eye(3), np.eye(3)), path)
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


@pytest.mark.skipif(os.name == "nt", reason="other permissions")
def test_file_gets_the_permissions_of_the_umask_and_links_stay(tmp_path: Path) -> None:
    target = tmp_path / "real.txt"
    link = tmp_path / "link.txt"
    link.symlink_to(target)
    before = os.umask(0o027)
    try:
        write_corpus(Corpus(np.eye(2), np.eye(2)), link)
    finally:
        os.umask(before)
    assert link.is_symlink()
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_corpus_can_come_through_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    program = f"open({str(pipe)!r}, 'w').write('2 2 2\\n0 1:1\\n1 0:1\\n')"
    with subprocess.Popen([sys.executable, "-c", program]):
        assert len(read_corpus(pipe)) == 2


COMPRESSED = {"gz": gzip.compress, "xz": lzma.compress, "bz2": bz2.compress}


@pytest.mark.parametrize("kind", COMPRESSED)
def test_streams_one_after_another_are_read_to_the_end(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"rows.{kind}"
    parts = [b"0 1:1\n" * 70_000, b"", b"1 2:1\n" * 3]
    path.write_bytes(b"".join(map(COMPRESSED[kind], parts)) + (b"\0" * 8 if kind == "xz" else b""))
    with open_input(path) as stream:
        assert stream.read() == b"".join(parts)


@pytest.mark.parametrize("kind", ["xz", "bz2"])
def test_damage_in_a_later_stream_is_not_taken_for_the_end(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"rows.{kind}"
    first, second = COMPRESSED[kind](b"0 1:1\n" * 10), COMPRESSED[kind](b"1 2:1\n" * 10)
    for at in (0, 1, 2, 5, len(second) // 2):
        damaged = bytearray(second)
        damaged[at] ^= 0x40
        path.write_bytes(first + bytes(damaged))
        with pytest.raises(DataError, match=r"damaged|cut short"), open_input(path) as stream:
            stream.read()
    for end in (3, len(second) // 2):
        path.write_bytes(first + second[:end])
        with pytest.raises(DataError, match=r"damaged|cut short"), open_input(path) as stream:
            stream.read()


@pytest.mark.parametrize("compress", [gzip.compress, lzma.compress, bz2.compress])
@pytest.mark.parametrize("row", [b"0 1:1\n", b"a ball\tred\n", b'{"text": "a", "labels": ["b"]}\n'])
def test_a_small_file_that_unpacks_to_a_large_one_is_refused(
    tmp_path: Path, compress: Callable[[bytes], bytes], row: bytes
) -> None:
    packed = compress(row + b" " * (1 << 25)) * 4
    path = tmp_path / "corpus"
    path.write_bytes(packed)
    with pytest.raises(DataError, match=f"unpacks to more than 100 times its {len(packed):,} byte"):
        read_corpus(path)


def test_a_corpus_that_compresses_well_is_read(tmp_path: Path) -> None:
    path = tmp_path / "corpus.gz"
    path.write_bytes(gzip.compress(b"0 1:1\n" * 1_000_000))  # 6 MB in 6 kB
    assert len(read_corpus(path)) == 1_000_000


def test_a_workbook_or_arrays_that_unpack_to_far_more_are_refused(tmp_path: Path) -> None:
    for name in ("xl/worksheets/sheet1.xml", "Y_indptr.npy"):
        path = tmp_path / "corpus"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(name, bytes(1 << 27))
        with pytest.raises(DataError, match="unpacks to more than 100 times its"):
            read_corpus(path)
