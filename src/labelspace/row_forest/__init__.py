"""Forests of trees of rows, with their kernels."""
