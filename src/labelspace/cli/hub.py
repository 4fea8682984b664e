"""``labelspace push`` and ``labelspace pull``: models to a folder, a store or a hub, and back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from labelspace.cli import options as opt
from labelspace.cli.options import Json

_ADDRESS = "A folder, hf://owner/name[@revision], or a URL such as s3://bucket/name."


def push(
    model: Annotated[
        Path, typer.Argument(metavar="DIR", help="Model folder.", callback=opt.tuned_model)
    ],
    address: Annotated[str, typer.Argument(metavar="ADDRESS", help=_ADDRESS)],
    licence: Annotated[
        str | None, typer.Option(metavar="NAME", help="Licence of the model, for its card: mit.")
    ] = None,
    public: Annotated[
        bool, typer.Option("--public", help="Let everyone see a new repository of the hub.")
    ] = False,
    message: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Message of the commit on the hub.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Put a model somewhere else, with a card that says what it is."""
    from labelspace.cli import output
    from labelspace.cli.card_text import card_text
    from labelspace.cli.model_card import model_card
    from labelspace.hub import push as send

    name = address.rstrip("/").rpartition("/")[2].partition("@")[0] or "model"
    card = card_text(model_card(model), name, licence)
    where = send(model, address, card=card, private=not public, message=message)
    if as_json:
        output.print_json({"model": str(model), "address": where})
    else:
        print(f"{model} is at {where}, with its card (README.md)")


def pull(
    address: Annotated[str, typer.Argument(metavar="ADDRESS", help=_ADDRESS)],
    model: Annotated[Path, typer.Argument(metavar="DIR", help="Folder for the model.")],
    as_json: Json = False,
) -> None:
    """Bring a model from somewhere else into a folder."""
    from labelspace.cli import output
    from labelspace.hub import pull as fetch
    from labelspace.store import folders

    fetch(address, model)
    size = round(folders.size_in_bytes(model) / (1 << 20), 2)
    if as_json:
        output.print_json({"address": address, "model": str(model), "model_mib": size})
    else:
        print(f"{address} is in {model} ({size:.1f} MiB, checksums right)")
