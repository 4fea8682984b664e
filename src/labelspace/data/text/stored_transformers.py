"""What a transformer of scikit-learn has to be when it comes out of a model folder.

A stranger's folder may hold any plain data in the place of what fitting has put there: a vocabulary
whose columns lie outside of the matrix, which ends the process; a pattern that takes for ever to
match; a thousand processes to run in. So parameters are validated as scikit-learn's constructors
do, only what a class stores itself is taken, and patterns of one's own have to be trusted.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, issparse

from labelspace.errors import DataError, ModelFileError

# Patterns that need no more time than a text is long.
HARMLESS_PATTERNS = (
    *(r"(?u)\b\w\w+\b", r"(?u)\b\w+\b", r"\b\w\w+\b", r"\b\w+\b", r"(?u)\w+", r"\w+"),
    *(r"(?u)\w\w+", r"\w\w+", r"\S+", r"(?u)\S+", r"[^\s]+", r"[a-z]+", r"[a-zA-Z]+"),
)
LONGEST_NGRAM = 64
OWN_PATTERN = "token_pattern"  # the name by which one's own is trusted
MOST_JOBS = 64
# Functions, which a folder cannot hold, and what would read and write files.
_NONE = ("tokenizer", "preprocessor", "memory")


def check_restored(made: Any, trusts_patterns: bool) -> None:
    """Raise ModelFileError if an object that was put together again could do harm."""
    kind = type(made)
    try:
        parameters = made.get_params(deep=False)
        if hasattr(kind, "_parameter_constraints"):
            made._validate_params()
    except Exception as error:
        raise _refused(kind, " ".join(str(error).split())[:200]) from None
    for name in vars(made):
        if not isinstance(name, str) or (name not in parameters and hasattr(kind, name)):
            raise _refused(kind, f"{name!s:.40} is nothing that it stores")
    for name in _NONE:
        if parameters.get(name) is not None:
            raise _refused(kind, f"{name} has to be None")
    jobs = parameters.get("n_jobs")
    if jobs is not None and not (type(jobs) is int and abs(jobs) <= MOST_JOBS):
        raise _refused(kind, f"n_jobs is more than {MOST_JOBS}")
    if callable(parameters.get("analyzer")):
        raise _refused(kind, "analyzer has to be a name")
    if "dtype" in parameters and np.dtype(parameters["dtype"]).kind not in "iuf":
        raise _refused(kind, "dtype is no type of numbers")
    if "ngram_range" in parameters:
        _check_ngrams(kind, parameters["ngram_range"])
    for name in ("steps", "transformer_list"):
        if name in parameters:
            _check_pairs(kind, name, parameters[name])
    if "vocabulary_" in vars(made):
        _check_vocabulary(kind, vars(made)["vocabulary_"])
    pattern = parameters.get("token_pattern")
    if pattern is not None and pattern not in HARMLESS_PATTERNS and not trusts_patterns:
        raise ModelFileError(
            f"The model's {kind.__name__} cuts texts by a pattern of its own, {pattern!r:.80}, "
            f"which may take for ever: if you trust it, use Tagger.load(path, "
            f"trusted=['{OWN_PATTERN}']) or set LABELSPACE_TRUSTED={OWN_PATTERN}."
        )


def checked_rows(rows: Any, n_texts: int) -> csr_matrix:
    """Return what a transformer gave for texts as float32 CSR; raise if that is no matrix."""
    if not issparse(rows):
        rows = np.asarray(rows)
    if rows.ndim != 2 or rows.shape[0] != n_texts:
        raise DataError(
            f"The features of {n_texts} texts have shape {rows.shape}: transform must give a row "
            "for each text."
        )
    with np.errstate(over="ignore"):
        made = csr_matrix(rows, dtype=np.float32)
    made.check_format()
    if not np.isfinite(made.data).all():
        raise DataError("The features of texts are not all finite: transform must give numbers.")
    return made


def _check_ngrams(kind: type, given: Any) -> None:
    """Raise unless runs of words or characters are from one number to another that is small."""
    is_pair = isinstance(given, (tuple, list)) and len(given) == 2
    if not is_pair or not all(type(one) is int and 1 <= one <= LONGEST_NGRAM for one in given):
        raise _refused(kind, f"ngram_range is no pair of numbers from 1 to {LONGEST_NGRAM}")


def _check_pairs(kind: type, name: str, given: Any) -> None:
    """Raise unless transformers are listed with a name for each."""
    if not isinstance(given, list) or not given:
        raise _refused(kind, f"{name} is no list")
    for pair in given:
        is_pair = isinstance(pair, (tuple, list)) and len(pair) == 2 and isinstance(pair[0], str)
        if not is_pair or not (pair[1] in ("drop", "passthrough") or hasattr(pair[1], "transform")):
            raise _refused(kind, f"{name} has something else than names and transformers")


def _check_vocabulary(kind: type, vocabulary: Any) -> None:
    """Raise unless each column from the first to the last belongs to one word."""
    if not isinstance(vocabulary, dict) or not all(isinstance(word, str) for word in vocabulary):
        raise _refused(kind, "vocabulary_ is none")
    columns = list(vocabulary.values())
    if any(type(one) is not int for one in columns) or sorted(columns) != list(range(len(columns))):
        raise _refused(kind, "vocabulary_ has columns that are not there, or one twice")


def _refused(kind: type, why: str) -> ModelFileError:
    return ModelFileError(
        f"The model's {kind.__name__} cannot be used: {why}; restore the folder from a copy or "
        "train the model again."
    )
