"""``--set name=value``: parameters of a method as they are typed."""

from __future__ import annotations

import json
from typing import Any

from labelspace.errors import UsageError


def parse_parameters(settings: list[str]) -> dict[str, Any]:
    """Turn ``name=value`` into parameters; values are JSON where they can be, else text.

    >>> parse_parameters(["C=0.5", "loss=logistic", "bias=true", "cap=none"])
    {'C': 0.5, 'loss': 'logistic', 'bias': True, 'cap': None}
    """
    parameters: dict[str, Any] = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals or not name:
            raise UsageError(f"--set takes name=value, but '{setting}' is not of that form.")
        named = {"true": True, "false": False, "none": None}
        try:
            value = named[text.lower()] if text.lower() in named else json.loads(text)
        except ValueError:
            value = text
        parameters[name.strip().replace("-", "_")] = value
    return parameters
