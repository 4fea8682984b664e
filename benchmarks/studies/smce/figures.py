"""Pictures of shapes, of the clusters that methods find, and of embeddings side by side."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import numpy as np
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from numpy.typing import NDArray
from PIL import Image
from sklearn.manifold import (
    TSNE,
    Isomap,
    LocallyLinearEmbedding,
    SpectralEmbedding,
    trustworthiness,
)

from benchmarks.measure import Stopwatch
from benchmarks.studies.smce import clusterers, shapes
from benchmarks.studies.smce.sne import sne
from labelspace.manifold import SMCE

N_NEIGHBORS = 10


def _smce(X: NDArray[np.float64], k: int) -> NDArray[np.float64]:
    """Return SMCE's coordinates, those of each cluster in a column of its own."""
    model = SMCE(k, random_state=0).fit(X)
    return model.embedding_ + np.array([4.5, 0.0]) * model.labels_[:, None]


EMBEDDINGS: dict[str, Callable[[NDArray[np.float64], int], NDArray[np.float64]]] = {
    "SMCE": _smce,
    "LLE": lambda X, k: LocallyLinearEmbedding(
        n_neighbors=N_NEIGHBORS, random_state=0
    ).fit_transform(X),
    "Laplacian eigenmaps": lambda X, k: SpectralEmbedding(
        affinity="nearest_neighbors", n_neighbors=N_NEIGHBORS, random_state=0
    ).fit_transform(X),
    "Isomap": lambda X, k: Isomap(n_neighbors=N_NEIGHBORS).fit_transform(X),
    "SNE": lambda X, k: sne(X),
    "t-SNE": lambda X, k: TSNE(random_state=0).fit_transform(X),
}


def draw_clusters(path: Path) -> None:
    """Draw the two knots as they are, as SMCE clusters them, and as a k-NN graph does."""
    shape = shapes.two_knots(0)
    # The two directions in which the shape extends most, out of all that it was turned into.
    _, _, axes = np.linalg.svd(shape.X - shape.X.mean(axis=0), full_matrices=False)
    points = shape.X @ axes[:2].T
    found: dict[str, NDArray[np.integer]] = {"as made": shape.truth}
    for name in ("SMCE", "spectral, 10-NN graph", "k-means"):
        found[name] = clusterers.CLUSTERERS[name](shape.X, 2, 0)
    figure, panels = plt.subplots(1, len(found), figsize=(12, 2.7), layout="constrained")
    for panel, (name, labels) in zip(panels, found.items(), strict=True):
        colours = np.where(labels == labels[0], "tab:blue", "tab:orange")
        panel.scatter(*points.T, c=colours, s=5, linewidths=0)
        panel.set_title(f"{name}: {clusterers.error(shape.truth, labels):.0f} % wrong", fontsize=10)
        panel.set_aspect("equal")
        panel.set_axis_off()
    _save(figure, path)


def draw_embeddings(
    shape: shapes.Shape, path: Path, colours: str
) -> tuple[dict[str, float], dict[str, float]]:
    """Draw the shape's embeddings side by side; return CPU seconds and trust of each."""
    figure, panels = plt.subplots(1, len(EMBEDDINGS), figsize=(12, 2.7), layout="constrained")
    taken, trust = {}, {}
    for panel, (name, embed) in zip(panels, EMBEDDINGS.items(), strict=True):
        with Stopwatch() as watch, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            Z = embed(shape.X, shape.n_clusters)
        taken[name] = watch.cpu_s
        trust[name] = 100.0 * trustworthiness(shape.X, Z, n_neighbors=N_NEIGHBORS)
        panel.scatter(Z[:, 0], Z[:, 1], c=shape.colours, cmap=colours, s=4, linewidths=0)
        panel.set_title(name, fontsize=10)
        panel.set_xticks([])
        panel.set_yticks([])
    _save(figure, path)
    return taken, trust


def _save(figure: Figure, path: Path) -> None:
    """Write a picture with few colours, which takes a third of the space."""
    drawn = io.BytesIO()
    figure.savefig(drawn, dpi=80)
    plt.close(figure)
    Image.open(drawn).convert("RGB").quantize(64).save(path, optimize=True)
