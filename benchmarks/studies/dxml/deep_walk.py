"""DeepWalk on label graphs, ours beside gensim's: ``study dxml deep_walk``.

A tenth of the edges of a corpus's label graph is held out, walks run on the rest, and both learn
vectors of the labels from the same walks, with the same window, negatives, passes and dimensions,
on one thread. Asked is how well the cosine of two labels tells edges that were held out from pairs
that are none: the area under the curve. gensim is measured if it can be imported; it is no
dependency.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, triu
from sklearn.metrics import roc_auc_score

from benchmarks.measure import Stopwatch
from benchmarks.studies.source import Source
from benchmarks.studies.study import Figures, Trial
from labelspace.graph.cooccurrence import label_graph
from labelspace.models.dxml.skip_gram import skip_gram
from labelspace.models.dxml.walks import random_walks
from labelspace.spaces import sphere

N_WALKS, LENGTH, DIM, WINDOW, N_NEGATIVES, N_EPOCHS = 10, 40, 100, 5, 10, 5


def measure(trial: Trial, source: Source) -> Iterator[tuple[Trial, Figures]]:
    """Learn the vectors of one corpus's labels with everything that is there."""
    Y, seed = source.split(trial.corpus).Y, trial.seed
    kept, edges, others = split_edges(label_graph(Y), seed)
    random_walks(kept, 1, 5)  # the compiler's work is not counted
    with Stopwatch() as walking:
        walks = random_walks(kept, N_WALKS, LENGTH, seed=seed, n_threads=1)
    figures: Figures = {
        "n_labels": Y.shape[1],
        "n_edges": kept.nnz // 2,
        "n_walked": int(walks.size),
        "walk_s": round(walking.cpu_s, 2),
        "learners": {},
    }
    learners: dict[str, tuple[Any, Callable[..., NDArray[np.float32]]]]
    learners = {"labelspace": (walks, _ours)}
    if importlib.util.find_spec("gensim"):
        learners["gensim"] = ([list(map(str, walk)) for walk in walks.tolist()], _gensim)
    else:
        print("gensim is not installed: only ours is measured.")
    for name, (sentences, learn) in learners.items():
        learn(sentences[:50], Y.shape[1], seed)
        with Stopwatch() as learning:
            vectors = learn(sentences, Y.shape[1], seed)
        figures["learners"][name] = {
            "cpu_s": round(learning.cpu_s, 2),
            "auc": auc(vectors, edges, others),
            "nearest": nearest_are_neighbors(vectors, kept),
        }
    yield trial, figures


def split_edges(
    graph: csr_matrix, seed: int, share: float = 0.1
) -> tuple[csr_matrix, NDArray[np.int64], NDArray[np.int64]]:
    """Return the graph without some edges, these, and as many pairs that are no edges."""
    rng = np.random.default_rng(seed)
    upper = triu(graph, 1).tocoo()
    held_out = rng.random(upper.nnz) < share
    pairs = np.stack((upper.row, upper.col), axis=1).astype(np.int64)
    left = pairs[~held_out]
    ones = np.ones(len(left), dtype=np.float32)
    half = csr_matrix((ones, (left[:, 0], left[:, 1])), shape=graph.shape)
    kept = csr_matrix(half + half.T)
    # Nobody can tell where a label belongs that has no edge left.
    has_edges = np.diff(kept.indptr) > 0
    edges = pairs[held_out]
    edges = edges[has_edges[edges].all(axis=1)][:100_000]
    nodes = np.flatnonzero(has_edges)
    drawn = nodes[rng.integers(nodes.size, size=(20 * len(edges), 2))]
    is_edge = np.asarray(graph[drawn[:, 0], drawn[:, 1]]).ravel() > 0
    return kept, edges, drawn[~is_edge & (drawn[:, 0] != drawn[:, 1])][: len(edges)]


def auc(vectors: NDArray[np.float32], edges: NDArray[np.int64], others: NDArray[np.int64]) -> float:
    """Return the chance that an edge has the larger cosine than a pair that is none."""
    unit = sphere.keys(vectors)
    pairs = np.concatenate((edges, others))
    scores = np.einsum("ij,ij->i", unit[pairs[:, 0]], unit[pairs[:, 1]])
    return float(roc_auc_score(np.arange(len(pairs)) < len(edges), scores))


def nearest_are_neighbors(vectors: NDArray[np.float32], graph: csr_matrix, k: int = 5) -> float:
    """Return the share of labels' ``k`` nearest labels that are neighbours in the graph."""
    nodes = np.flatnonzero(np.diff(graph.indptr) >= k)
    nodes = np.random.default_rng(0).permutation(nodes)[:2000]
    unit = sphere.keys(vectors)
    cosines = unit[nodes] @ unit.T
    cosines[np.arange(nodes.size), nodes] = -2.0
    nearest = np.argpartition(-cosines, k, axis=1)[:, :k]
    return float(np.asarray(graph[np.repeat(nodes, k), nearest.ravel()]).mean())


def _ours(walks: NDArray[np.int32], n_labels: int, seed: int) -> NDArray[np.float32]:
    return skip_gram(
        walks,
        n_labels,
        DIM,
        window=WINDOW,
        n_negatives=N_NEGATIVES,
        n_epochs=N_EPOCHS,
        seed=seed,
        n_threads=1,
    )


def _gensim(sentences: list[list[str]], n_labels: int, seed: int) -> NDArray[np.float32]:
    model = importlib.import_module("gensim.models").Word2Vec(
        sentences,
        vector_size=DIM,
        window=WINDOW,
        negative=N_NEGATIVES,
        sg=1,
        hs=0,
        min_count=0,
        sample=0,
        epochs=N_EPOCHS,
        workers=1,
        seed=seed,
    )
    vectors = np.zeros((n_labels, DIM), dtype=np.float32)
    for word, place in model.wv.key_to_index.items():
        vectors[int(word)] = model.wv.vectors[place]
    return vectors
