"""Small models to be changed: one of each method, and others for what methods seldom store."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline, make_union

from labelspace import Tagger, models
from labelspace.data.formats.fields import Fields
from labelspace.data.text.features import TextFeatures
from labelspace.label_collections import CollectionName
from labelspace.manifold import SMCE
from labelspace.registry import METHODS
from labelspace.sharding import write_shards
from labelspace.tuning.blend import Blend
from labelspace.tuning.mixture import Mixture
from labelspace.vocabulary import Entry, LabelName, Vocabulary
from tests.planted import planted_corpus

# Settings that make small and quick models, so that many cases fit into a second.
QUICK: dict[str, dict[str, Any]] = {
    "glas": {"n_epochs": 2, "dim": 8, "n_learners": 1},
    "dxml": {"n_epochs": 2, "dim": 8, "hidden": (8,), "n_learners": 2},
    "neuralxc": {"n_epochs": 2, "dim": 8, "label_dim": 8},
    "labelspace": {"dim": 8, "n_learners": 2},
    "annexml": {"dim": 8, "n_learners": 2},
    "hyperbolic": {"dim": 4, "n_learners": 2, "n_epochs": 2},
}
# Words of the texts below, so that labels are known by name there.
LABELS = np.array(["w0", "w1 w2", "w3", "w4", "w5"])
N_WIDE = 64

Rows = Any
Saved = tuple[Rows, Any]  # rows to ask, and what can be saved


def vectors(texts: list[str]) -> list[list[float]]:
    """An encoder that models of texts have learned with, and are given again."""
    return [[float(len(text) % 7), 1.0, float(text.count("w1"))] for text in texts]


def wide_vectors(texts: list[str]) -> list[list[float]]:
    """An encoder whose vectors are long enough to be a space of their own."""
    words = [f"w{number}" for number in range(N_WIDE)]
    return [[1.0 + text.count(word) + len(text) % 5 for word in words] for text in texts]


def make(name: str) -> Saved:
    """Return rows to ask, and a model that knows some others."""
    if name in OTHERS:
        return OTHERS[name]()
    X, lists = _rows()
    return X[:6], _quick(name).fit(X, lists)


def save(name: str, made: Any, path: Path) -> None:
    """Save a model to a folder."""
    if name == "sharded":
        write_shards(made, path, 2, holders="inside")
    else:
        made.save(path)


def encoder_of(name: str) -> Any:
    """Return the encoder that a model is given when it is loaded."""
    return {"tagger-vectors": wide_vectors, "tagger-lsa": None}.get(name, vectors)


def _rows(n_rows: int = 40) -> tuple[Any, list[list[str]]]:
    X, Y = planted_corpus(n_rows, n_labels=5)
    return X, [LABELS[row.indices].tolist() for row in Y]


def _texts(n_rows: int = 40) -> tuple[list[str], list[list[str]]]:
    X, lists = _rows(n_rows)
    words = [f"w{column} " * 2 for column in range(X.shape[1])]
    return ["".join(words[column] for column in row.indices) for row in X], lists


def _quick(name: str, **more: Any) -> Any:
    return models.make(name, random_state=0, n_threads=1, **{**QUICK.get(name, {}), **more})


def _of(name: str, **more: Any) -> Callable[[], Saved]:
    def made() -> Saved:
        X, lists = _rows()
        return X[:6], _quick(name, **more).fit(X, lists)

    return made


def _named() -> Saved:
    X, lists = _rows()
    return X[:6], _quick("labelspace").fit(X, lists, label_features=X[:5])


def _few_columns() -> Saved:
    """A model of rows most of whose columns are empty."""
    X, lists = _rows()
    wide = csr_matrix((X.data, X.indices * 3 + 1, X.indptr), (X.shape[0], 3 * X.shape[1]))
    return wide[:6], _quick("glas").fit(wide, lists)


def _excluding() -> Saved:
    """A tagger of hashed pieces of words, without some of the labels."""
    texts, lists = _texts()
    features = TextFeatures(ngrams=2, char_ngrams=(2, 3), stems=True, n_hashes=256)
    made = Tagger("knn", features=features, idf=True, n_threads=1)
    return texts[:6], made.fit(texts, lists, exclude=["w3"])


def _taught() -> Saved:
    """A model that knows of some rows only some labels, and of one of them twice."""
    X, lists = _rows()
    made = _quick("labelspace").fit(X, lists)
    right, wrong = [["w0"], ["w3"], []], [["w3"], [], ["w4"]]
    for rows in (X[:3], X[1:4]):
        made.partial_fit(rows, right, rejected=wrong)
    return X[:6], made


def _cut_lists() -> Saved:
    """A model of so many labels that lists of weights are cut."""
    X, Y = planted_corpus(60, n_labels=24)
    lists = [[f"w{label}" for label in row.indices] for row in Y]
    return X[:6], _quick("labelspace", settings={"longest_list": 1}).fit(X, lists)


def _blend() -> Saved:
    X, lists = _rows()
    members = [_quick("one-vs-all"), _quick("knn")]
    Y = planted_corpus(40, n_labels=5)[1]
    mixture = Mixture.learn([clone(one).fit(X, lists).predict_topk(X, 5) for one in members], Y)
    return X[:6], Blend(members, mixture, n_threads=1).fit(X, lists)


def _smce() -> Saved:
    angle = np.linspace(0, 2 * np.pi, 30, endpoint=False)
    circle = np.column_stack((np.cos(angle), np.sin(angle)))
    points = np.concatenate((circle, 1.3 * circle))
    return points[:6], SMCE(n_candidates=8, random_state=0, n_threads=1).fit(points)


def _tagger(method: str = "labelspace", n_rows: int = 40, **more: Any) -> Callable[[], Saved]:
    if method == "labelspace":
        more |= {"dim": 8, "n_learners": 1, "settings": {"min_steps": 20}}

    def made() -> Saved:
        texts, lists = _texts(n_rows)
        return texts[:6], Tagger(method, n_threads=1, **more).fit(texts, lists)

    return made


def _with_vocabulary() -> Saved:
    texts, lists = _texts()
    above = [["w9"], [], ["w0"], [], [], []]
    of = [CollectionName("c1", "places"), CollectionName("c2")]
    entries = [
        Entry(name, [LabelName(name, "en", True), LabelName(f"{name} x", "de", False)], wider, of)
        for name, wider in zip([*LABELS, "w9"], above, strict=True)
    ]
    made = Tagger(dim=8, n_learners=1, settings={"min_steps": 20}, n_threads=1)
    made.fit(texts, lists, vocabulary=Vocabulary(entries))
    made.fields_ = Fields.of(text="title,text^2", labels="tags", label_separator=";", id="id")
    return texts[:6], made


_LSA = make_pipeline(TfidfVectorizer(stop_words=["w1"]), TruncatedSVD(2, random_state=0))
_WORDS = make_union(TfidfVectorizer(ngram_range=(1, 2)), _LSA)

OTHERS: dict[str, Callable[[], Saved]] = {
    "tagger": _tagger(),
    "tagger-encoder": _tagger(encoder=vectors),
    "tagger-vectors": _tagger(n_rows=220, encoder=wide_vectors),
    "tagger-vocabulary": _with_vocabulary,
    "tagger-words": _tagger("xml-cnn", dim=4, n_filters=4, hidden=4, n_epochs=1),
    "tagger-transformers": _tagger("one-vs-all", features=_WORDS),
    "tagger-hashes": _excluding,
    "tagger-lsa": _tagger("one-vs-all", encoder=_LSA),
    "names": _named,
    "taught": _taught,
    "blend": _blend,
    "sharded": _of("one-vs-all"),
    "smce": _smce,
    "annexml-parts": _of("annexml", settings={"partition": "learned", "part_size": 15}),
    "annexml-walk": _of("annexml", settings={"search": "walk"}),
    "glas-columns": _few_columns,
    "glas-coarse": _of("glas", settings={"search": "coarse_to_fine"}),
    "labelspace-lists": _cut_lists,
    "hyperbolic-hidden": _of("hyperbolic", settings={"n_hidden": 6}),
    "hierarchicalxc-svd": _of("hierarchicalxc", projection="svd", dim=4),
    "neuralxc-linear": _of("neuralxc", linear_dim=4),
}
NAMES = (*METHODS, *OTHERS)
