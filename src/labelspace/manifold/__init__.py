"""Points that lie on curved surfaces: which surface, and where on it."""

from labelspace.manifold.smce import SMCE

__all__ = ["SMCE"]
