"""Which runs a command means."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any

import labelspace
from benchmarks.corpora import RANDOM_SPLITS
from benchmarks.peers import PEERS, version_of
from benchmarks.results import Run
from labelspace.models import METHODS

TEN_SPLITS = ("bibtex", "delicious")
"""The corpora whose published figures are means over ten random splits."""


def plan(
    methods: Iterable[str],
    peers: Iterable[str],
    corpora: Iterable[str],
    splits: Sequence[str] = ("given",),
    seeds: Sequence[int] = (0,),
    parameters: Mapping[str, Any] | None = None,
) -> list[Run]:
    """Return the runs, corpus by corpus; ours take every seed and the parameters, peers neither."""
    ours = f"labelspace {labelspace.__version__}"
    runs = []
    for corpus in corpora:
        for method, split, seed in product(methods, splits, seeds):
            runs.append(Run(method, corpus, split, seed, parameters or {}, ours))
        for peer, split in product(peers, splits):
            runs.append(Run(peer, corpus, split, version=version_of(PEERS[peer].package)))
    return runs


def sitting(corpora: Sequence[str]) -> list[Run]:
    """Return the default set: everything on the files as given, then the ten random splits."""
    small = [name for name in corpora if name in TEN_SPLITS]
    everything = list(METHODS), list(PEERS)
    return plan(*everything, corpora) + plan(*everything, small, RANDOM_SPLITS)


def choose(text: str, known: Iterable[str], what: str) -> list[str]:
    """Return the names in a text such as ``a,b``, or all of them for ``all``.

    >>> choose("b,a", ["a", "b", "c"], "letter")
    ['b', 'a']
    """
    known = list(known)
    names = known if text == "all" else [name for name in text.split(",") if name]
    for name in names:
        if name not in known:
            raise SystemExit(f"There is no {what} {name!r}: choose from {', '.join(known)}.")
    return names


def parse_setting(text: str) -> tuple[str, Any]:
    """Return name and value of ``--set name=value``.

    >>> parse_setting("dim=50"), parse_setting("preset=paper")
    (('dim', 50), ('preset', 'paper'))
    """
    name, equals, value = text.partition("=")
    if not equals:
        raise SystemExit(f"--set takes name=value, not {text!r}.")
    try:
        return name, ast.literal_eval(value)
    except (SyntaxError, ValueError):
        return name, value
