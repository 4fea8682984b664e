"""What lies between the papers' methods and the defaults, and what else was tried."""

from __future__ import annotations

from typing import Any

PAPER: dict[str, Any] = {"preset": "paper"}
REPAIRED: dict[str, Any] = {"preset": "repaired"}
NO_BEAM = {"beam": 1}
UNIT_ROWS = {"normalize": True, "idf": "auto"}
WIDE_LEAVES = {"leaf_size": 64, "balance": 0.8}
CHANGES: dict[str, dict[str, dict[str, Any]]] = {
    "label-tree": {
        "as printed (`paper`)": PAPER,
        "a slack for each child alone": {**PAPER, "slack": "node"},
        "a beam of ten alone": {**PAPER, "beam": 10},
        "both (`repaired`)": REPAIRED,
        "repaired, leaves of 64, balance": {**REPAIRED, **WIDE_LEAVES},
        "repaired, rows of length one": {**REPAIRED, **UNIT_ROWS},
        "rows of length one alone": {**PAPER, **UNIT_ROWS},
    },
    "label-embedding": {
        "as printed (`paper`)": PAPER,
        "the joint problem (`repaired`)": REPAIRED,
        "repaired, rows of length one": {**REPAIRED, **UNIT_ROWS},
        "rows of length one alone": {**PAPER, **UNIT_ROWS},
    },
    "label-embedding-tree": {
        "as printed (`paper`)": PAPER,
        "the joint problem alone": {**REPAIRED, **NO_BEAM},
        "and a beam of ten (`repaired`)": REPAIRED,
    },
    "balanced-label-tree": {
        "as printed (`paper`)": PAPER,
        "a slack for each child alone": {**REPAIRED, **NO_BEAM},
        "and a beam of ten (`repaired`)": REPAIRED,
    },
}
"""What lies between the paper's method and the default, and the added parts alone."""
OBJECTIVE: dict[str, Any] = {"name": "label-tree", **PAPER, "n_rows": 3000}
PASSES = {"20 passes (`paper`)": 20, "200 passes": 200}

MOST_COMMON = "most common labels"
BEFORE: dict[str, Any] = {**PAPER, "n_epochs": 10, "learning_rate": 0.5}
YES_OR_NO = {"each": True, "squared": True}
SEQUENCES: dict[str, dict[str, Any]] = {
    "as printed, 10 passes of steps of 0.5": BEFORE,
    "as printed (`paper`)": PAPER,
    "as printed, 200 passes": {**PAPER, "n_epochs": 200},
    "a margin of one": {**PAPER, "training": {"margin": 1.0}},
    "a yes or no of each label": {**PAPER, "training": YES_OR_NO},
    "vectors of length one, margin of one": {
        **PAPER,
        "unit_vectors": True,
        "training": {"margin": 1.0},
    },
    "vectors of length one, yes or no": {
        **PAPER,
        "unit_vectors": True,
        "training": YES_OR_NO,
    },
    "a yes or no, rows of length one": {
        **PAPER,
        "training": YES_OR_NO,
        "normalize": True,
    },
    "vectors and rows of length one, yes or no": {
        **PAPER,
        "unit_vectors": True,
        "training": YES_OR_NO,
        "normalize": True,
    },
    "the joint problem (`repaired`)": {"preset": "repaired"},
    MOST_COMMON: {},
}
TREE_SEQUENCES = (
    "as printed, 10 passes of steps of 0.5",
    "as printed (`paper`)",
    "the joint problem (`repaired`)",
)
"""Those that the tree is measured with, too."""
