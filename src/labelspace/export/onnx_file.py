"""Linear classifiers as an ONNX graph (extra ``onnx``): dense rows of features in, scores out.

    scores = (x ⊙ w) / ‖x ⊙ w‖ · W + b

Texts are cut into words outside of it: the rows are what ``Tagger.features_of`` gives. Names of
labels and features stand in the file's metadata, as JSON.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from labelspace.data.formats.compression import open_output
from labelspace.errors import UsageError
from labelspace.export.linear_model import LinearModel
from labelspace.tagger import Tagger

# A file of protocol buffers holds no more than 2 GiB.
MOST_BYTES = 2_000_000_000
_OPSET, _IR = 17, 8
_TINY = 1e-30  # a row without features stays so


def export_onnx(tagger: Tagger, path: str | os.PathLike[str]) -> None:
    """Write a tagger with linear classifiers as a file of ONNX."""
    try:
        from onnx import TensorProto, helper, numpy_helper
    except ImportError:
        raise UsageError("ONNX needs its package: pip install 'labelspace[onnx]'.") from None
    parts = LinearModel.of(tagger)
    n_features, n_labels = parts.weights.shape
    if 4 * n_features * n_labels > MOST_BYTES:
        raise UsageError(
            f"{n_features:,} features and {n_labels:,} labels are more than a file of ONNX holds: "
            "export a .pyz, which keeps weights sparse."
        )
    arrays: dict[str, Any] = {"weights": parts.weights.toarray(), "offsets": parts.offsets}
    nodes, rows = [], "features"
    if parts.feature_weights.size:
        arrays["feature_weights"] = parts.feature_weights
        nodes.append(helper.make_node("Mul", [rows, "feature_weights"], ["weighted"]))
        rows = "weighted"
    if parts.norm:
        arrays["tiny"] = np.array(_TINY, dtype=np.float32)
        nodes += [
            helper.make_node("ReduceL2", [rows], ["lengths"], axes=[1], keepdims=1),
            helper.make_node("Max", ["lengths", "tiny"], ["divisors"]),
            helper.make_node("Div", [rows, "divisors"], ["scaled"]),
        ]
        rows = "scaled"
    nodes.append(helper.make_node("MatMul", [rows, "weights"], ["products"]))
    nodes.append(helper.make_node("Add", ["products", "offsets"], ["scores"]))
    graph = helper.make_graph(
        nodes,
        "labelspace",
        [helper.make_tensor_value_info("features", TensorProto.FLOAT, ["n", n_features])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["n", n_labels])],
        [
            numpy_helper.from_array(np.ascontiguousarray(array, dtype=np.float32), name)
            for name, array in arrays.items()
        ],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPSET)])
    made.ir_version = _IR
    words = getattr(tagger.features_, "vocabulary_", None) or tagger.estimator_.feature_names_
    told = {"labels": parts.labels, "features": None if words is None else list(map(str, words))}
    helper.set_model_props(made, {name: json.dumps(value) for name, value in told.items()})
    with open_output(Path(path)) as file:
        file.write(made.SerializeToString())
