"""A model's card as Markdown, from the model: what it is, learned from, is worth, and is not.

The head is what the Hugging Face hub reads of a card.
"""

from __future__ import annotations

from typing import Any

LICENCE_UNKNOWN = "not stated; ask whoever trained the model"


def card_text(card: dict[str, Any], name: str, licence: str | None = None) -> str:
    """Return the card of a model, as ``info`` describes it.

    >>> print(card_text({"method": "MostCommon", "n_labels": 2}, "shop", "mit")[:47])
    ---
    library_name: labelspace
    tags:
    - labelspace
    """
    head = ["---", "library_name: labelspace", "tags:", *_tags()]
    if licence is not None:
        head.append(f"license: {licence}")
    parts = [
        "\n".join([*head, "---"]),
        f"# {name}",
        _what(card),
        "## Use\n\n" + _use(card, name),
        "## Trained on\n\n" + _list(_training(card)),
        "## Figures\n\n" + _figures(card),
        "## Limits\n\n" + _list(_limits(card)),
        f"## Licence\n\n{licence or LICENCE_UNKNOWN}",
    ]
    return "\n\n".join(parts) + "\n"


def _tags() -> list[str]:
    return ["- labelspace", "- multi-label-classification", "pipeline_tag: text-classification"]


def _what(card: dict[str, Any]) -> str:
    reads = "texts" if "text_features" in card else "rows of features"
    vocabulary = card.get("vocabulary")
    known = "" if not vocabulary else f", of a vocabulary of {vocabulary['n_labels']:,}"
    version = card.get("versions", {}).get("labelspace", "")
    return (
        f"Gives {reads} the few right ones of {card.get('n_labels', 0):,} labels{known}. The "
        f"method is `{card['method']}` of labelspace {version}; the model takes "
        f"{card.get('model_mib', 0):g} MiB."
    )


def _use(card: dict[str, Any], name: str) -> str:
    call = "tag(text)" if "text_features" in card else "tag_many(rows)"
    return (
        "Suggestions for people who give labels, and labels where a share of wrong ones does no "
        "harm. Not for decisions about people.\n\n"
        f"```console\n$ labelspace pull ADDRESS {name}\n$ labelspace predict {name} new.csv\n"
        "```\n\n```python\nfrom labelspace import Tagger\n\n"
        f'Tagger.load("{name}").{call}\n```'
    )


def _training(card: dict[str, Any]) -> list[str]:
    told = []
    if "corpus" in card:
        told.append(f"corpus: {card['corpus']}, on {card['trained']}")
    if card.get("n_examples"):
        told.append(f"{card['n_examples']:,} rows, {card.get('n_features', 0):,} features")
    if "calibration_rows" in card:
        told.append(f"{card['calibration_rows']:,} rows were held out to measure its scores")
    plain = {name: value for name, value in card.get("parameters", {}).items() if value is not None}
    if plain:
        told.append("parameters: " + ", ".join(f"`{name}={plain[name]}`" for name in plain))
    return told or ["not recorded"]


def _figures(card: dict[str, Any]) -> str:
    told = []
    rows = card.get("figures_on_it")
    if rows:
        columns = list(rows[0])
        lines = [" | ".join(columns), "|".join("---" for _ in columns)]
        lines += [
            " | ".join(f"{row[one]:.2f}" if one else row[one] for one in columns) for row in rows
        ]
        told.append(
            f"On {card['held_out_corpus']}, in percent:\n\n"
            + "\n".join(f"| {one} |" for one in lines)
        )
    if "calibration_error" in card:
        told.append(
            f"Expected calibration error of the probabilities on rows held out in training: "
            f"{card['calibration_error']:.2f} percent."
        )
    return "\n\n".join(told) or "None were measured when it was trained (`train --valid FILE`)."


def _limits(card: dict[str, Any]) -> list[str]:
    limits = [
        "it knows the labels that it was trained with, and gives rare ones seldom",
        "texts of another kind or language than those it learned from get worse labels",
        "what was noted in the training rows, mistakes included, is what it has learned",
    ]
    if "text_features" in card:
        limits.append("it may hold the beginnings of training texts, which explain its answers")
    return limits


def _list(items: list[str]) -> str:
    return "\n".join(f"- {one}" for one in items)
