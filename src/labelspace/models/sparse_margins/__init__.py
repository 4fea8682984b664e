"""Linear classifiers whose weights are sparse from the start: PPD-Sparse, PD-Sparse and ProXML."""
