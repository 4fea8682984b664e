"""A label hierarchy from a file of ``parent<TAB>child`` lines, as a graph of labels.

Labels go by their names or, if no word of the file is the name of a label, by their numbers from 0.
Names that are no label of the corpus are kept as nodes behind the labels: a concept that no row
has still holds its children together. An edge runs both ways.
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix

from labelspace.data.formats.compression import open_input
from labelspace.data.formats.names import decode
from labelspace.errors import DataError


def hierarchy_graph(
    hierarchy: str | PathLike[str] | csr_matrix,
    n_labels: int,
    label_names: Sequence[object] | None = None,
) -> csr_matrix:
    """Return the graph of a hierarchy that is a file, or a matrix of edges already.

    >>> hierarchy_graph(csr_matrix([[0, 2], [0, 0]]), 2).toarray()
    array([[0., 2.],
           [0., 0.]], dtype=float32)
    """
    if isinstance(hierarchy, str | PathLike):
        return read_hierarchy(hierarchy, n_labels, label_names)
    graph = csr_matrix(hierarchy, dtype=np.float32)
    if graph.shape[0] != graph.shape[1] or graph.shape[0] < n_labels:
        raise DataError(
            f"The hierarchy is a matrix of shape {graph.shape}, but there are {n_labels} "
            "labels: give a row and a column for each label."
        )
    if not np.all(np.isfinite(graph.data) & (graph.data >= 0)):
        raise DataError(
            "The hierarchy has an edge of weight NaN, infinite or below 0: give weights from 0 on."
        )
    return graph


def read_hierarchy(
    path: str | PathLike[str], n_labels: int, label_names: Sequence[object] | None = None
) -> csr_matrix:
    """Return the graph of a hierarchy, of shape (n_nodes, n_nodes): labels first, then other names.

    Parameters
    ----------
    path : path
        Lines ``parent<TAB>child``, plain or compressed; empty ones do not count.
    n_labels : int
    label_names : sequence, optional
        Names of the labels; without them the file must give numbers.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "tree.tsv")
    ...     _ = path.write_text("animal\\tcat\\nanimal\\tdog\\n")
    ...     read_hierarchy(path, 2, ["cat", "dog"]).toarray().astype(int)
    array([[0, 0, 1],
           [0, 0, 1],
           [1, 1, 0]])
    """
    path = Path(path)
    pairs, lines = _read_pairs(path)
    known = {str(name): label for label, name in enumerate(label_names or ())}
    if not any(word in known for pair in pairs for word in pair):
        known = {str(label): label for label in range(n_labels)}
        for pair, line in zip(pairs, lines, strict=True):
            for word in pair:
                if word not in known:
                    raise DataError(
                        f"{path}, line {line}: '{word}' is neither the name of a label nor a "
                        f"number from 0 to {n_labels - 1}; give names or numbers."
                    )
    nodes = dict(known)
    for pair in pairs:
        for word in pair:
            nodes.setdefault(word, n_labels + len(nodes) - len(known))
    ends = np.array([[nodes[word] for word in pair] for pair in pairs], dtype=np.int64)
    n_nodes = n_labels + len(nodes) - len(known)
    both = np.concatenate((ends, ends[:, ::-1]))
    both = both[both[:, 0] != both[:, 1]]
    ones = np.ones(len(both), dtype=np.float32)
    graph = csr_matrix((ones, (both[:, 0], both[:, 1])), shape=(n_nodes, n_nodes))
    graph.sum_duplicates()
    graph.data[:] = 1.0
    return graph


def _read_pairs(path: Path) -> tuple[list[tuple[str, str]], list[int]]:
    pairs, lines = [], []
    if not path.is_file():
        raise DataError(f"There is no file {path}: give a file of parent<TAB>child lines.")
    with open_input(path) as stream:
        for number, raw in enumerate(stream, 1):
            line = decode(raw, path, number)
            if not line.strip():
                continue
            words = [word.strip() for word in line.split("\t")]
            if len(words) != 2 or not all(words):
                raise DataError(
                    f"{path}, line {number}: write a parent, one tab, and its child; this line has "
                    f"{len([word for word in words if word])} of two names."
                )
            pairs.append((words[0], words[1]))
            lines.append(number)
    if not pairs:
        raise DataError(f"{path} has no line with a parent, a tab and its child: give some.")
    return pairs, lines
