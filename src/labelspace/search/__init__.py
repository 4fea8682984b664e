"""Nearest neighbours as the largest inner product, and the votes of those found."""
