"""``labelspace shard``: a model whose labels lie in shards, for one machine or a cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from labelspace.cli import options as opt
from labelspace.cli.options import Json

Missing = Annotated[
    str, typer.Option(metavar="error|partial", help="What is answered while a shard is lost.")
]


def shard(
    model: Annotated[
        Path, typer.Argument(metavar="DIR", help="Model folder.", callback=opt.tuned_model)
    ],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Folder for the sharded model.")],
    shards: Annotated[int, typer.Option(min=1, help="How many shards, of equal non-zeros.")],
    holders: Annotated[
        str,
        typer.Option(metavar="processes|ray|inside", help="Who holds a shard each."),
    ] = "processes",
    missing: Missing = "error",
    as_json: Json = False,
) -> None:
    """Cut a model's labels into shards; predict, evaluate and serve take the new folder."""
    from labelspace.cli import output
    from labelspace.cli.inputs import load_tagger
    from labelspace.sharding import write_shards

    tagger = load_tagger(model)
    given = tagger if tagger.takes_text else tagger.estimator_
    starts = write_shards(given, out, shards, holders=holders, missing=missing)
    if as_json:
        output.print_json({"out": str(out), "n_shards": shards, "starts": starts})
    else:
        print(f"{out}: {starts[-1]:,} labels in {shards} shards")
