"""Builds sdist and wheel into ``dist`` and checks what a release needs: ``make dist``.

The wheel is built twice, from different folders, and has to be the same to the byte; both files
pass ``twine check --strict``; the sdist has the tests and the documentation; and what was built
from the sdist says its version when it is installed without its dependencies.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
WANTED = (
    "CHANGELOG.md",
    "LICENSE",
    "Makefile",
    "docs/index.md",
    "docs/assets/page-text.png",
    "requirements/all.lock",
    "src/labelspace/server/static/index.html",
    "tests/conftest.py",
    "tests/models/baselines/test_one_vs_all.py",
)


def main() -> None:
    """Build, check, and say what was made."""
    environment = {**os.environ, "SOURCE_DATE_EPOCH": source_date()}
    shutil.rmtree(DIST, ignore_errors=True)
    build(ROOT, DIST, environment, "--sdist")
    (sdist,) = DIST.glob("*.tar.gz")
    check_sdist(sdist)
    with tempfile.TemporaryDirectory() as scratch:
        wheels = [wheel_from(sdist, Path(scratch, name), environment) for name in ("one", "two")]
        digests = {hashlib.sha256(wheel.read_bytes()).hexdigest() for wheel in wheels}
        if len(digests) > 1:
            sys.exit("The wheel is not the same when it is built again.")
        shutil.copy2(wheels[0], DIST)
        check_installs(wheels[0], Path(scratch, "installed"))
    files = sorted(str(path) for path in DIST.iterdir())
    run(sys.executable, "-m", "twine", "check", "--strict", *files)
    for path in files:
        size = os.path.getsize(path) / (1 << 20)
        print(f"{hashlib.sha256(Path(path).read_bytes()).hexdigest()}  {path} ({size:.1f} MiB)")


def source_date() -> str:
    """Return the time of the last commit, or that of the changelog where there is no git."""
    told = subprocess.run(
        ["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return told.stdout.strip() or str(int((ROOT / "CHANGELOG.md").stat().st_mtime))


def build(source: Path, target: Path, environment: dict[str, str], kind: str) -> None:
    """Build a file of a kind; the build backend is the one that is installed and locked."""
    options = ("--no-isolation", kind, "--outdir", str(target))
    run(sys.executable, "-m", "build", *options, str(source), environment=environment)


def wheel_from(sdist: Path, folder: Path, environment: dict[str, str]) -> Path:
    """Return the wheel that is built from an sdist that was unpacked into a folder."""
    with tarfile.open(sdist) as archive:
        # The filter came with security releases of all versions; older ones unpack as before.
        archive.extractall(
            folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {})
        )
    (source,) = folder.iterdir()
    build(source, folder / "wheel", environment, "--wheel")
    return next((folder / "wheel").glob("*.whl"))


def check_sdist(sdist: Path) -> None:
    """End with a sentence if the sdist lacks what it should have."""
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    if missing := [name for name in WANTED if name not in names]:
        sys.exit(f"{sdist.name} lacks {', '.join(missing)}: see MANIFEST.in.")
    if unwanted := [name for name in names if "__pycache__" in name or name.endswith(".nbi")]:
        sys.exit(f"{sdist.name} has {unwanted[0]}, which is made again: see MANIFEST.in.")


def check_installs(wheel: Path, folder: Path) -> None:
    """Install the wheel by itself and let it say its version."""
    quietly = ("--quiet", "--disable-pip-version-check", "--no-deps")
    run(sys.executable, "-m", "pip", "install", *quietly, "--target", str(folder), str(wheel))
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    run(sys.executable, "-m", "labelspace", "--version", environment=environment, cwd=folder)
    if not (folder / "labelspace" / "py.typed").exists():
        sys.exit("The wheel lacks py.typed: see package-data in pyproject.toml.")


def run(*command: str, environment: dict[str, str] | None = None, cwd: Path = ROOT) -> None:
    """Run a command; end if it fails."""
    done = subprocess.run(command, env=environment, cwd=cwd, check=False)
    if done.returncode:
        sys.exit(f"'{' '.join(command[:4])} …' failed with {done.returncode}.")


if __name__ == "__main__":
    main()
