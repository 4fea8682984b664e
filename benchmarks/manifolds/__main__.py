"""Compares SMCE with other ways to cluster and embed: ``python -m benchmarks.manifolds``.

Clusters every shape by every method with three seeds, draws embeddings, times SMCE, keeps all
figures in ``benchmarks/results/manifolds.json`` and writes the tables of ``docs/methods/smce.md``
from that file, between the marks there. ``--tables`` does only the last.
"""

from __future__ import annotations

import json
import re
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.manifolds import figures, shapes
from benchmarks.manifolds.clusterers import CLUSTERERS, error
from benchmarks.measure import Stopwatch
from benchmarks.results import RESULTS, ROOT
from labelspace.manifold import SMCE
from labelspace.manifold.self_expression import express

FILE = RESULTS / "manifolds.json"
PAGE = ROOT / "docs" / "methods" / "smce.md"
ASSETS = ROOT / "docs" / "assets"
SEEDS = (0, 1, 2)
SIZES = ((1000, 3), (5000, 3), (20_000, 3), (20_000, 50))


def clustering() -> list[dict[str, Any]]:
    """Return the error and CPU seconds of each method on each shape and seed."""
    lines = []
    for shape_name, make in shapes.SHAPES.items():
        for seed in SEEDS:
            shape = make(seed)
            for name, cluster in CLUSTERERS.items():
                with Stopwatch() as watch, warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    found = cluster(shape.X, shape.n_clusters, seed)
                wrong = error(shape.truth, found)
                print(f"{shape_name}, seed {seed}, {name}: {wrong:.1f} %, {watch.cpu_s:.1f} s")
                lines.append(
                    {
                        "shape": shape_name,
                        "seed": seed,
                        "method": name,
                        "error": wrong,
                        "cpu_s": watch.cpu_s,
                    }
                )
    return lines


def dimensions() -> list[dict[str, Any]]:
    """Return the dimensions that SMCE finds where they are known, cluster by cluster."""
    lines = []
    for name, make in {**shapes.SHAPES, "punctured sphere": shapes.punctured_sphere}.items():
        shape = make(0)
        if shape.dimensions is None:
            continue
        for penalty in (10.0, 100.0):
            model = SMCE(shape.n_clusters, penalty=penalty, random_state=0).fit(shape.X)
            lines.append(
                {
                    "shape": name,
                    "penalty": penalty,
                    "truth": list(shape.dimensions),
                    "found": model.intrinsic_dimension_.tolist(),
                    "coefficients": model.sorted_coefficients_[:, :5].round(3).tolist(),
                }
            )
    return lines


def timing() -> list[dict[str, Any]]:
    """Return the CPU seconds of SMCE on normally distributed points."""
    rng = np.random.default_rng(0)
    express(rng.standard_normal((60, 3)))  # compiles
    lines = []
    for n_points, n_features in SIZES:
        points = rng.standard_normal((n_points, n_features))
        with Stopwatch() as weights:
            express(points)
        with Stopwatch() as whole:
            SMCE(10, random_state=0).fit(points)
        line = {"n_points": n_points, "n_features": n_features, "n_candidates": 50}
        lines.append(line | {"weights_cpu_s": weights.cpu_s, "cpu_s": whole.cpu_s})
        print(lines[-1])
    return lines


def drawing() -> dict[str, dict[str, float]]:
    """Draw the figures of the page and return what each embedding took."""
    figures.draw_clusters(ASSETS / "smce-knots.png")
    drawn = {
        "two knots": (shapes.two_knots(0), "smce-embedding-knots.png", "hsv"),
        "punctured sphere": (shapes.punctured_sphere(0), "smce-embedding-sphere.png", "viridis"),
        "digits 3, 4, 6": (shapes.digits(3, 4, 6)(0), "smce-embedding-digits.png", "brg"),
    }
    return {
        name: figures.draw_embeddings(shape, ASSETS / file, colours)
        for name, (shape, file, colours) in drawn.items()
    }


def tables(measured: dict[str, Any]) -> dict[str, str]:
    """Return the tables of the page as Markdown, by the name of their marks."""
    names = list(shapes.SHAPES)
    errors = [_row("wrong, %", names), _row("---", ["---"] * len(names))]
    for method in CLUSTERERS:
        cells = [
            _mean([line for line in measured["clustering"] if _is(line, name, method)], "error")
            for name in names
        ]
        errors.append(_row(method, cells))
    found = [_row("shape", ["dimensions", "λ = 10", "λ = 100"]), _row("---", ["---"] * 3)]
    for name in dict.fromkeys(line["shape"] for line in measured["dimensions"]):
        lines = [line for line in measured["dimensions"] if line["shape"] == name]
        cells = [lines[0]["truth"], *(line["found"] for line in lines)]
        found.append(_row(name, [", ".join(map(str, cell)) for cell in cells]))
    taken = [
        _row("points", ["dimensions", "weights, CPU s", "everything, CPU s"]),
        _row("---:", ["---:"] * 3),
    ]
    for line in measured["timing"]:
        seconds = [f"{line[name]:.1f}" for name in ("weights_cpu_s", "cpu_s")]
        taken.append(_row(f"{line['n_points']:,}", [str(line["n_features"]), *seconds]))
    drawn = [_row("CPU s", list(figures.EMBEDDINGS)), _row("---", ["---:"] * 5)]
    for name, cpu in measured["embedding"].items():
        drawn.append(_row(name, [f"{cpu[method]:.1f}" for method in figures.EMBEDDINGS]))
    by_name = {"clustering": errors, "dimensions": found, "timing": taken, "embedding": drawn}
    return {name: "\n".join(rows) for name, rows in by_name.items()}


def put_tables(page: Path, made: dict[str, str]) -> None:
    """Put tables between their marks in a page."""
    text = page.read_text(encoding="utf-8")
    for name, table in made.items():
        between = re.compile(f"(<!-- {name} -->\n).*?(\n<!-- end -->)", re.DOTALL)
        text, n_found = between.subn(lambda marks, new=table: marks[1] + new + marks[2], text)
        if n_found != 1:
            raise SystemExit(f"{page} has {n_found} marks <!-- {name} -->: give it one.")
    page.write_text(text, encoding="utf-8")


def _is(line: dict[str, Any], shape: str, method: str) -> bool:
    return line["shape"] == shape and line["method"] == method


def _mean(lines: list[dict[str, Any]], name: str) -> str:
    return f"{np.mean([line[name] for line in lines]):.1f}" if lines else "–"


def _row(first: str, cells: list[str]) -> str:
    return f"| {first} | " + " | ".join(cells) + " |"


def main() -> None:
    if "--tables" not in sys.argv:
        measured = {
            "timing": timing(),
            "embedding": drawing(),
            "dimensions": dimensions(),
            "clustering": clustering(),
        }
        FILE.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")
    put_tables(PAGE, tables(json.loads(FILE.read_text(encoding="utf-8"))))


if __name__ == "__main__":
    main()
