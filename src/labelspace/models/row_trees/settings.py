"""What trees of rows can be told, and what their presets say."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal, TypeVar

from labelspace.encoders.unit_rows import UnitRows
from labelspace.parameters import (
    FLAG,
    CorpusShape,
    Rules,
    Settings,
    Span,
    Tunable,
    one_of,
    real,
    whole,
)
from labelspace.row_forest.forest import Growth

Chosen = TypeVar("Chosen", bound="FastXMLSettings")
_ALL_ROWS = 1 << 40
# C of rows of length one, and of rows as they come.
_C_UNIT, _C_RAW = 2.0, 0.5


@dataclass(frozen=True)
class FastXMLSettings(Settings):
    """All that FastXML can be told; values are those of "best", those of "paper" in brackets.

    Attributes
    ----------
    n_trees : int
        Trees that answer together: 50 (50).
    C : float or "auto"
        Weight of the logistic loss against the length of a hyperplane's weights: auto (1), which is
        2 for rows of length one, 0.5 for others.
    leaf_size : int
        A node with at most so many rows is a leaf: 10 (10).
    leaf_labels : int
        Labels that a leaf keeps at most: 100 (100).
    idf : bool or "auto"
        Whether features are weighted by inverse document frequency; "auto" (no) does so where all
        are whole numbers: 0-1 features or counts.
    normalize : bool or "auto"
        Whether rows are scaled to length one: auto (no, as they come), which tries both, without
        ``idf`` if not, on rows held out.
    split_rows : int
        Rows from which a node's hyperplane is learned at most: 4,096 (all).
    tol : float
        How exactly hyperplanes are learned: the share of the violations at the start at which
        learning ends, 0.01 (0.01).
    max_steps : int
        Steps of Newton's kind at most: 10 (10).
    max_passes : int
        Passes over the features in each step at most: 10 (10).

    Examples
    --------
    >>> FastXMLSettings.for_corpus("paper", CorpusShape(5_000, 300, 200)).C
    1.0
    """

    n_trees: int = 50
    C: float | str = "auto"
    leaf_size: int = 10
    leaf_labels: int = 100
    idf: bool | Literal["auto"] = "auto"
    normalize: bool | Literal["auto"] = "auto"
    split_rows: int = 4096
    tol: float = 0.01
    max_steps: int = 10
    max_passes: int = 10

    rules: ClassVar[Rules] = {
        "n_trees": [whole()],
        "C": [real(0), one_of("auto")],
        "leaf_size": [whole()],
        "leaf_labels": [whole()],
        "idf": [FLAG, one_of("auto")],
        "normalize": [FLAG, one_of("auto")],
        "split_rows": [whole(2, _ALL_ROWS)],
        "tol": [real(0)],
        "max_steps": [whole()],
        "max_passes": [whole()],
    }
    tunable: ClassVar[Tunable] = {"C": Span(0.3, 30.0), "leaf_size": (5, 20, 50)}

    @classmethod
    def for_corpus(cls: type[Chosen], preset: str, shape: CorpusShape) -> Chosen:
        """Return the settings of a preset, which are the same for all corpora."""
        if preset == "paper":
            return cls(C=1.0, idf=False, normalize=False, split_rows=_ALL_ROWS)
        return cls()

    def options(self: Chosen) -> list[Chosen]:
        """Return the settings that what is "auto" may come to, the usual one first.

        >>> [(one.normalize, one.idf, one.C) for one in FastXMLSettings().options()]
        [(True, 'auto', 2.0), (False, False, 0.5)]
        >>> [one.C for one in FastXMLSettings(normalize=True).options()]
        [2.0]
        """
        scaled = [True, False] if self.normalize == "auto" else [bool(self.normalize)]
        made = []
        for normalize in scaled:
            C = (_C_UNIT if normalize else _C_RAW) if self.C == "auto" else self.C
            raw = self.normalize == "auto" and not normalize and self.idf == "auto"
            made.append(replace(self, normalize=normalize, C=C, idf=False if raw else self.idf))
        return made

    def new_rows(self) -> UnitRows:
        """Return what scales rows, once it is decided how."""
        return UnitRows(idf=self.idf, norm=bool(self.normalize))

    @property
    def growth(self) -> Growth:
        """How trees are grown with these settings."""
        return Growth(
            "rankings",
            self.leaf_size,
            self.leaf_labels,
            float(self.C),
            self.tol,
            self.max_steps,
            self.max_passes,
            self.split_rows,
        )


@dataclass(frozen=True)
class PfastreXMLSettings(FastXMLSettings):
    """All that PfastreXML can be told; values are those of "best", those of "paper" in brackets.

    Attributes
    ----------
    n_trees, C, leaf_size, leaf_labels, idf, normalize, split_rows, tol, max_steps, max_passes
        As in :class:`FastXMLSettings`.
    A, B : float
        Of the propensity p_l = 1 / (1 + C (n_l + B)^−A): 0.55 and 1.5 (0.55 and 1.5).
    alpha : float or "auto"
        What the trees' scores count against the centroids': auto (0.8), which tries values from 0.8
        to 1 on rows held out.
    gamma : float
        How fast a label's score falls with the squared distance from its centroid: 15 (30).
    unit_centroids : bool
        Whether centroids are scaled to length one: yes (no, they are the means of unit rows).
    ndcg : bool
        Whether splits count gains over the best DCG that a row can have: yes (no, as they are).
    n_reranked : int
        Labels that are ranked again, those that trees find best: 200 (1,000).
    centroid_features : int
        Largest values of a centroid that are kept: 1,000 (all).
    """

    A: float = 0.55
    B: float = 1.5
    alpha: float | str = "auto"
    gamma: float = 15.0
    unit_centroids: bool = True
    ndcg: bool = True
    n_reranked: int = 200
    centroid_features: int = 1000

    rules: ClassVar[Rules] = {
        **FastXMLSettings.rules,
        "A": [real(0)],
        "B": [real(0)],
        "alpha": [real(0, 1, "both"), one_of("auto")],
        "gamma": [real(0)],
        "unit_centroids": [FLAG],
        "ndcg": [FLAG],
        "n_reranked": [whole()],
        "centroid_features": [whole()],
    }

    @classmethod
    def for_corpus(cls, preset: str, shape: CorpusShape) -> PfastreXMLSettings:
        """Return the settings of a preset."""
        chosen = super().for_corpus(preset, shape)
        if preset == "paper":
            n_features = max(shape.n_features, 1)
            return replace(
                chosen,
                alpha=0.8,
                gamma=30.0,
                unit_centroids=False,
                ndcg=False,
                n_reranked=1000,
                centroid_features=n_features,
            )
        return chosen

    @property
    def growth(self) -> Growth:
        """How trees are grown with these settings."""
        return replace(super().growth, ndcg=self.ndcg)


@dataclass(frozen=True)
class LPSRSettings(Settings):
    """All that LPSR can be told; values are those of "best", those of "paper" in brackets.

    Attributes
    ----------
    scorer : {"one-vs-all", "naive-bayes"}
        What ranks the labels of a part: one-vs-all (one-vs-all).
    n_trees : int
        Divisions of the rows, whose labels are put together: 3 (1).
    leaf_size : int
        A part with at most so many rows is not divided further: 100 (100).
    leaf_labels : int
        Labels that a part keeps at most: 100 (100).
    C : float
        Of one-vs-all: weight of the training error against the length of the weights, 0.5 (1).
    min_weight : float
        Of one-vs-all: weights closer to zero are cut, 0.05 (0).
    smoothing : float
        Of naive Bayes: added to each feature's count, 0.1 (1).
    normalize : bool
        Whether rows are scaled to length one: True.
    """

    scorer: str = "one-vs-all"
    n_trees: int = 3
    leaf_size: int = 100
    leaf_labels: int = 100
    C: float = 0.5
    min_weight: float = 0.05
    smoothing: float = 0.1
    normalize: bool = True

    rules: ClassVar[Rules] = {
        "scorer": [one_of("one-vs-all", "naive-bayes")],
        "n_trees": [whole()],
        "leaf_size": [whole()],
        "leaf_labels": [whole()],
        "C": [real(0)],
        "min_weight": [real(0, closed="left")],
        "smoothing": [real(0)],
        "normalize": [FLAG],
    }
    tunable: ClassVar[Tunable] = {"C": Span(0.1, 10.0), "leaf_labels": (50, 300)}

    @classmethod
    def for_corpus(cls, preset: str, shape: CorpusShape) -> LPSRSettings:
        """Return the settings of a preset, which are the same for all corpora."""
        if preset == "paper":
            return cls(n_trees=1, C=1.0, min_weight=0.0, smoothing=1.0)
        return cls()

    @property
    def growth(self) -> Growth:
        """How trees are grown with these settings."""
        return Growth("means", self.leaf_size, self.leaf_labels)
