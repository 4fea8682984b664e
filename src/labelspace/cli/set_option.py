"""``--set`` and ``--features``: parameters of a method and of text features as they are typed."""

from __future__ import annotations

import inspect
import json
import re
from typing import Any

from labelspace.errors import UsageError, nearest


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
        parameters[name.strip().replace("-", "_")] = _value(text)
    return parameters


def parse_features(text: str | None) -> Any:
    """Turn ``ngrams=2,char_ngrams=3-5`` into text features; ``module:function`` names their maker.

    ``auto`` lets them be chosen on a sample of the texts.

    >>> parse_features("ngrams=2,char_ngrams=3-5")
    TextFeatures(char_ngrams=(3, 5), ngrams=2)
    """
    from labelspace.data.text.features import TextFeatures

    if text is None or text == "auto" or re.fullmatch(r"[\w.]+:\w+", text):
        return text
    known = list(inspect.signature(TextFeatures).parameters)
    parameters: dict[str, Any] = {}
    for part in text.split(","):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        name = name.replace("-", "_")
        if not equals:
            raise UsageError(
                f"--features takes name=value, separated by commas, but '{part}' is not of that "
                "form."
            )
        if name not in known:
            raise UsageError(f"Text features have no parameter '{name}'{nearest(name, known)}")
        ends = re.fullmatch(r"(\d+)-(\d+)", value)
        parameters[name] = tuple(map(int, ends.groups())) if ends else _value(value)
    features = TextFeatures(**parameters)
    features._validate_params()
    return features


def _value(text: str) -> Any:
    named = {"true": True, "false": False, "none": None}
    try:
        return named[text.lower()] if text.lower() in named else json.loads(text)
    except ValueError:
        return text
