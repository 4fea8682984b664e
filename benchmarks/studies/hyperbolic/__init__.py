"""Hyperbolic: what the ball is worth, and what its search loses."""
