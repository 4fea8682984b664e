"""Corpora that are made: from installed docstrings, or drawn at random."""
