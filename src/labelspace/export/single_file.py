"""Linear models and label trees as a file that needs Python and NumPy: ``python shop.pyz < texts``.

The file is a zip that Python runs: the weights as ``model.npz``, ``predictor.py``, and
``tokens.py``, which cuts texts into words as in training.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from labelspace.data.formats.compression import open_output
from labelspace.data.text import tokens
from labelspace.data.text.features import TextFeatures
from labelspace.errors import UsageError
from labelspace.export import predictor
from labelspace.export.linear_model import LinearModel, Rows
from labelspace.export.tree_model import TreeModel
from labelspace.tagger import Tagger

_START = "import predictor\n\npredictor.main()\n"
# The same model gives the same bytes.
_DATE = (1980, 1, 1, 0, 0, 0)


def export_single_file(tagger: Tagger, path: str | os.PathLike[str]) -> None:
    """Write a tagger with linear classifiers, for each label or in label trees, as a file.

    Methods are ``one-vs-all``, ``ppdsparse`` and ``proxml``; ``parabel``, ``label-tree`` and
    ``balanced-label-tree``.

    Examples
    --------
    >>> import subprocess, sys, tempfile
    >>> tagger = Tagger("one-vs-all").fit(["red ball", "green cube"], [["red"], ["green"]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export_single_file(tagger, folder + "/colours.pyz")
    ...     run = [sys.executable, folder + "/colours.pyz", "1"]
    ...     subprocess.run(run, input="a red thing", text=True, capture_output=True).stdout[:3]
    'red'
    """
    content = _arrays(tagger)
    parts = {
        "__main__.py": _START.encode(),
        "predictor.py": Path(predictor.__file__).read_bytes(),
        "tokens.py": Path(tokens.__file__).read_bytes(),
        "model.npz": content,
    }
    with (
        open_output(Path(path)) as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        for name, part in parts.items():
            archive.writestr(zipfile.ZipInfo(name, _DATE), part, zipfile.ZIP_DEFLATED)


def _arrays(tagger: Tagger) -> bytes:
    trees = TreeModel.of(tagger)
    arrays: dict[str, Any] = (trees or LinearModel.of(tagger)).arrays()
    rows = Rows.of(tagger)
    features, words, idf = tagger.features_, None, np.zeros(0, dtype=np.float32)
    if features is not None:
        if not isinstance(features, TextFeatures) or not features.counts_single_words:
            raise UsageError(
                "Only single words are exported: train without ngrams, char_ngrams, stems, lead, "
                "n_hashes and encoders."
            )
        words, idf = list(features.vocabulary_), features.idf_
    about = {
        "labels": rows.labels,
        "words": words,
        "norm": rows.norm,
        "n_features": tagger.estimator_.n_features_in_,
        "trees": trees and trees.told,
    }
    buffer = io.BytesIO()
    np.savez(
        buffer,
        about=np.frombuffer(json.dumps(about).encode(), dtype=np.uint8),
        idf=idf,
        feature_weights=rows.feature_weights,
        **arrays,
    )
    return buffer.getvalue()
