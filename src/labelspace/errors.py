"""The one family of exceptions and warnings that labelspace raises.

Every message is one sentence for a person: what is wrong, where, and what to do about it.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

_LISTED, _SHOWN = 40, 40  # names in a sentence, and letters of each


class LabelspaceError(ValueError):
    """Root of all errors that a user can cause and mend."""


class DataError(LabelspaceError):
    """A corpus, array or text that cannot be used as it is."""


class UnknownFormat(DataError):
    """A text file that is no corpus that we know; its lines may be texts."""


class ModelFileError(LabelspaceError):
    """A model folder that is missing, damaged or from another version."""


class UsageError(LabelspaceError):
    """A method, parameter or option that does not exist or cannot take that value."""


class EngineError(LabelspaceError):
    """Work in blocks that workers could not finish: what is done is kept."""


class AmbiguousLabel(UsageError):
    """A name that several labels have; their keys or numbers tell them apart."""


class UnknownLabel(UsageError):
    """A label that neither the model nor its vocabulary has."""


class LabelspaceWarning(UserWarning):
    """Something odd in the input that was handled, said once and with a count."""


def nearest(wrong: str, right: Iterable[str]) -> str:
    """Return how a sentence about a wrong name ends: with the nearest right one, or with all.

    >>> nearest("dimm", ["dim", "loss"])
    ": did you mean 'dim'?"
    """
    right = sorted(right)
    close = get_close_matches(wrong, right, n=1, cutoff=0.5)
    if close:
        return f": did you mean '{shortened(close[0])}'?"
    more = f" and {len(right) - _LISTED:,} more" if len(right) > _LISTED else ""
    return f": choose one of {', '.join(map(shortened, right[:_LISTED]))}{more}."


def shortened(name: str) -> str:
    """Return a name as a sentence has room for it, on one line.

    >>> shortened("a name"), len(shortened(1000 * "a"))
    ('a name', 40)
    """
    name = " ".join(name.split())
    return name if len(name) <= _SHOWN else name[: _SHOWN - 1] + "…"
