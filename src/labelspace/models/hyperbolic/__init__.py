"""Hyperbolic: rows and labels in one Poincaré ball."""
