"""Texts made into features."""
