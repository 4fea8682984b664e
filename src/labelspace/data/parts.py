"""A long table written part by part, so that a killed run goes on where it stopped.

Parts stand in a folder beside the target, ``.NAME.parts``, each complete or not there at all, with
a file that says what they are parts of. When the last one is written they become the target, in
one step, and the folder goes. One run at a time writes to it.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from labelspace.data.formats.compression import open_output
from labelspace.errors import DataError
from labelspace.store.leftovers import hold

ROWS = 8192  # of a part: what a kill loses at most

_STATE = "state.json"


class TableParts:
    """The parts of a table that becomes the file ``target``.

    Parameters
    ----------
    target : Path
    job : dict
        What the rows follow from, such as model and source; parts of another job are thrown away.

    Attributes
    ----------
    n_done : int
        Parts that are there already, of ``ROWS`` rows each.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     target = Path(folder, "a.csv")
    ...     with TableParts(target, {"k": 5}) as parts:
    ...         parts.add(lambda file: file.write(b"1,2"))
    ...     for k in (5, 3):
    ...         with TableParts(target, {"k": k}) as parts:
    ...             parts.n_done
    1
    0
    """

    def __init__(self, target: Path, job: dict[str, object]) -> None:
        if target.is_dir():
            raise DataError(f"{target} is a folder; give the name of a file to write to.")
        if not target.parent.is_dir():
            raise DataError(f"{target} cannot be written: make the folder {target.parent} first.")
        self.target = target
        self._folder = target.with_name(f".{target.name}.parts")
        said = json.dumps({"rows_of_a_part": ROWS, **job}, sort_keys=True)
        self._release = self._hold()
        try:
            if self._said() != said:
                self._begin(said)
        except BaseException:
            self._release()
            raise
        self.n_done = 0
        while self._path(self.n_done).is_file():
            self.n_done += 1

    def __enter__(self) -> TableParts:
        return self

    def __exit__(self, *_: object) -> None:
        """Let other runs write to the target; parts that are done stay for the next."""
        if not self.n_done:
            shutil.rmtree(self._folder, ignore_errors=True)
        self._release()

    @property
    def paths(self) -> list[Path]:
        """The parts, in order."""
        return [self._path(at) for at in range(self.n_done)]

    def add(self, write: Callable[[BinaryIO], object]) -> None:
        """Let ``write`` write the next part; it counts once it is complete."""
        with open_output(self._path(self.n_done)) as file:
            write(file)
        self.n_done += 1

    def finish(self, join: Callable[[BinaryIO, list[Path]], object]) -> None:
        """Let ``join`` make the target of all parts, and remove them."""
        with open_output(self.target) as file:
            join(file, self.paths)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _hold(self) -> Callable[[], None]:
        try:
            self._folder.mkdir(exist_ok=True)
        except OSError as error:
            raise DataError(
                f"{self.target} cannot be written ({error.strerror or error}); check the folder's "
                "permissions and the free space."
            ) from error
        release = hold(self._folder)
        if release is None:
            raise DataError(
                f"{self.target} is being written by another run: wait for its end, or give another "
                "file."
            )
        return release

    def _begin(self, said: str) -> None:
        # What the parts are of goes first: half of them must not be taken for the beginning.
        (self._folder / _STATE).unlink(missing_ok=True)
        for left in self._folder.iterdir():
            left.unlink()
        with open_output(self._folder / _STATE) as file:
            file.write(said.encode())

    def _path(self, at: int) -> Path:
        return self._folder / f"{at:06d}"

    def _said(self) -> str | None:
        try:
            return (self._folder / _STATE).read_text(encoding="utf-8")
        except OSError:
            return None
