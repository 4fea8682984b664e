"""``labelspace map``: a picture of all labels, as PNG or as a page of its own.

A model with places of its labels in the Poincaré disk (``Hyperbolic`` with ``dim=2``) shows those;
any other has labels laid out by what they have to do with each other, as the server does. Both look
as the server's map does: the page has its colours and its scripts, which it carries with it, and
the picture its colours and sizes.
"""

from __future__ import annotations

import json
import re
from importlib import resources
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from labelspace import progress
from labelspace.cli import output
from labelspace.cli.inputs import load_tagger
from labelspace.data.formats.compression import open_output
from labelspace.errors import UsageError
from labelspace.label_layout import regions_of
from labelspace.label_map import Relations, label_map, label_profiles
from labelspace.tagger import Tagger

FORMATS = (".png", ".html")
N_NEAR = 5  # labels that lines lead to from a label that is chosen


class Drawing(NamedTuple):
    """Where each label lies, in the unit disk, and what the picture is called.

    Labels are in the order of their frequency; ``near`` has those that are most like each.
    """

    places: NDArray[np.float64]
    names: list[str]
    counts: NDArray[np.int64]
    near: list[list[int]]
    kind: str
    title: str

    @property
    def disk(self) -> bool:
        """Whether places are those of a Poincaré disk, in which one can walk about."""
        return self.kind == "poincare"


def run_map(model: Path, out: Path, *, as_json: bool) -> None:
    """Draw the labels of the model in folder ``model`` to the file ``out``."""
    if out.suffix.lower() not in FORMATS:
        raise UsageError(f"{out} must end in .png or .html: a picture, or a page to walk about in.")
    drawing = drawing_of(load_tagger(model))
    with progress.task(f"Drawing {out}"):
        if out.suffix.lower() == ".png":
            _write_png(drawing, out)
        else:
            with open_output(out) as file:
                file.write(page(drawing).encode())
    result = {
        "out": str(out),
        "kind": drawing.kind,
        "n_labels": len(drawing.names),
    }
    if as_json:
        output.print_json(result)
    else:
        print(f"{out}: {drawing.title}")


def drawing_of(tagger: Tagger) -> Drawing:
    """Return what to draw of a model's labels; labels without rows have no place on it."""
    estimator = tagger.estimator_
    profiles = label_profiles(estimator)
    above = tagger.catalog.parents(estimator.n_labels_)
    relations = Relations(profiles, estimator.label_counts_, above)
    kind, labels, places = label_map(estimator, relations)
    if kind == "tree" and profiles is None:
        raise UsageError(
            f"{type(estimator).__name__} keeps nothing by which its labels could be drawn: train "
            "with --method hyperbolic --set dim=2."
        )
    where = {
        "poincare": "labels in the Poincaré disk",
        "tree": "labels, each near those that are like it, frequent ones inside",
        "neighbourhood": "labels, each beside those that are most like it",
    }
    near = relations.nearest[labels, :N_NEAR]
    near = np.where(near >= 0, relations.rank[near], len(labels))
    counts = estimator.label_counts_[labels]
    return Drawing(
        places.astype(np.float64),
        [tagger.catalog.name(label) for label in labels.tolist()],
        counts,
        [[int(one) for one in row if one < len(labels)] for row in near],
        kind,
        f"{labels.size:,} {where[kind]}",
    )


def page(drawing: Drawing) -> str:
    """Return a page that shows the map and needs nothing from elsewhere."""
    regions = regions_of(drawing.places, drawing.counts)
    data = {
        "title": drawing.title,
        "kind": drawing.kind,
        "name": drawing.names,
        "count": drawing.counts.tolist(),
        "x": np.round(drawing.places[:, 0], 5).tolist(),
        "y": np.round(drawing.places[:, 1], 5).tolist(),
        "topic": regions.of_labels.tolist(),
        "near": drawing.near,
        "regions": [
            {"name": drawing.names[label], "x": round(float(x), 5), "y": round(float(y), 5)}
            for label, (x, y) in zip(regions.foremost, regions.places, strict=True)
        ],
    }
    # A name must not be able to end the element that it stands in.
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    scripts = "\n".join(
        re.sub("^export ", "", _static(name), flags=re.M) for name in ("grid.js", "paint.js")
    )
    parts = {"__PALETTE__": _palette(), "__SCRIPTS__": scripts, "__DATA__": text}
    template = resources.files("labelspace.cli").joinpath("draw_map.html")
    # At once, so that a label may be called as a mark is.
    return re.sub("|".join(parts), lambda mark: parts[mark[0]], template.read_text("utf-8"))


def _static(name: str) -> str:
    static = resources.files("labelspace.server").joinpath("static")
    return static.joinpath(name).read_text(encoding="utf-8")


def _palette() -> str:
    """Return the colours of the server's page, light and dark."""
    return "\n".join(re.findall(r"^:root[^{]*\{[^}]*\}", _static("style.css"), re.M))


def _write_png(drawing: Drawing, out: Path) -> None:
    try:
        from labelspace import plots
    except ImportError:
        raise UsageError(
            "A PNG needs matplotlib: pip install 'labelspace[plots]', or give a name with .html."
        ) from None
    plots.label_map(
        drawing.places,
        drawing.counts,
        drawing.names,
        out,
        disk=drawing.disk,
        title=drawing.title,
    )
