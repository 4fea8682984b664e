"""Geometries, one file each: pure functions on rows of vectors."""
