"""What WSABIE can be told, and what its presets say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from labelspace.parameters import FLAG, CorpusShape, Rules, Settings, real, whole


@dataclass(frozen=True)
class WSABIESettings(Settings):
    """All that WSABIE can be told; values are those of "best", those of "paper" in brackets.

    Attributes
    ----------
    dim : int
        Dimensions of the space: 100 (100).
    n_epochs : int
        Passes over all pairs of a row and a label of it: 10 (20).
    learning_rate : float
        First step size: 0.05 (0.005).
    longest : float
        Length that no vector of a feature or label exceeds: 6 (2).
    constant : float
        A feature that all rows have beside their own, which have length one, so that labels may
        differ by how frequent they are: 0.3 (0, none).
    adaptive : bool
        Whether vectors that were moved much are moved by less: yes (no).
    normalize : bool
        Whether rows are scaled to length one: True.

    Examples
    --------
    >>> WSABIESettings.for_corpus("paper", CorpusShape(4880, 1836, 159)).dim
    100
    """

    dim: int = 100
    n_epochs: int = 10
    learning_rate: float = 0.05
    longest: float = 6.0
    constant: float = 0.3
    adaptive: bool = True
    normalize: bool = True

    presets: ClassVar[tuple[str, ...]] = ("best", "paper")
    rules: ClassVar[Rules] = {
        "dim": [whole()],
        "n_epochs": [whole()],
        "learning_rate": [real(0)],
        "longest": [real(0)],
        "constant": [real(0, closed="left")],
        "adaptive": [FLAG],
        "normalize": [FLAG],
    }

    @classmethod
    def for_corpus(cls, preset: str, shape: CorpusShape) -> WSABIESettings:
        """Return the settings of a preset for a corpus of some shape."""
        if preset == "paper":
            return cls(n_epochs=20, learning_rate=0.005, longest=2.0, constant=0.0, adaptive=False)
        return cls()
