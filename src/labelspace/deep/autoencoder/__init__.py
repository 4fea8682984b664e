"""Auto-encoders of sparse rows and of label sets, joined by a regressor."""
