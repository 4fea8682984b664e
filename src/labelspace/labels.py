"""Labels as people give them, made into one 0-1 matrix.

A user may hand over a 0-1 matrix (sparse or dense), a list of label lists (ids or names), or one
class per row; names of columns may come with any of them (``NamedColumns``), and a frame or column
of pandas, polars or pyarrow is each of these (``frames``). ``LabelEncoder`` turns
each into CSR and remembers which it was, so that answers come back in the same form and labels seen
later get the next free column. It is the one place where a model's label names are kept.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse, sparray, vstack
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets

from labelspace.csr import NamedColumns, columns_by_name
from labelspace.errors import AmbiguousLabel, DataError
from labelspace.frames import is_missing, labels_of
from labelspace.model_vocabulary import ModelVocabulary
from labelspace.store import Storable, schema

# More columns than this are a mistake (ids that are not counted from 0) rather than a label set.
MAX_LABELS = 100_000_000


class LabelEncoder(Storable):
    """Turns labels into a CSR matrix and back.

    Attributes
    ----------
    kind : {"matrix", "lists", "classes"}
        The form that the labels were first given in.
    names : list or None
        Label names (or classes) by column; None where labels are plain column numbers.
    n_labels : int
    is_array : bool, whether they were first given as one of scipy's sparse arrays
    vocabulary : ModelVocabulary, or None
        Keys, names by language and broader labels of the columns, where there are any.

    Examples
    --------
    >>> encoder = LabelEncoder()
    >>> encoder.learn([["red", "round"], ["red"]]).toarray()
    array([[1., 1.],
           [1., 0.]], dtype=float32)
    >>> encoder.names
    ['red', 'round']
    >>> encoder.learn([["green"]]).toarray()
    array([[0., 0., 1.]], dtype=float32)
    """

    vocabulary: ModelVocabulary | None = None
    is_array: bool = False
    excluded: Sequence[int] = ()  # columns that it learned without, and that are never given
    # Columns by name, those of names that several have, and the names that they were made from;
    # made when asked for, never stored.
    _found: tuple[dict[str, int], dict[str, list[int]], list[Any]] | None = None

    _schema: ClassVar[schema.Schema] = {
        "kind": schema.option(None, "matrix", "lists", "classes"),
        "names": schema.optional(schema.list_of(schema.anything, length="n_labels")),
        "n_labels": schema.size("n_labels"),
        "_class_dtype": schema.anything,
        "is_array": schema.maybe(schema.FLAG),
        "vocabulary": schema.maybe(schema.part("ModelVocabulary", n_columns="n_labels")),
        "excluded": schema.maybe(schema.list_of(schema.integer(), length="n_excluded")),
    }

    @classmethod
    def _check_state(cls, state: schema.State, sizes: schema.Sizes) -> None:
        super()._check_state(state, sizes)
        kinds = set(map(type, state["names"] or ()))
        if not (kinds <= {str} or kinds <= {int, float, bool}):
            raise schema.Mismatch("names are neither all texts nor all numbers")
        if state["_class_dtype"] is not None:
            dtype = np.dtype(str(state["_class_dtype"]))
            longest = max((len(str(name)) for name in state["names"] or ()), default=0)
            is_text = dtype.kind == "U" and kinds <= {str} and dtype.itemsize <= 4 * max(longest, 1)
            if not is_text and not (dtype.kind in "biuf" and str not in kinds):
                raise schema.Mismatch("_class_dtype is not that of the names")

    def __init__(self) -> None:
        self.kind: str | None = None
        self.names: list[Any] | None = None
        self.n_labels = 0
        self._class_dtype: str | None = None

    @property
    def classes(self) -> NDArray[Any]:
        """Names of the columns, or their numbers where they have no names."""
        if self.names is None:
            return np.arange(self.n_labels)
        return np.asarray(self.names, dtype=self._class_dtype)

    def name(self, label: int) -> str:
        """Return the name of a column, or its number as text."""
        return str(label if self.names is None else self.names[label])

    def find(self, label: int | str) -> int | None:
        """Return the column of a label given by number or name; None if there is none such.

        A name that several columns have is an error.

        >>> encoder = LabelEncoder()
        >>> _ = encoder.learn([["red", "round"]])
        >>> encoder.find("round"), encoder.find(0), encoder.find("square")
        (1, 0, None)
        """
        found = self.find_all(label)
        if len(found) > 1:
            raise AmbiguousLabel(
                f"{len(found)} labels are called '{str(label)[:80]}': give the number of one, "
                f"{', '.join(map(str, found[:8]))}{', …' if len(found) > 8 else ''}."
            )
        return found[0] if found else None

    def find_all(self, label: int | str) -> list[int]:
        """Return the columns of a label given by number or name."""
        if isinstance(label, int):
            return [label] if 0 <= label < self.n_labels else []
        if self.names is None:
            is_number = label.isascii() and label.isdigit() and len(label) < 11
            return self.find_all(int(label)) if is_number else []
        if self._found is None or self._found[2] is not self.names:
            self._found = *columns_by_name([str(name) for name in self.names]), self.names
        first, several, _ = self._found
        return several.get(label) or ([first[label]] if label in first else [])

    def learn(self, Y: Any, n_rows: int | None = None) -> csr_matrix:
        """Encode ``Y`` and take in labels that are new."""
        encoded = self._encode(Y, n_rows)
        self.n_labels = encoded.shape[1]
        if self.vocabulary is not None:
            self.vocabulary = self.vocabulary.extended(self.names or ())
        return encoded

    def encode(self, Y: Any, n_rows: int | None = None) -> csr_matrix:
        """Encode ``Y``; labels never learned get columns beyond ``n_labels``, and are forgotten."""
        names = None if self.names is None else list(self.names)
        try:
            return self._encode(Y, n_rows)
        finally:
            self.names = names

    def _encode(self, Y: Any, n_rows: int | None) -> csr_matrix:
        if Y is None:
            raise DataError(
                "This estimator requires y to be passed, but the target y is None: "
                "give the labels of each row."
            )
        Y = labels_of(Y)
        is_array = isinstance(getattr(Y, "values", Y), sparray)
        if isinstance(Y, NamedColumns):
            Y = self._take_names(Y)
        kind = _kind(Y)
        if kind == "column":
            warnings.warn(
                "A column-vector y was passed when a 1d array was expected: its values are taken "
                "as one class per row.",
                DataConversionWarning,
                stacklevel=4,
            )
            Y, kind = np.asarray(Y).ravel(), "classes"
        if self.kind is None:
            self.kind, self.is_array = kind, is_array
        encoded = {"matrix": self._matrix, "lists": self._lists, "classes": self._classes}[kind](Y)
        if n_rows is not None and encoded.shape[0] != n_rows:
            raise DataError(
                f"Found input variables with inconsistent numbers of samples: {n_rows} rows of "
                f"features but {encoded.shape[0]} rows of labels; give one row of each."
            )
        return encoded

    def _take_names(self, Y: NamedColumns) -> Any:
        """Make the names of columns this encoder's own; return the labels, to be encoded so."""
        names, known = list(Y.names), self.names or []
        if names[: len(known)] != known:
            raise DataError(
                "The label names differ from those that the model knows: keep them in the same "
                "order and put new ones at the end."
            )
        alone = LabelEncoder()
        columns = alone.learn(Y.values)
        n_labels = max(self.n_labels, 0 if alone.names else columns.shape[1])
        if n_labels > len(names):
            raise DataError(
                f"There are {n_labels} labels but {len(names)} label names: give one for each."
            )
        self.names = names
        return Y.values if alone.names else _widened(columns, len(names))

    def _matrix(self, Y: Any) -> csr_matrix:
        if self.names is not None and Y.shape[1] > len(self.names):
            raise DataError(
                f"The label matrix has {Y.shape[1]} columns but the model knows "
                f"{len(self.names)} named labels: give new labels by name, as label lists."
            )
        encoded = csr_matrix(Y, dtype=np.float32, copy=True)
        assert_all_finite(encoded.data, input_name="Y")
        encoded.sum_duplicates()
        encoded.eliminate_zeros()
        if encoded.nnz and not np.all(encoded.data == 1.0):
            raise DataError(
                "A label matrix holds only 0 and 1, but this one holds "
                f"{encoded.data[encoded.data != 1.0][0]:g}: give label lists or one class per row "
                "(a 1-D array) instead."
            )
        return _widened(encoded, max(encoded.shape[1], self.n_labels))

    def _lists(self, rows: Sequence[Collection[Any]]) -> csr_matrix:
        lengths = np.fromiter((len(row) for row in rows), dtype=np.int64, count=len(rows))
        flat = [label for row in rows for label in row]
        by_number = all(isinstance(label, (int, np.integer)) for label in flat)
        if self.names is not None or (self.n_labels == 0 and not by_number):
            columns = self._columns_of(flat)
            n_labels = len(self.names or ())
        elif by_number:
            columns = np.asarray(flat, dtype=np.int64)
            _check_ids(columns, rows, lengths)
            n_labels = max(self.n_labels, int(columns.max(initial=-1)) + 1)
        else:
            wrong = next(label for label in flat if not isinstance(label, (int, np.integer)))
            raise DataError(
                f"Label {wrong!r} is not a column number, but the model was trained on numbered "
                "labels: give whole numbers from 0."
            )
        indptr = np.concatenate(([0], np.cumsum(lengths)))
        encoded = csr_matrix(
            (np.ones(columns.size, dtype=np.float32), columns, indptr), shape=(len(rows), n_labels)
        )
        encoded.sum_duplicates()
        encoded.data[:] = 1.0
        return encoded

    def _classes(self, y: Any) -> csr_matrix:
        values = np.asarray(y)
        if values.dtype.kind in "fc":
            assert_all_finite(values, input_name="y")
        check_classification_targets(values)
        if self.names is None and self.n_labels == 0:
            self._class_dtype = values.dtype.str if values.dtype != object else None
        columns = self._columns_of(values.tolist())
        return csr_matrix(
            (np.ones(len(values), dtype=np.float32), columns, np.arange(len(values) + 1)),
            shape=(len(values), len(self.names or ())),
        )

    def _columns_of(self, labels: Iterable[Any]) -> NDArray[np.int64]:
        """Return the column of each named label; new ones are sorted and put at the end."""
        labels = list(labels)
        names = self.names if self.names is not None else list(range(self.n_labels))
        known, several = columns_by_name(names)
        if several and (wrong := next((one for one in labels if one in several), None)) is not None:
            raise AmbiguousLabel(
                f"{len(several[wrong])} labels are called '{str(wrong)[:80]}': give labels as a "
                "matrix, or by names that only one has."
            )
        try:
            new = sorted(set(labels) - known.keys())
        except TypeError:
            if any(map(is_missing, labels)):
                raise DataError(
                    "A label is missing (None or NaN): leave it out, and give [] for a row "
                    "without labels."
                ) from None
            raise DataError(
                "Labels of different kinds are mixed (such as names and numbers): "
                "give either names or numbers."
            ) from None
        if new or self.names is None:
            self.names = [*names, *new]
        known.update((name, len(names) + at) for at, name in enumerate(new))
        return np.fromiter((known[label] for label in labels), dtype=np.int64, count=len(labels))

    def _to_state(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_found"}


def with_rows(Y: csr_matrix, more: csr_matrix) -> csr_matrix:
    """Return labels of old rows and below them those of new rows, whose last labels may be new.

    >>> with_rows(csr_matrix([[1]]), csr_matrix([[0, 1]])).toarray()
    array([[1, 0],
           [0, 1]])
    """
    return csr_matrix(vstack([_widened(Y, more.shape[1]), more], format="csr"), dtype=Y.dtype)


def without_rows(Y: csr_matrix, rows: NDArray[np.int64]) -> csr_matrix:
    """Return labels with some rows emptied, so that training does not see them.

    >>> without_rows(csr_matrix([[1], [1]]), np.array([0])).toarray()
    array([[0],
           [1]])
    """
    sizes = np.diff(Y.indptr)
    emptied = np.zeros(Y.shape[0], dtype=np.bool_)
    emptied[rows] = True
    kept = np.repeat(~emptied, sizes)
    indptr = np.concatenate(([0], np.cumsum(np.where(emptied, 0, sizes)))).astype(Y.indptr.dtype)
    return csr_matrix((Y.data[kept], Y.indices[kept], indptr), shape=Y.shape)


def _kind(Y: Any) -> str:
    if issparse(Y):
        return "matrix"
    if isinstance(Y, (list, tuple)) and any(_is_label_list(row) for row in Y):
        if not all(_is_label_list(row) for row in Y):
            raise DataError("Some rows are label lists and others single labels: give lists only.")
        return "lists"
    values = np.asarray(Y)
    if values.dtype == object and values.ndim == 1 and any(map(_is_label_list, values)):
        return "lists"
    if values.ndim == 1:
        return "classes"
    if values.ndim != 2:
        raise DataError(
            f"Labels have {values.ndim} dimensions: bad input shape {values.shape}; give a 0-1 "
            "matrix (rows × labels), label lists, or one class per row."
        )
    if values.shape[1] == 1 and not (values.dtype.kind in "biuf" and np.isin(values, (0, 1)).all()):
        return "column"
    return "matrix"


def _is_label_list(row: Any) -> bool:
    return isinstance(row, (list, tuple, set, frozenset)) or (
        isinstance(row, np.ndarray) and row.ndim == 1
    )


def _check_ids(columns: NDArray[np.int64], rows: Any, lengths: NDArray[np.int64]) -> None:
    bad = np.flatnonzero((columns < 0) | (columns >= MAX_LABELS))
    if bad.size:
        row = int(np.searchsorted(np.cumsum(lengths), bad[0], side="right"))
        raise DataError(
            f"Label number {columns[bad[0]]} in row {row} is outside 0…{MAX_LABELS - 1}: "
            "number the labels from 0, or give them as names (strings)."
        )


def _widened(Y: csr_matrix, n_labels: int) -> csr_matrix:
    return csr_matrix((Y.data, Y.indices, Y.indptr), shape=(Y.shape[0], n_labels))
