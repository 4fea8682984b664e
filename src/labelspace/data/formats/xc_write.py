"""Writing XC-repository text and svmlight, whole or block by block (see ``xc_text``)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix

from labelspace.data.corpus import Corpus
from labelspace.data.formats import _xc_kernels as kernels
from labelspace.data.formats.compression import open_output
from labelspace.data.formats.names import FEATURES_FILE, LABELS_FILE, names_kept_beside
from labelspace.errors import DataError


def write_xc_text(corpus: Corpus, path: Path, header: bool = True) -> None:
    """Write XC text (svmlight without ``header``); names go to files beside it."""
    if corpus.X is None:
        raise DataError(
            f"{path} cannot be written: the corpus has text but no features, which this format "
            "needs; write .tsv or .jsonl, or turn the text into features first."
        )
    shape = (len(corpus), corpus.n_features, corpus.n_labels)
    names = {LABELS_FILE: corpus.label_names, FEATURES_FILE: corpus.feature_names}
    with names_kept_beside(path, names):
        write_blocks(path, _row_blocks(corpus.X, corpus.Y), shape if header else None)


def write_blocks(
    path: Path,
    blocks: Iterable[tuple[csr_matrix, csr_matrix]],
    shape: tuple[int, int, int] | None,
) -> None:
    """Write blocks of rows, as pairs (X, Y), one after another: a corpus larger than memory.

    ``shape`` is the first line: rows, features, labels; None writes none.

    Examples
    --------
    >>> import tempfile
    >>> block = csr_matrix([[0, 0.5], [1, 0]]), csr_matrix([[1, 1], [0, 0]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "big.txt")
    ...     write_blocks(path, [block, block], (4, 2, 2))
    ...     path.read_text().splitlines()
    ['4 2 2', '0,1 1:0.5', ' 0:1', '0,1 1:0.5', ' 0:1']
    """
    n_rows = 0
    with open_output(path) as file:
        if shape is not None:
            file.write(f"{shape[0]} {shape[1]} {shape[2]}\n".encode())
        for X, Y in blocks:
            file.write(format_rows(X, Y))
            n_rows += Y.shape[0]
        if shape is not None and n_rows != shape[0]:
            raise DataError(f"{path} was promised {shape[0]} rows but given {n_rows}.")


def format_rows(X: csr_matrix, Y: csr_matrix) -> bytes:
    """Return rows as XC text; each value has the fewest digits that read back the same.

    >>> format_rows(csr_matrix([[0, 0.1], [0, 0]], dtype=np.float32), csr_matrix([[1, 1], [0, 0]]))
    b'0,1 1:0.1\\n \\n'
    """
    values = X.data.astype(np.float32, copy=False)
    label_ends = Y.indptr[1:].astype(np.int64)
    feature_ends = X.indptr[1:].astype(np.int64)
    labels, features = (matrix.indices.astype(np.int32, copy=False) for matrix in (Y, X))
    out = np.empty(12 * Y.nnz + 36 * X.nnz + 2 * Y.shape[0], dtype=np.uint8)
    size = kernels.format_rows(labels, label_ends, features, values, feature_ends, out)
    if size >= 0:
        return bytes(out[:size].data)
    lines = []
    for row in range(Y.shape[0]):
        ids = Y.indices[Y.indptr[row] : Y.indptr[row + 1]].tolist()
        inside = slice(X.indptr[row], X.indptr[row + 1])
        pairs = zip(X.indices[inside].tolist(), values[inside], strict=True)
        line = ",".join(map(str, ids)) + "".join(f" {i}:{value!s}" for i, value in pairs)
        lines.append(f"{line or ' '}\n")
    return "".join(lines).encode()


def _row_blocks(X: csr_matrix, Y: csr_matrix) -> Iterator[tuple[csr_matrix, csr_matrix]]:
    """Yield X and Y in blocks of rows of at most about half a million numbers."""
    n_rows = Y.shape[0]
    per_row = (X.nnz + Y.nnz) // max(n_rows, 1) + 1
    step = max(500_000 // per_row, 1)
    for start in range(0, n_rows, step):
        yield X[start : start + step], Y[start : start + step]
