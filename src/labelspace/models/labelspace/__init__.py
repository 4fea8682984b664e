"""LabelSpace, the default method."""
