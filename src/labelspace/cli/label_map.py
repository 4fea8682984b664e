"""``labelspace map``: a picture of all labels, as PNG or as a page of its own.

A model with places of its labels in the Poincaré disk (``Hyperbolic`` with ``dim=2``) shows those.
Any other with a vector for each label is shown by the two directions in which its vectors differ
most, and the picture says how much of the difference that is. One that only keeps the labels of its
training rows has labels laid out by what comes together, as the server does.
"""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from labelspace import progress
from labelspace.base import LabelRanker
from labelspace.cli import output, work
from labelspace.data.formats.compression import open_output
from labelspace.errors import UsageError
from labelspace.label_map import Relations, row_profiles, tree_positions

FORMATS = (".png", ".html")


class LabelMap(NamedTuple):
    """Where each label lies, in the unit disk, and what the picture is called."""

    places: NDArray[np.float64]
    names: list[str]
    counts: NDArray[np.int64]
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
    label_map = map_of(work.load(model))
    with progress.task(f"Drawing {out}"):
        if out.suffix.lower() == ".png":
            _write_png(label_map, out)
        else:
            with open_output(out) as file:
                file.write(page(label_map).encode())
    result = {
        "out": str(out),
        "kind": label_map.kind,
        "n_labels": len(label_map.names),
    }
    if as_json:
        output.print_json(result)
    else:
        print(f"{out}: {label_map.title}")


def map_of(model: Any) -> LabelMap:
    """Return the map of a model's labels; labels without rows have no place on it."""
    estimator = work.estimator(model)
    counts = np.asarray(estimator.label_counts_)
    own = getattr(estimator, "label_map_", None)
    seen = np.flatnonzero(counts > 0)
    known = work.label_names(model)
    names = [str(label if known is None else known[label]) for label in seen.tolist()]
    if own is not None:
        places, kind = np.asarray(own, dtype=np.float64)[seen], "poincare"
        title = f"{seen.size:,} labels in the Poincaré disk"
    elif (vectors := _vectors(estimator)) is not None:
        (places, share), kind = _flattened(vectors[seen]), "projection"
        title = f"{seen.size:,} labels; the plane shows {share:.0%} of their differences"
    elif (Y := getattr(estimator, "Y_", None)) is not None:
        relations = Relations(row_profiles(Y[:, seen]), counts[seen])
        places, kind = tree_positions(relations.parent, relations.rank).astype(np.float64), "tree"
        title = f"{seen.size:,} labels, each near those that it comes with, frequent ones inside"
    else:
        raise UsageError(
            f"{type(estimator).__name__} keeps nothing by which its labels could be drawn: train "
            "with --method hyperbolic --set dim=2."
        )
    return LabelMap(places, names, counts[seen], kind, title)


def _vectors(estimator: LabelRanker) -> Any:
    """Return a vector for each label, if the estimator has them."""
    found = (getattr(estimator, name, None) for name in ("label_vectors_", "coef_"))
    n_labels = estimator.n_labels_
    return next((one for one in found if one is not None and one.shape[0] == n_labels), None)


def page(label_map: LabelMap) -> str:
    """Return a page that shows the map and needs nothing from elsewhere."""
    data = {
        "title": label_map.title,
        "disk": label_map.disk,
        "names": label_map.names,
        "counts": label_map.counts.tolist(),
        "x": np.round(label_map.places[:, 0], 5).tolist(),
        "y": np.round(label_map.places[:, 1], 5).tolist(),
    }
    # A name must not be able to end the element that it stands in.
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    template = resources.files("labelspace.cli").joinpath("label_map.html")
    return template.read_text(encoding="utf-8").replace("__DATA__", text)


def _write_png(label_map: LabelMap, out: Path) -> None:
    try:
        from labelspace import plots
    except ImportError:
        raise UsageError(
            "A PNG needs matplotlib: pip install 'labelspace[plots]', or give a name with .html."
        ) from None
    plots.label_map(
        label_map.places,
        label_map.counts,
        label_map.names,
        out,
        disk=label_map.disk,
        title=label_map.title,
    )


def _flattened(vectors: Any) -> tuple[NDArray[np.float64], float]:
    """Return the first two principal components in the unit disk, and their share of variance."""
    from sklearn.decomposition import TruncatedSVD

    if issparse(vectors):
        svd = TruncatedSVD(2, random_state=0)
        places = svd.fit_transform(vectors) if min(vectors.shape) > 2 else vectors.toarray()
        share = float(svd.explained_variance_ratio_.sum()) if min(vectors.shape) > 2 else 1.0
    else:
        centred = np.asarray(vectors, dtype=np.float64) - np.mean(vectors, axis=0)
        _, lengths, ways = np.linalg.svd(centred, full_matrices=False)
        places = centred @ ways[:2].T
        total = float(np.square(lengths).sum())
        share = float(np.square(lengths[:2]).sum()) / total if total else 1.0
    flat = np.zeros((places.shape[0], 2))
    flat[:, : min(places.shape[1], 2)] = places[:, :2]
    largest = float(np.linalg.norm(flat, axis=1).max(initial=0.0))
    return (flat / largest if largest else flat), share
