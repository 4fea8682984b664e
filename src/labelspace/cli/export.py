"""``labelspace export``: a model for places without labelspace."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from labelspace.cli import options as opt
from labelspace.cli.options import Json
from labelspace.errors import UsageError


def export(
    model: Annotated[
        Path, typer.Argument(metavar="DIR", help="Model folder.", callback=opt.tuned_model)
    ],
    target: Annotated[
        Path, typer.Argument(metavar="OUT", help="A file .pyz or .onnx, or a folder for MLflow.")
    ],
    kind: Annotated[
        str | None,
        typer.Option(
            "--to", metavar="numpy|onnx|mlflow", help="What to write; OUT tells if not given."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write a model as one file that needs NumPy only (.pyz), as ONNX, or for MLflow."""
    from labelspace.cli import output
    from labelspace.cli.inputs import load_tagger

    kind = kind or {".pyz": "numpy", ".onnx": "onnx"}.get(target.suffix, "mlflow")
    if kind == "numpy":
        from labelspace.export import export_single_file

        export_single_file(load_tagger(model), target)
    elif kind == "onnx":
        from labelspace.export import export_onnx

        export_onnx(load_tagger(model), target)
    elif kind == "mlflow":
        from labelspace.export import export_mlflow

        export_mlflow(model, target)
    else:
        raise UsageError(f"--to is '{kind[:40]}': give numpy, onnx or mlflow.")
    if as_json:
        output.print_json({"model": str(model), "out": str(target), "kind": kind})
    else:
        print(f"{model} is in {target}, for {kind}")
