"""What trees of rows can be told, and what their presets say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypeVar

from labelspace.models.row_trees.forest import Growth
from labelspace.parameters import FLAG, CorpusShape, Rules, Settings, one_of, real, whole

Chosen = TypeVar("Chosen", bound="FastXMLSettings")
_ALL_ROWS = 1 << 40


@dataclass(frozen=True)
class FastXMLSettings(Settings):
    """All that FastXML can be told; values are those of "best", those of "paper" in brackets.

    Attributes
    ----------
    n_trees : int
        Trees that answer together: 50 (50).
    C : float
        Weight of the logistic loss against the length of a hyperplane's weights: 3 (1).
    leaf_size : int
        A node with at most so many rows is a leaf: 10 (10).
    leaf_labels : int
        Labels that a leaf keeps at most: 100 (100).
    idf : bool or "auto"
        Whether features are weighted by inverse document frequency; "auto" (no) does so where all
        are whole numbers: 0-1 features or counts.
    normalize : bool
        Whether rows are scaled to length one: yes (no, as they come).
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
    C: float = 3.0
    leaf_size: int = 10
    leaf_labels: int = 100
    idf: bool | str = "auto"
    normalize: bool = True
    split_rows: int = 4096
    tol: float = 0.01
    max_steps: int = 10
    max_passes: int = 10

    rules: ClassVar[Rules] = {
        "n_trees": [whole()],
        "C": [real(0)],
        "leaf_size": [whole()],
        "leaf_labels": [whole()],
        "idf": [FLAG, one_of("auto")],
        "normalize": [FLAG],
        "split_rows": [whole(2, _ALL_ROWS)],
        "tol": [real(0)],
        "max_steps": [whole()],
        "max_passes": [whole()],
    }

    @classmethod
    def for_corpus(cls: type[Chosen], preset: str, shape: CorpusShape) -> Chosen:
        """Return the settings of a preset, which are the same for all corpora."""
        if preset == "paper":
            return cls(C=1.0, idf=False, normalize=False, split_rows=_ALL_ROWS)
        return cls()

    @property
    def growth(self) -> Growth:
        """How trees are grown with these settings."""
        return Growth(
            "rankings",
            self.leaf_size,
            self.leaf_labels,
            self.C,
            self.tol,
            self.max_steps,
            self.max_passes,
            self.split_rows,
        )
