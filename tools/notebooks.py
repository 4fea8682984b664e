"""Runs the notebooks of ``docs/notebooks`` from top to bottom: ``make notebooks``.

Each runs in a scratch folder of its own and may not raise. ``--write`` keeps what they printed in
the files, as readers see it on the web; names of files run those only. Commands of cells, as in
``!labelspace train``, are those of the environment that this program runs in, activated or not.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "notebooks"
SECONDS = 600


def main(arguments: list[str]) -> None:
    """Run notebooks, all or those that are named; end with 1 if one raises."""
    keeps = "--write" in arguments
    named = [Path(one) for one in arguments if not one.startswith("-")]
    failed = []
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    for path in named or sorted(FOLDER.glob("*.ipynb")):
        began = time.perf_counter()
        notebook = nbformat.read(path, as_version=4)
        with tempfile.TemporaryDirectory() as scratch:
            client = NotebookClient(
                notebook, timeout=SECONDS, resources={"metadata": {"path": scratch}}
            )
            try:
                client.execute()
            except CellExecutionError as error:
                print(error)
                failed.append(path.name)
        print(f"{path.name}: {time.perf_counter() - began:.0f} s", flush=True)
        if keeps:
            nbformat.write(plain(notebook), path)
    if failed:
        sys.exit(f"These notebooks raised: {', '.join(failed)}.")


def plain(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Return a notebook without what differs from run to run."""
    notebook.metadata = nbformat.from_dict(
        {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    )
    for at, cell in enumerate(notebook.cells):
        cell.id = f"cell-{at}"
        cell.metadata = nbformat.from_dict({})
        if cell.cell_type == "code":
            # What goes to stderr is progress, and how long it took.
            cell.outputs = [one for one in cell.outputs if one.get("name") != "stderr"]
    return notebook


if __name__ == "__main__":
    main(sys.argv[1:])
