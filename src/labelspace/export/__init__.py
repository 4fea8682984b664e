"""Models for places without labelspace: one file that needs Python and NumPy, ONNX, MLflow."""

from labelspace.export.mlflow_model import export_mlflow
from labelspace.export.onnx_file import export_onnx
from labelspace.export.single_file import export_single_file

__all__ = ["export_mlflow", "export_onnx", "export_single_file"]
