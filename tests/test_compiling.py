from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import numba
import pytest

import labelspace
from labelspace import compiling, progress
from labelspace.cli import output

# Everything but our kernels is loaded first: the interpreter may be where only root can read.
PROGRAM = """
import os, pkgutil, importlib, sys, tempfile
import numba, numpy, scipy.sparse
numba.njit(lambda number: number + 1)(1)
import numba.core.runtime.nrt
if os.getuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
tempfile.tempdir = None
import labelspace
assert labelspace.__file__.startswith(sys.argv[1]), labelspace.__file__
from labelspace import compiling
names = [found.name for found in pkgutil.walk_packages(labelspace.__path__, "labelspace.")]
kernels = [importlib.import_module(name) for name in names if name.endswith("_kernels")]
assert len(kernels) > 20, names
from labelspace._random_kernels import next_state
next_state(numpy.uint64(3))
print(next_state._cache.cache_path)
print(sum(next_state.stats.cache_hits.values()))
"""


@pytest.fixture
def readable():
    """A folder that everyone may read, and no one but us may write to."""
    folder = Path(tempfile.mkdtemp()).resolve()
    folder.chmod(0o755)
    yield folder
    for inside in (folder, *folder.rglob("*")):
        if inside.is_dir():
            inside.chmod(0o755)
    shutil.rmtree(folder)


@pytest.mark.skipif(not hasattr(os, "setuid"), reason="needs users as Unix has them")
def test_a_user_who_may_write_nowhere_but_among_temporary_files_has_kernels_kept(readable):
    source = readable / "src"
    shutil.copytree(
        Path(labelspace.__file__).parent,
        source / "labelspace",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    temporary = readable / "tmp"
    temporary.mkdir()
    temporary.chmod(0o1777)
    for folder in (source, *source.rglob("*")):
        folder.chmod(0o555 if folder.is_dir() else 0o444)

    def run() -> list[str]:
        env = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "TMPDIR": str(temporary)}
        done = subprocess.run(
            [sys.executable, "-B", "-c", PROGRAM, str(source)],
            capture_output=True,
            text=True,
            env={**env, "PYTHONPATH": str(source)},
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    (kept, found), (kept_again, found_again) = run(), run()
    assert Path(kept).is_relative_to(temporary)
    assert (kept_again, found, found_again) == (kept, "0", "1")
    (private,) = temporary.iterdir()
    assert stat.S_IMODE(private.stat().st_mode) == 0o700
    assert private.stat().st_uid == (os.getuid() or 65534)


def test_machine_code_is_kept_beside_the_source(tmp_path, unset):
    assert compiling.cache_folder(tmp_path) == tmp_path / "__pycache__"


def test_the_folder_that_was_chosen_comes_first(tmp_path, monkeypatch, unset):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "chosen"))
    assert compiling.cache_folder(tmp_path) == tmp_path / "chosen"


def test_the_users_cache_folder_comes_next_and_is_private(tmp_path, locked, unset, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "platform", "linux")
    folder = compiling.cache_folder(locked)
    assert folder == tmp_path / "cache" / "labelspace" / "numba"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_folder_of_the_platform_is_the_users_cache(monkeypatch):
    monkeypatch.setenv("HOME", "/home/ada")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    assert compiling.user_cache() == Path("/home/ada/.cache")
    monkeypatch.setattr(sys, "platform", "darwin")
    assert compiling.user_cache() == Path("/home/ada/Library/Caches")
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", "/local")
    assert compiling.user_cache() == Path("/local")


def test_a_folder_that_others_prepared_is_not_taken(tmp_path, locked, unset, monkeypatch):
    monkeypatch.setattr(compiling, "user_cache", lambda: None)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    prepared = tmp_path / f"labelspace-{os.getuid()}"

    def taken() -> Path:
        compiling.cache_folder.cache_clear()
        compiling._temporary.cache_clear()
        return compiling.cache_folder(locked)

    assert taken() == prepared

    prepared.chmod(0o777)
    assert taken() != prepared

    prepared.rmdir()
    (tmp_path / "theirs").mkdir()
    prepared.symlink_to(tmp_path / "theirs")
    assert taken() != prepared
    assert stat.S_IMODE(taken().stat().st_mode) == 0o700

    prepared.unlink()
    tmp_path.chmod(0o777)  # anyone may move what is in it
    assert taken() != prepared
    tmp_path.chmod(0o1777)
    assert taken() == prepared


def test_without_any_place_kernels_are_compiled_and_not_kept(unset, monkeypatch):
    monkeypatch.setattr(compiling, "_may_write", lambda folder: False)
    monkeypatch.setattr(compiling, "_temporary", lambda: None)

    @compiling.njit(cache=True)
    def double(number):
        return 2 * number

    assert double(21) == 42
    assert double._cache.cache_path is None


def test_choosing_a_place_leaves_numba_as_it_was(monkeypatch, tmp_path):
    monkeypatch.setattr(compiling, "cache_folder", lambda source: tmp_path)
    before = numba.config.CACHE_DIR
    kernel = compiling.njit(cache=True)(lambda number: number)
    assert Path(kernel._cache.cache_path).is_relative_to(tmp_path)
    assert before == numba.config.CACHE_DIR


def test_compiling_is_told_once_in_lines(capsys):
    with progress.listening(output.Lines()):
        compile_new_kernels()
    assert capsys.readouterr().err == "Compiling, once: later runs do not wait for this\n"


def test_compiling_is_told_from_its_beginning_to_its_end():
    told = []

    class Told(output.Lines):
        def compiling(self, kernel: str | None) -> None:
            told.append(kernel)

    with progress.listening(Told()):
        compile_new_kernels()
    assert told == ["outer", "inner", None]


def test_a_bar_tells_of_compiling_until_it_is_over():
    bars = output.Bars()
    with progress.listening(bars), progress.task("training"):
        compile_new_kernels()
        bar = bars._bars.tasks[1]
        assert not bar.visible
        assert bar.completed == 2
        assert bar.description == "Compiling, once: inner"


def compile_new_kernels() -> None:
    """Compile a kernel that calls another, of this package as far as can be seen."""

    def inner(number):
        return number + 1

    def outer(number):
        return double_of(number) * 2

    inner.__module__ = outer.__module__ = "labelspace.made_up_kernels"
    double_of = compiling.njit()(inner)
    assert compiling.njit()(outer)(20) == 42


@pytest.fixture
def locked(tmp_path, monkeypatch):
    """A folder of sources in which nothing can be written."""
    source = tmp_path / "locked"
    may_write = compiling._may_write
    monkeypatch.setattr(
        compiling, "_may_write", lambda folder: source not in folder.parents and may_write(folder)
    )
    return source


@pytest.fixture
def unset(monkeypatch):
    """Nothing is chosen, and nothing is remembered."""
    remembered = compiling.cache_folder, compiling._temporary
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    for function in remembered:
        function.cache_clear()
    yield
    for function in remembered:
        function.cache_clear()
