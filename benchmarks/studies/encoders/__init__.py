"""Encoders: what vectors, better words and names of labels are worth, from text."""
