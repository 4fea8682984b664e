"""The XC repository's texts: ``trn.json`` with ``target_ind``, the lines of ``lbl.json``.

::

    {"uid": "a1", "title": "Roses", "content": "…", "target_ind": [3, 17], "target_rel": [1.0, 1.0]}
    {"uid": "b7", "title": "Gardening"}                                       a line of lbl.json
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from labelspace.data.formats.compression import SUFFIXES, open_input
from labelspace.data.formats.label_cells import check_whole
from labelspace.data.formats.names import MAX_INDEX, NameFile
from labelspace.data.formats.records import JsonTable
from labelspace.errors import DataError

TARGETS = "target_ind"
LABELS_JSON = "lbl.json"


class XcJsonTable(JsonTable):
    """JSON lines whose labels are lines of ``lbl.json`` beside it, counted from 0.

    Without that file they are the columns of a trained model.
    """

    labels_are_columns = True

    def __init__(self, path: Path) -> None:
        super().__init__(path, is_array=False)
        self.label_lines = _read_labels(path)
        labels = "by number" if self.label_lines is None else f"in {LABELS_JSON}"
        self.how = f"JSON lines of the XC repository, labels {labels}"
        self._targets = self.columns.index(TARGETS)

    def check_labels(self) -> None:
        if self.label_lines is None:
            raise DataError(
                f'{self.path} has "{TARGETS}", which are lines of {LABELS_JSON}: put that file '
                "beside it, or say with --labels which other member holds the labels."
            )

    def rows(self) -> Iterator[tuple[int, Sequence[Any]]]:
        beside = self.label_lines
        n_labels = MAX_INDEX if beside is None else len(beside.names)
        where = (
            "a model's columns" if beside is None else f"the {n_labels:,} lines of {LABELS_JSON}"
        )
        for number, row in self._objects():
            targets = row.get(TARGETS) or []
            if not isinstance(targets, list) or any(
                type(at) is not int or not 0 <= at < n_labels for at in targets
            ):
                raise DataError(
                    f'{self.path}, line {number}: "{TARGETS}" has a number that is none of '
                    f"{where}; give the file that belongs to it."
                )
            cells = [row.get(name) for name in self.columns]
            cells[self._targets] = targets
            yield number, cells


def _read_labels(corpus: Path) -> NameFile | None:
    names, keys = [], []
    found = [corpus.parent / (LABELS_JSON + suffix) for suffix in ("", *SUFFIXES)]
    path = next((path for path in found if path.is_file()), None)
    if path is None:
        return None
    with open_input(path) as stream:
        for number, raw in enumerate(stream, 1):
            if not raw.strip():
                continue
            try:
                label = json.loads(raw)
                names.append(str(label.get("title") or label["uid"]))
                keys.append(str(label.get("uid", number - 1)))
                check_whole(names[-1] + keys[-1], "the label")
            except (ValueError, KeyError, AttributeError, RecursionError):
                raise DataError(
                    f'{path}, line {number}: this is no label; write {{"uid": …, "title": …}}.'
                ) from None
    return NameFile(path, names, keys)
