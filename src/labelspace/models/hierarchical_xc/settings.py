"""What HierarchicalXC can be told, and what its presets say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from labelspace.deep.program_widths import widths_of_rows
from labelspace.models.hierarchical_xc.complete_link import LIKENESSES
from labelspace.models.hierarchical_xc.projection import PROJECTIONS
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

# Of NeuralXC's setups: those of HierarchicalXC's program are not known.
PROGRAM_L2 = 1e-4


@dataclass(frozen=True)
class HierarchicalXCSettings(Settings):
    """All that HierarchicalXC can be told; values are those of "best", of "paper" in brackets.

    Neither the report nor its program settles the auto-encoder: "paper" infers three things.

    - The width of codes. The program's ``--input_ae_dim`` is −1 by default, no encoding at all;
      the widths are those of NeuralXC's codes of rows, in its ``setups``.
    - The optimiser. The program's ``--optimizer_cfg`` is None by default; Adam, its steps and its
      L2 term are those of NeuralXC's ``setups``. The L2 term is what ruins bibtex.
    - Linear layers. The report calls the use of the auto-encoder "identical to that in NeuralXC",
      whose networks are not linear; the program's own is, and is taken.

    Attributes
    ----------
    likeness : {"iou", "cooccurrence"}
        What says that labels are alike: the rows that have both, divided by those that have
        either, or as they are: iou (cooccurrence).
    balanced : bool
        Whether clusters are bounded and counted again as they grow: True (False).
    leaf_size : int or "auto"
        A node with at most so many labels has them as its children: auto (1).
    projection : {"none", "svd", "random", "autoencoder"}
        What classifiers see: none, the features themselves (autoencoder).
    dim : int
        Dimensions of the code: 300 (inferred: as many as NeuralXC's codes of rows have in its
        "paper", 256 on bibtex and 125 on delicious).
    l2 : float
        L2 term of the auto-encoder's Adam: 0 (inferred: 0.0001, as in NeuralXC's setups; 0 in
        "repaired", which is "paper" in all else).
    decide : bool
        Whether each node decides for none, one or both of its children, so that labels behind a no
        are never reached, instead of all paths being weighed: False (True).
    C : float or "auto"
        Weight of the training error: auto.
    min_weight : float
        Weights closer to zero are cut: 0.1 (0).
    idf : bool or "auto"
        Whether features are weighted by inverse document frequency: auto (False).
    normalize : bool
        Whether rows, and codes if there are any, are scaled to length one: True (False).
    tol : float
        How exactly classifiers are trained: 0.3.
    max_iter : int
        Passes over a node's rows at most: 100.

    Examples
    --------
    >>> paper = HierarchicalXCSettings.for_corpus("paper", CorpusShape(4_880, 1_836, 159))
    >>> paper.projection, paper.dim
    ('autoencoder', 256)
    >>> paper.l2
    0.0001
    """

    likeness: str = "iou"
    balanced: bool = True
    leaf_size: int | str = "auto"
    projection: str = "none"
    dim: int = 300
    l2: float = 0.0
    decide: bool = False
    C: float | str = "auto"
    min_weight: float = 0.1
    idf: bool | str = "auto"
    normalize: bool = True
    tol: float = 0.3
    max_iter: int = 100

    presets: ClassVar[tuple[str, ...]] = ("best", "paper", "repaired")
    rules: ClassVar[Rules] = {
        "likeness": [one_of(*LIKENESSES)],
        "balanced": [FLAG],
        "leaf_size": [whole(), one_of("auto")],
        "projection": [one_of("none", "autoencoder", *PROJECTIONS)],
        "dim": [whole()],
        "l2": [real(0, closed="left")],
        "decide": [FLAG],
        "C": [real(0), one_of("auto")],
        "min_weight": [real(0, closed="left")],
        "idf": [FLAG, one_of("auto")],
        "normalize": [FLAG],
        "tol": [real(0)],
        "max_iter": [whole()],
    }
    tunable: ClassVar[Tunable] = {"C": Span(0.1, 10.0), "leaf_size": (1, 10, 100)}

    @classmethod
    def for_corpus(cls, preset: str, shape: CorpusShape) -> HierarchicalXCSettings:
        """Return what measures best, what the report has or leaves to infer, or that repaired."""
        if preset == "best":
            return cls()
        return cls(
            likeness="cooccurrence",
            balanced=False,
            leaf_size=1,
            projection="autoencoder",
            dim=widths_of_rows(shape.n_features)[1],
            l2=PROGRAM_L2 if preset == "paper" else 0.0,
            decide=True,
            min_weight=0.0,
            idf=False,
            normalize=False,
        )
