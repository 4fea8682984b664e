"""Training in blocks: what blocks take, and what a cluster would make of that."""
