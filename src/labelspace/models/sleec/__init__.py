"""Sparse local embeddings for extreme classification."""
