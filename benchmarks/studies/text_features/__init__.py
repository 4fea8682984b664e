"""TextFeatures: what its choices do to k-NN."""
