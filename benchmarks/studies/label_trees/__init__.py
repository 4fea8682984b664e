"""Label trees: accuracy against cost of the systems of two papers."""
