"""``labelspace methods``: what there is to choose from, and what each can be told."""

from __future__ import annotations

import inspect
import re
from dataclasses import MISSING, fields
from typing import Any

from labelspace import models
from labelspace.cli import output
from labelspace.models import DEFAULT_METHOD, METHODS

_ENTRY = re.compile(r"^(?P<names>\w+(?:, \w+)*)(?P<type> : .*)?\n(?=    )", re.MULTILINE)
_ROLE = re.compile(r":\w+:`(?:[\w.]+\.)?(\w+)`")


def run_methods(name: str | None, *, as_json: bool) -> None:
    """List the methods, or the parameters of one with their defaults."""
    if name is not None:
        _run_method(name, as_json=as_json)
        return
    summaries = {name: method.summary for name, method in METHODS.items()}
    if as_json:
        output.print_json({"default": DEFAULT_METHOD, "methods": summaries})
        return
    output.print_table(
        "Methods",
        [
            {
                "name": name + (" (default)" if name == DEFAULT_METHOD else ""),
                "what it is": summary,
            }
            for name, summary in summaries.items()
        ],
    )
    print("'labelspace methods NAME' lists the parameters of one.")


def _run_method(name: str, *, as_json: bool) -> None:
    kind = models.find(name)
    parameters, settings = _parameters(kind), _settings(kind.settings_type)
    if as_json:
        about = {"name": name, "summary": METHODS[name].summary}
        output.print_json({**about, "parameters": parameters, "settings": settings})
        return
    print(f"{name}: {METHODS[name].summary}")
    output.print_table("Parameters, as --set NAME=VALUE", _shown(parameters))
    if settings:
        output.print_table(
            "Settings, also as --set; the corpus and the preset decide unless told",
            _shown(settings),
        )


def _parameters(kind: Any) -> list[dict[str, Any]]:
    described = _described(kind)
    return [
        {"name": name, "default": _plain(one.default), "about": described.get(name, "")}
        for name, one in inspect.signature(kind).parameters.items()
        if name not in ("self", "settings")
    ]


def _settings(kind: Any) -> list[dict[str, Any]]:
    if kind is None:
        return []
    described = _described(kind)
    return [
        {
            "name": one.name,
            "default": None if one.default is MISSING else _plain(one.default),
            "about": described.get(one.name, ""),
        }
        for one in fields(kind)
    ]


def _described(kind: type) -> dict[str, str]:
    """Return what a class and those that it comes from say about their parameters."""
    found: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        for name, (text, is_own) in described_in(inspect.cleandoc(base.__doc__ or "")).items():
            if is_own or name not in found:  # rather than "as in every estimator"
                found[name] = text
    return found


def described_in(docstring: str) -> dict[str, tuple[str, bool]]:
    """Return the first sentence about each parameter in a docstring of numpydoc's form.

    With it comes whether the parameter has a type there, and so a description of its own.

    >>> described_in("Title.\\n\\nC : float, default=1.0\\n    Weight of errors. More follows.\\n")
    {'C': ('Weight of errors.', True)}
    """
    found: dict[str, tuple[str, bool]] = {}
    for entry in _ENTRY.finditer(docstring):
        lines = []
        for line in docstring[entry.end() :].splitlines():
            if not line.startswith("    "):
                break
            lines.append(line.strip())
        text = " ".join(lines)
        end = re.search(r"\.(?= |$)", text)
        for name in entry["names"].split(", "):
            shown = _ROLE.sub(r"\1", text[: end.end()] if end else text).replace("`", "")
            found[name] = shown, entry["type"] is not None
    return found


def _plain(value: Any) -> Any:
    return value if isinstance(value, (str, int, float, bool, type(None))) else repr(value)


def _shown(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {"name": row["name"], "default": str(row["default"]).lower(), "what it is": row["about"]}
        if isinstance(row["default"], (bool, type(None)))
        else {"name": row["name"], "default": str(row["default"]), "what it is": row["about"]}
        for row in rows
    ]
